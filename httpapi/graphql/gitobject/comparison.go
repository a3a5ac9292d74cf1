package gitobject

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/trawlsearch/trawl/httpapi/code"
	"github.com/trawlsearch/trawl/httpapi/graphql/budget"
	"github.com/trawlsearch/trawl/httpapi/graphql/wire"
	"github.com/trawlsearch/trawl/store/git"
)

// comparison is the type RepositoryComparison.
type comparison struct {
	repo       *Repository
	base, head *Commit
	// fork is where the two parted, "" if they have nothing in common.
	fork string
}

// Comparison compares two revisions.
func (r *Repository) Comparison(ctx context.Context, args struct {
	Base, Head   wire.String
	FetchMissing wire.Bool
}) (*comparison, error) {
	return r.compare(ctx, args.Base.Or(""), args.Head.Or(""))
}

func (r *Repository) compare(ctx context.Context, base, head string) (*comparison, error) {
	c := &comparison{repo: r}
	for _, side := range []struct {
		rev string
		to  **Commit
	}{{base, &c.base}, {head, &c.head}} {
		found, err := r.commit(ctx, side.rev)
		if err != nil {
			return nil, err
		}
		if found == nil {
			return nil, errRevision(side.rev)
		}
		*side.to = found
	}
	repo, err := r.command(ctx)
	if err != nil {
		return nil, err
	}
	c.fork, err = repo.MergeBase(ctx, c.base.oid, c.head.oid)
	if err != nil && !errors.Is(err, git.ErrNoRevision) {
		return nil, err
	}
	return c, nil
}

func (c *comparison) BaseRepository() *Repository { return c.repo }
func (c *comparison) HeadRepository() *Repository { return c.repo }
func (c *comparison) Range() *revisionRange       { return &revisionRange{c} }

// Commits lists what only the revision behind has.
func (c *comparison) Commits(ctx context.Context, args struct {
	First wire.Int
	Path  wire.String
}) (*commitConnection, error) {
	path, ok := code.CleanPath(args.Path.Or(""))
	if !ok {
		return nil, errPath(args.Path.Or(""))
	}
	out, err := c.repo.history(ctx, []string{c.head.oid, "^" + c.base.oid}, git.HistoryOptions{Path: path}, wire.ForwardArgs{First: args.First})
	if err != nil || path != "" || out.TotalCount != nil {
		return out, err
	}
	repo, err := c.repo.command(ctx)
	if err != nil {
		return nil, err
	}
	_, ahead, err := repo.BehindAhead(ctx, c.base.oid, c.head.oid)
	n := wire.Int32(ahead)
	out.TotalCount = &n
	return out, err
}

// What is read of a comparison, and how many files one page may have.
const (
	maxComparedFiles = 20_000
	maxDiffFiles     = 5000
	// diffFileBytes is what a file holds beside its text.
	diffFileBytes    = 400
	maxDiffFileBytes = 1 << 20
	maxDiffBytes     = 16 << 20
)

// FileDiffs lists the files that differ from where the two parted, or from the
// revision before if they have nothing in common.
func (c *comparison) FileDiffs(ctx context.Context, args struct {
	First wire.Int
	After wire.String
	Paths *[]string
}) (*fileDiffConnection, error) {
	repo, err := c.repo.command(ctx)
	if err != nil {
		return nil, err
	}
	base := c.fork
	if base == "" {
		base = c.base.oid
	}
	var paths []string
	if args.Paths != nil {
		for _, p := range *args.Paths {
			clean, ok := code.CleanPath(p)
			if !ok {
				return nil, errPath(p)
			}
			if clean == "" { // the root has everything
				paths = nil
				break
			}
			paths = append(paths, clean)
		}
	}
	from := &Commit{repo: c.repo, oid: base, rev: base}
	out := &fileDiffConnection{s: c.repo.s, all: []*fileDiff{}}
	o := git.LogOptions{Depth: git.LogHunks, MaxFiles: maxComparedFiles + 1, MaxFileBytes: maxDiffFileBytes, MaxCommitBytes: maxDiffBytes}
	err = repo.Compare(ctx, base, c.head.oid, paths, o, func(d git.FileDiff) error {
		if len(out.all) == maxComparedFiles {
			return wire.Refuse("more than %d files differ: name paths", maxComparedFiles)
		}
		c.repo.s.Resume(ctx)
		d.Hunks = append([]byte(nil), d.Hunks...)
		out.all = append(out.all, &fileDiff{from: from, to: c.head, git: d})
		if err := c.repo.s.Hold(diffFileBytes); err != nil {
			return err
		}
		if err := c.repo.s.ShowName(ctx, d.Path, d.OldPath); err != nil {
			return err
		}
		return c.repo.s.Read(len(d.Hunks))
	})
	if err == nil {
		err = c.repo.s.Reserve(ctx, len(out.all))
	}
	if err != nil {
		return nil, err
	}
	out.page, err = wire.CutByIndex(len(out.all), maxDiffFiles, wire.PageArgs{First: args.First, After: args.After})
	return out, err
}

// revisionRange is the type GitRevisionRange.
type revisionRange struct{ c *comparison }

func (r *revisionRange) Expr() string   { return r.c.base.shown() + "..." + r.c.head.shown() }
func (r *revisionRange) Base() *RevSpec { return NewRevSpec(r.c.base) }
func (r *revisionRange) Head() *RevSpec { return NewRevSpec(r.c.head) }

// MergeBase is null if the two have nothing in common.
func (r *revisionRange) MergeBase() *object {
	if r.c.fork == "" {
		return nil
	}
	return &object{repo: r.c.repo, oid: r.c.fork, kind: "commit", commit: r.c.fork}
}

// shown is the revision as a person would write it.
func (c *Commit) shown() string {
	if c.rev == "" {
		return "HEAD"
	}
	return c.rev
}

// RevSpec is the union GitRevSpec.
type RevSpec struct{ result any }

// NewRevSpec is a plain object if the revision is its id, else an expression.
func NewRevSpec(c *Commit) *RevSpec {
	o := &object{repo: c.repo, oid: c.oid, kind: "commit", commit: c.oid}
	if c.rev == c.oid {
		return &RevSpec{o}
	}
	return &RevSpec{&revExpr{c.shown(), o}}
}

func (r *RevSpec) ToGitRef() (*Ref, bool)             { v, ok := r.result.(*Ref); return v, ok }
func (r *RevSpec) ToGitRevSpecExpr() (*revExpr, bool) { v, ok := r.result.(*revExpr); return v, ok }
func (r *RevSpec) ToGitObject() (*object, bool)       { v, ok := r.result.(*object); return v, ok }

// revExpr is the type GitRevSpecExpr.
type revExpr struct {
	Expr   string
	Object *object
}

// fileDiffConnection is the type FileDiffConnection.
type fileDiffConnection struct {
	s    *Session
	all  []*fileDiff
	page wire.Page
}

func (f *fileDiffConnection) Nodes() []*fileDiff         { return f.all[f.page.From:f.page.To] }
func (f *fileDiffConnection) TotalCount() *int32         { n := wire.Int32(len(f.all)); return &n }
func (f *fileDiffConnection) PageInfo() wire.ForwardPage { return wire.ForwardPage{Page: f.page} }

// DiffStat counts the lines of all pages.
func (f *fileDiffConnection) DiffStat() diffStat {
	var sum diffStat
	for _, d := range f.all {
		s := d.Stat()
		sum.Added, sum.Deleted = sum.Added+s.Added, sum.Deleted+s.Deleted
	}
	return sum
}

// RawDiff writes the files of this page as git does.
func (f *fileDiffConnection) RawDiff() (string, error) {
	var b bytes.Buffer
	for _, d := range f.Nodes() {
		if err := f.s.ShowBytes(budget.JSONBytes(d.git.Hunks) + 4*len(d.git.Path)); err != nil {
			return "", err
		}
		d.raw(&b)
	}
	return Valid(b.Bytes()), nil
}

// diffStat is the type DiffStat.
type diffStat struct{ Added, Changed, Deleted int32 }

// fileDiff is the type FileDiff.
type fileDiff struct {
	from, to *Commit
	git      git.FileDiff
}

// OldPath is null for a new file.
func (d *fileDiff) OldPath() *string {
	switch {
	case d.git.Status == 'A':
		return nil
	case d.git.OldPath != "":
		return &d.git.OldPath
	}
	return &d.git.Path
}

// NewPath is null for a file that is gone.
func (d *fileDiff) NewPath() *string {
	if d.git.Status == 'D' {
		return nil
	}
	return &d.git.Path
}

// OldFile is null for a new file.
func (d *fileDiff) OldFile() *file2 {
	if d.OldPath() == nil {
		return nil
	}
	return newFile(d.from, *d.OldPath(), d.git.OldMode, d.git.OldOID)
}

// NewFile is null for a file that is gone.
func (d *fileDiff) NewFile() *file2 {
	if d.NewPath() == nil {
		return nil
	}
	return newFile(d.to, *d.NewPath(), d.git.NewMode, d.git.NewOID)
}

func newFile(c *Commit, path string, mode uint32, oid string) *file2 {
	return &file2{&Blob{entry: &entry{c, path, git.Entry{Mode: mode, OID: oid}}}}
}

// MostRelevantFile is the file behind or, if it is gone, before.
func (d *fileDiff) MostRelevantFile() *file2 {
	if f := d.NewFile(); f != nil {
		return f
	}
	return d.OldFile()
}

// InternalID is made of both paths and blobs.
func (d *fileDiff) InternalID() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %s %s", d.git.OldPath, d.git.Path, d.git.OldOID, d.git.NewOID))
	return hex.EncodeToString(sum[:16])
}

// Stat counts its lines.
func (d *fileDiff) Stat() diffStat {
	var s diffStat
	for line := range strings.Lines(string(d.git.Hunks)) {
		switch line[0] {
		case '+':
			s.Added++
		case '-':
			s.Deleted++
		}
	}
	return s
}

// Hunks takes the runs of lines apart.
func (d *fileDiff) Hunks(ctx context.Context) ([]*diffHunk, error) {
	s := d.to.repo.s
	if err := s.ShowParts(d.git.Hunks, 0); err != nil {
		return nil, err
	}
	out := []*diffHunk{}
	var body bytes.Buffer
	end := func() {
		if n := len(out); n > 0 {
			out[n-1].Body = Valid(body.Bytes())
		}
		body.Reset()
	}
	for line := range strings.Lines(string(d.git.Hunks)) {
		if strings.HasPrefix(line, "@@ ") {
			end()
			out = append(out, newDiffHunk(line))
			continue
		}
		body.WriteString(line)
	}
	end()
	return out, s.Reserve(ctx, len(out))
}

func (d *fileDiff) raw(b *bytes.Buffer) {
	path := func(p *string, side string) string {
		if p == nil {
			return "/dev/null"
		}
		return side + *p
	}
	old, now := d.OldPath(), d.NewPath()
	fmt.Fprintf(b, "diff --git %s %s\n", path(firstOf(old, now), "a/"), path(firstOf(now, old), "b/"))
	if d.git.OldPath != "" {
		fmt.Fprintf(b, "rename from %s\nrename to %s\n", *old, *now)
	}
	if d.git.State == git.DiffBinary {
		fmt.Fprintf(b, "Binary files %s and %s differ\n", path(old, "a/"), path(now, "b/"))
		return
	}
	if len(d.git.Hunks) > 0 {
		fmt.Fprintf(b, "--- %s\n+++ %s\n%s", path(old, "a/"), path(now, "b/"), d.git.Hunks)
	}
}

func firstOf(a, b *string) *string {
	if a != nil {
		return a
	}
	return b
}

// diffHunk is the type FileDiffHunk.
type diffHunk struct {
	OldRange, NewRange diffRange
	Section            *string
	Body               string
}

// diffRange is the type FileDiffHunkRange.
type diffRange struct{ StartLine, Lines int32 }

// newDiffHunk reads the line above a hunk.
func newDiffHunk(line string) *diffHunk {
	head, _ := git.ParseHunkHead([]byte(line))
	h := &diffHunk{OldRange: newDiffRange(head.Old), NewRange: newDiffRange(head.New)}
	if head.Section != nil {
		h.Section = wire.TextOrNull(strings.ToValidUTF8(string(head.Section), "\uFFFD"))
	}
	return h
}

func newDiffRange(s git.HunkSide) diffRange {
	return diffRange{wire.Int32(s.Start), wire.Int32(s.Lines)}
}
