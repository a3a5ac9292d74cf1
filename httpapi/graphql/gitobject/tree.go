package gitobject

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/trawlsearch/trawl/httpapi/code"
	"github.com/trawlsearch/trawl/httpapi/graphql/budget"
	"github.com/trawlsearch/trawl/httpapi/graphql/wire"
	"github.com/trawlsearch/trawl/store/git"
)

// entry is what stands at a path of a commit; tree and blob are made of it.
type entry struct {
	commit *Commit
	// path is clean, "" for the root.
	path string
	git  git.Entry
}

func (e *entry) repoName() string             { return e.commit.repo.rec.Name }
func (e *entry) Path() string                 { return e.path }
func (e *entry) IsDirectory() bool            { return e.git.Directory() }
func (e *entry) Commit() *Commit              { return e.commit }
func (e *entry) Repository() *Repository      { return e.commit.repo }
func (e *entry) ExternalURLs() []externalLink { return []externalLink{} }

// Name is the last element of the path.
func (e *entry) Name() string {
	if e.path == "" {
		return ""
	}
	return path.Base(e.path)
}

func (e *entry) URL() string          { return e.urlAt(e.commit.rev) }
func (e *entry) CanonicalURL() string { return e.urlAt(e.commit.oid) }

func (e *entry) urlAt(rev string) string {
	if e.IsDirectory() {
		return code.TreeURL(e.repoName(), rev, e.path)
	}
	return code.BlobURL(e.repoName(), rev, e.path)
}

// History lists the commits that changed it.
func (e *entry) History(ctx context.Context, args wire.ForwardArgs) (*commitConnection, error) {
	return e.commit.repo.history(ctx, []string{e.commit.oid}, git.HistoryOptions{Path: e.path}, args)
}

// singleChildArgs change nothing.
type singleChildArgs struct {
	First                           wire.Int
	Recursive, RecursiveSingleChild wire.Bool
}

// IsSingleChild looks into the tree around it.
func (e *entry) IsSingleChild(ctx context.Context, _ singleChildArgs) (bool, error) {
	if e.path == "" {
		return false, nil
	}
	parent, ok, err := e.commit.git().At(ctx, e.commit.oid, parentOf(e.path))
	if err != nil || !ok {
		return false, err
	}
	entries, err := e.commit.git().Tree(ctx, parent.OID)
	return len(entries) == 1, err
}

func parentOf(name string) string {
	i := strings.LastIndexByte(name, '/')
	return name[:max(i, 0)]
}

// Submodule is what stands there if it is a commit of another repository.
func (e *entry) Submodule(ctx context.Context) (*submodule, error) {
	if e.git.Mode != git.ModeSubmodule || e.git.OID == "" {
		return nil, nil
	}
	address, err := e.commit.git().SubmoduleURL(ctx, e.commit.oid, e.path)
	if err != nil {
		return nil, err
	}
	return &submodule{address, e.git.OID, e.path}, nil
}

// submodule is the type Submodule.
type submodule struct{ URL, Commit, Path string }

// tree is the type GitTree.
type tree struct{ *entry }

// IsRoot tells the tree of the commit itself.
func (t *tree) IsRoot() bool { return t.path == "" }

// RawZipArchiveURL is absolute: people paste it.
func (t *tree) RawZipArchiveURL() string {
	s := t.commit.repo.s
	return s.Base + code.RawURL(t.repoName(), t.commit.oid, t.path) + "?format=zip"
}

// maxEntries is how many entries one list may have.
const maxEntries = 50_000

// entriesArgs choose entries of a tree.
type entriesArgs struct {
	First     wire.Int
	Recursive wire.Bool
}

// Directories lists trees.
func (t *tree) Directories(ctx context.Context, args entriesArgs) ([]*tree, error) {
	all, err := t.list(ctx, args, true, false)
	if err != nil {
		return nil, err
	}
	out := make([]*tree, len(all))
	for i, e := range all {
		out[i] = &tree{e}
	}
	return out, nil
}

// Files lists files.
func (t *tree) Files(ctx context.Context, args entriesArgs) ([]*Blob, error) {
	all, err := t.list(ctx, args, false, true)
	if err != nil {
		return nil, err
	}
	out := make([]*Blob, len(all))
	for i, e := range all {
		out[i] = &Blob{entry: e}
	}
	return out, nil
}

// Entries lists both, and with ancestors what stands beside each parent.
func (t *tree) Entries(ctx context.Context, args struct {
	First                wire.Int
	Recursive, Ancestors wire.Bool
}) ([]*treeOrBlob, error) {
	all, err := t.list(ctx, entriesArgs{args.First, args.Recursive}, true, true)
	if err != nil {
		return nil, err
	}
	if args.Ancestors.Or(false) {
		for at := t.path; at != ""; {
			at = parentOf(at)
			above, err := t.commit.treeAt(ctx, at)
			if err != nil || above == nil {
				return nil, err
			}
			beside, err := above.list(ctx, entriesArgs{}, true, true)
			if err != nil {
				return nil, err
			}
			all = append(beside, all...)
		}
	}
	out := make([]*treeOrBlob, len(all))
	for i, e := range all {
		out[i] = &treeOrBlob{e}
	}
	return out, nil
}

// list returns entries, trees before files, each in order of their paths.
func (t *tree) list(ctx context.Context, args entriesArgs, trees, files bool) ([]*entry, error) {
	most := maxEntries
	if args.First.Or(-1) >= 0 {
		most = min(most, int(*args.First.Value))
	}
	found, err := t.walk(ctx, args.Recursive.Or(false), 0)
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(e *entry) bool { return e.IsDirectory() && !trees || !e.IsDirectory() && !files })
	slices.SortStableFunc(found, func(a, b *entry) int { return wire.Rank(b.IsDirectory()) - wire.Rank(a.IsDirectory()) })
	found = found[:min(most, len(found))]
	return found, t.commit.repo.s.Reserve(ctx, len(found))
}

// walk lists what stands below, in order of paths. found is how many were
// listed before.
func (t *tree) walk(ctx context.Context, deep bool, found int) ([]*entry, error) {
	entries, err := t.commit.git().Tree(ctx, t.git.OID)
	if err != nil {
		return nil, err
	}
	var out []*entry
	for _, g := range entries {
		if found+len(out) >= maxEntries {
			return nil, wire.Refuse("the tree %q has more than %d entries: ask for its trees one by one", t.path, maxEntries)
		}
		e := &entry{t.commit, path.Join(t.path, g.Name), g}
		if err := t.commit.repo.s.holdEntry(ctx, e); err != nil {
			return nil, err
		}
		out = append(out, e)
		if deep && e.IsDirectory() {
			below, err := (&tree{e}).walk(ctx, deep, found+len(out))
			if err != nil {
				return nil, err
			}
			out = append(out, below...)
		}
	}
	return out, nil
}

// entryBytes is what an entry holds beside its path.
const entryBytes = 200

// holdEntry takes what an entry of a list holds.
func (s *Session) holdEntry(ctx context.Context, e *entry) error {
	if err := s.ShowName(ctx, e.path); err != nil {
		return err
	}
	return s.Hold(entryBytes + len(e.path))
}

// treeOrBlob is the interfaces TreeEntry and GitTreeOrBlob.
type treeOrBlob struct{ *entry }

// ToGitTree tells whether it is a tree.
func (t *treeOrBlob) ToGitTree() (*tree, bool) { return &tree{t.entry}, t.IsDirectory() }

// ToGitBlob tells whether it is a file.
func (t *treeOrBlob) ToGitBlob() (*Blob, bool) { return &Blob{entry: t.entry}, !t.IsDirectory() }

// at returns what stands at a path of the commit, or nil.
func (c *Commit) at(ctx context.Context, name string) (*entry, error) {
	clean, ok := code.CleanPath(name)
	if !ok {
		return nil, nil
	}
	if err := c.repo.s.ShowName(ctx, clean); err != nil {
		return nil, err
	}
	if e, err := c.indexed(clean); e != nil || err != nil {
		return e, err
	}
	g, ok, err := c.git().At(ctx, c.oid, clean)
	if errors.Is(err, git.ErrMissing) {
		return nil, wire.Refuse("commit %s is not there any more", c.oid)
	}
	if err != nil || !ok {
		return nil, err
	}
	return &entry{c, clean, g}, nil
}

// indexed finds a file among the documents of the index, without git.
func (c *Commit) indexed(clean string) (*entry, error) {
	if c.oid != c.repo.rec.Commit() || clean == "" {
		return nil, nil
	}
	docs, err := c.repo.s.documentsOf(c.repo.rec)
	if err != nil {
		return nil, err
	}
	d, ok := docs.find(clean)
	if !ok {
		return nil, nil
	}
	return &entry{c, clean, git.Entry{Mode: d.table.Mode[d.i], Name: path.Base(clean), OID: d.oid()}}, nil
}

type pathArgs struct{ Path wire.String }

// Path returns what stands at a path.
func (c *Commit) Path(ctx context.Context, args pathArgs) (*treeOrBlob, error) {
	e, err := c.at(ctx, args.Path.Or(""))
	if err != nil || e == nil {
		return nil, err
	}
	return &treeOrBlob{e}, nil
}

// Tree returns the tree at a path.
func (c *Commit) Tree(ctx context.Context, args struct {
	Path      wire.String
	Recursive wire.Bool
}) (*tree, error) {
	return c.treeAt(ctx, args.Path.Or(""))
}

func (c *Commit) treeAt(ctx context.Context, name string) (*tree, error) {
	e, err := c.at(ctx, name)
	switch {
	case err != nil || e == nil:
		return nil, err
	case !e.IsDirectory():
		return nil, wire.Refuse("not a directory: %q", name)
	}
	return &tree{e}, nil
}

// Blob returns the file at a path.
func (c *Commit) Blob(ctx context.Context, args struct{ Path string }) (*Blob, error) {
	e, err := c.at(ctx, args.Path)
	switch {
	case err != nil || e == nil:
		return nil, err
	case e.IsDirectory():
		return nil, wire.Refuse("not a blob: %q", args.Path)
	}
	return &Blob{entry: e}, nil
}

// File returns the file at a path.
func (c *Commit) File(ctx context.Context, args struct{ Path string }) (*file2, error) {
	b, err := c.Blob(ctx, args)
	if err != nil || b == nil {
		return nil, err
	}
	return &file2{b}, nil
}

// FileNames lists the paths of all files.
func (c *Commit) FileNames(ctx context.Context) ([]string, error) {
	out, err := c.fileNames(ctx)
	if err != nil {
		return nil, err
	}
	bytes := 0
	for _, name := range out {
		bytes += len(name) + budget.PlaceBytes
	}
	return out, c.repo.s.ShowBytes(bytes)
}

func (c *Commit) fileNames(ctx context.Context) ([]string, error) {
	out := []string{}
	if c.oid == c.repo.rec.Commit() {
		docs, err := c.repo.s.documentsOf(c.repo.rec)
		if err != nil {
			return nil, err
		}
		docs.each(func(name string, _ document) { out = append(out, strings.ToValidUTF8(name, "\uFFFD")) })
		slices.Sort(out)
		return out, nil
	}
	repo, err := c.repo.command(ctx)
	if err != nil {
		return nil, err
	}
	err = repo.ListTree(ctx, c.oid, func(e git.TreeEntry) error {
		out = append(out, strings.ToValidUTF8(e.Path, "\uFFFD"))
		return c.repo.s.Read(len(e.Path) + budget.PlaceBytes)
	})
	return out, err
}

// LanguageStatistics sums the files of the commit. Of a commit that is not
// indexed the files are taken for what the same path holds in the index.
func (c *Commit) LanguageStatistics(ctx context.Context) ([]LanguageStatistics, error) {
	r := c.repo
	if c.oid == r.rec.Commit() {
		return r.s.Languages(r.rec)
	}
	names, err := c.fileNames(ctx)
	if err != nil {
		return nil, err
	}
	docs, err := r.s.documentsOf(r.rec)
	if err != nil {
		return nil, err
	}
	byName := map[string]*LanguageStatistics{}
	for _, name := range names {
		l := languageOf(name)
		lines, bytes := 0, uint32(0)
		if d, ok := docs.find(name); ok {
			l, lines, bytes = d.table.Words[d.table.Language[d.i]], d.newlines(), d.table.FileBytes[d.i]
		}
		if l == "" {
			continue
		}
		if byName[l] == nil {
			byName[l] = &LanguageStatistics{Name: l}
		}
		byName[l].TotalBytes += float64(bytes)
		byName[l].TotalLines = wire.Int32(int(byName[l].TotalLines) + lines)
	}
	return SortLanguages(byName), nil
}

// Languages names them.
func (c *Commit) Languages(ctx context.Context) ([]string, error) {
	stats, err := c.LanguageStatistics(ctx)
	out := make([]string, len(stats))
	for i, l := range stats {
		out[i] = l.Name
	}
	return out, err
}
