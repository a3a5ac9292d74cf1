package browse

import (
	"bytes"
	"context"
	"errors"
	"html/template"

	"github.com/trawlsearch/trawl/httpapi/code"
	"github.com/trawlsearch/trawl/store/git"
)

// diffHolds is the memory of the page of a diff: git's output, its lines as
// HTML, the page, and a commit, which may be megabytes.
const diffHolds = 12 << 20

// The limits of a diff's page: its files, the bytes of each, and the lines.
// Diffs that are larger together are not read.
const (
	maxDiffFiles     = 300
	maxDiffFileBytes = 256 << 10
	maxDiffBytes     = 2 << 20
	maxFileLines     = 1000
	maxDiffLines     = 10_000
)

// diffData are files that differ.
type diffData struct {
	Files []diffFile
	// More says that there are others.
	More           bool
	Added, Deleted int

	// lines is how many are shown, and left is the room for more.
	lines int
	left  byteBudget
}

// diffFile is a file of a diff. Note says why no lines are shown.
type diffFile struct {
	Path, OldPath, URL, Status, Note string
	Lines                            []diffLine
	// Left counts the lines that are not shown.
	Left int
}

// diffLine is a line of a diff; Class is "plus", "minus", "at" or "". Left is
// how many bytes at its end are not shown.
type diffLine struct {
	Class string
	HTML  template.HTML
	Left  int
}

var diffStates = map[git.DiffState]string{
	git.DiffBinary: "binary", git.DiffTooLarge: "too large to be shown", git.DiffUnread: "not read: git takes too much memory to compare them",
}

var diffStatus = map[byte]string{'A': "added", 'D': "deleted", 'R': "renamed", 'T': "another kind of file", 'C': "copied"}

// diff reads the differences between two commits, "" being the empty tree.
// Files that git cannot compare within its memory are listed by name.
func (p *target) diff(ctx context.Context, base, head string) (diffData, error) {
	out, err := p.diffTo(ctx, base, head, git.LogHunks)
	if errors.Is(err, git.ErrTooCostly) {
		return p.diffTo(ctx, base, head, git.LogPaths)
	}
	return out, err
}

func (p *target) diffTo(ctx context.Context, base, head string, depth git.LogDepth) (diffData, error) {
	out := diffData{left: listBytes}
	repo, err := p.code.Repo(ctx)
	if err != nil {
		return out, err
	}
	o := git.LogOptions{Depth: depth, MaxFiles: maxDiffFiles + 1, MaxFileBytes: maxDiffFileBytes, MaxCommitBytes: maxDiffBytes}
	err = repo.Compare(ctx, base, head, nil, o, func(d git.FileDiff) error {
		f := p.diffFile(d, base, head)
		if len(out.Files) == maxDiffFiles || !out.left.take(f.Path, f.OldPath, f.URL) {
			out.More = true
			return errEnough
		}
		f.Lines, f.Left = out.show(d.Hunks)
		out.Files = append(out.Files, f)
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return out, err
}

// diffFile is a file without its lines.
func (p *target) diffFile(d git.FileDiff, base, head string) diffFile {
	f := diffFile{Path: shown(d.Path), Status: diffStatus[d.Status], Note: diffStates[d.State]}
	if d.OldPath != "" {
		f.OldPath = shown(d.OldPath)
	}
	at := head
	if d.Status == 'D' {
		at = base
	}
	if len(d.Path) <= maxPathBytes {
		f.URL = code.BlobURL(p.rec.Name, at, d.Path)
	}
	return f
}

// show makes HTML of the first lines of hunks, and counts all.
func (d *diffData) show(hunks []byte) (shown []diffLine, left int) {
	for text := range bytes.Lines(hunks) {
		line := diffLine{}
		switch text[0] {
		case '+':
			line.Class = "plus"
			d.Added++
		case '-':
			line.Class = "minus"
			d.Deleted++
		case '@':
			line.Class = "at"
		}
		if left > 0 || len(shown) == maxFileLines || d.lines == maxDiffLines {
			left++
			continue
		}
		w := newLineWriter(1, window{first: 1, last: 1})
		w.write("", string(text))
		row := w.end()[0]
		if d.left -= byteBudget(len(row.HTML)); d.left < 0 {
			left++
			continue
		}
		line.HTML, line.Left = row.HTML, row.Left
		shown = append(shown, line)
		d.lines++
	}
	return shown, left
}
