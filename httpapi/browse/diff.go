package browse

import (
	"bytes"
	"context"
	"errors"
	"html/template"
	"net/http"
	"net/url"

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

// diffView is how a diff is shown: with its sides side by side, and without lines
// that differ in white space only.
type diffView struct{ Split, IgnoreSpace bool }

// The parameters of an address that say so.
const (
	viewParameter  = "view"
	viewSplit      = "split"
	spaceParameter = "w"
)

func diffViewOf(r *http.Request) diffView {
	values := r.URL.Query()
	return diffView{Split: values.Get(viewParameter) == viewSplit, IgnoreSpace: values.Get(spaceParameter) == "1"}
}

// address is what follows the path in the address of a view.
func (v diffView) address() string {
	values := url.Values{}
	if v.Split {
		values.Set(viewParameter, viewSplit)
	}
	if v.IgnoreSpace {
		values.Set(spaceParameter, "1")
	}
	return "?" + values.Encode()
}

// OtherSides is the address of the same diff, side by side if it is unified.
func (v diffView) OtherSides() string { return diffView{!v.Split, v.IgnoreSpace}.address() }

// OtherSpace is that with whitespace changes if they are hidden.
func (v diffView) OtherSpace() string { return diffView{v.Split, !v.IgnoreSpace}.address() }

// diffData are files that differ.
type diffData struct {
	diffView
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
	Added, Deleted                   int
	// Lines are those of both sides, one below the other; Pairs has them side by side.
	Lines []diffLine
	Pairs []diffPair
	// Left counts the lines that are not shown.
	Left int
	// Painted says that lines have the colours of their language.
	Painted bool
	text    diffText
}

// diffLine is a line of a diff; Class is "plus", "minus", "at" or "". Left is
// how many bytes at its end are not shown. Old and New are its numbers from 1, 0 on a
// side that does not have it.
type diffLine struct {
	Class    string
	HTML     template.HTML
	Left     int
	Old, New int
}

// diffPair are lines that stand side by side. At is the line above a hunk, instead.
type diffPair struct{ At, Old, New *diffLine }

var diffStates = map[git.DiffState]string{
	git.DiffBinary: "binary", git.DiffTooLarge: "too large to be shown", git.DiffUnread: "not read: git takes too much memory to compare them",
}

var diffStatus = map[byte]string{'A': "added", 'D': "deleted", 'R': "renamed", 'T': "another kind of file", 'C': "copied"}

// diff reads the differences between two commits, "" being the empty tree.
// Files that git cannot compare within its memory are listed by name. Lines are
// coloured once git has ended, which would wait for that.
func (e *Endpoint) diff(ctx context.Context, p *target, base, head string, v diffView) (diffData, error) {
	out, err := p.diffTo(ctx, base, head, v, git.LogHunks)
	if errors.Is(err, git.ErrTooCostly) {
		return p.diffTo(ctx, base, head, v, git.LogPaths)
	}
	if err == nil {
		e.painter.newDiffPainter().files(ctx, out.Files)
	}
	return out, err
}

func (p *target) diffTo(ctx context.Context, base, head string, v diffView, depth git.LogDepth) (diffData, error) {
	out := diffData{diffView: v, left: listBytes}
	repo, err := p.code.Repo(ctx)
	if err != nil {
		return out, err
	}
	o := git.LogOptions{Depth: depth, MaxFiles: maxDiffFiles + 1, MaxFileBytes: maxDiffFileBytes, MaxCommitBytes: maxDiffBytes, IgnoreSpace: v.IgnoreSpace}
	err = repo.Compare(ctx, base, head, nil, o, func(d git.FileDiff) error {
		f := p.diffFile(d, base, head)
		if len(out.Files) == maxDiffFiles || !out.left.take(f.Path, f.OldPath, f.URL) {
			out.More = true
			return errEnough
		}
		out.show(&f, d.Hunks)
		if v.IgnoreSpace && f.Note == "" && len(d.Hunks) == 0 && d.OldOID != d.NewOID && d.OldOID != "" && d.NewOID != "" {
			f.Note = "the same but for white space"
		}
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
	f := diffFile{Path: shown(d.Path), Status: diffStatus[d.Status], Note: diffStates[d.State], text: diffText{path: paintPath(d.Path), oldPath: paintPath(d.OldPath)}}
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

// show makes HTML of the first lines of a file's hunks, and counts all.
func (d *diffData) show(f *diffFile, hunks []byte) {
	var at git.HunkHead
	f.text.signed = !d.Split
	for text := range bytes.Lines(hunks) {
		line := diffLine{}
		switch text[0] {
		case '+':
			line.Class, line.New = "plus", at.New.Start
			f.Added++
			at.New.Start++
		case '-':
			line.Class, line.Old = "minus", at.Old.Start
			f.Deleted++
			at.Old.Start++
		case '@':
			line.Class = "at"
			at, _ = git.ParseHunkHead(text)
		default:
			line.Old, line.New = at.Old.Start, at.New.Start
			at.Old.Start++
			at.New.Start++
		}
		if f.Left > 0 || len(f.Lines) == maxFileLines || d.lines == maxDiffLines {
			f.Left++
			continue
		}
		said := text
		if d.Split && line.Class != "at" {
			said = text[1:] // the side says the sign
		}
		w := newLineWriter(1, window{first: 1, last: 1})
		w.write("", string(said))
		row := w.end()[0]
		if d.left -= byteBudget(len(row.HTML)); d.left < 0 {
			f.Left++
			continue
		}
		line.HTML, line.Left = row.HTML, row.Left
		f.Lines, f.text.texts = append(f.Lines, line), append(f.text.texts, paintText(text))
		d.lines++
	}
	f.text.lines = f.Lines
	d.Added, d.Deleted = d.Added+f.Added, d.Deleted+f.Deleted
	if d.Split {
		f.Pairs, f.Lines = pairs(f.Lines), nil
	}
}

// pairs puts lines side by side: those that are on both, and of a run that changed the
// first that went beside the first that came.
func pairs(lines []diffLine) (out []diffPair) {
	begun := 0 // of the run at hand, in out
	for i := range lines {
		line := &lines[i]
		switch line.Class {
		case "at":
			out = append(out, diffPair{At: line})
			begun = len(out)
		case "minus":
			out = append(out, diffPair{Old: line})
		case "plus":
			for begun < len(out) && (out[begun].New != nil || out[begun].At != nil) {
				begun++
			}
			if begun == len(out) {
				out = append(out, diffPair{})
			}
			out[begun].New = line
		default:
			out = append(out, diffPair{Old: line, New: line})
			begun = len(out)
		}
	}
	return out
}
