package search

import (
	"context"
	"errors"
	"slices"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/admit"
	"github.com/trawlsearch/trawl/store/git"
)

// A batch of files that are read through git is searched as a shard in memory.
// A larger file makes a batch of its own.
const (
	batchBytes = 4 << 20
	batchFiles = 2048
)

// gitSource are the files of a repository that have to be read through git.
type gitSource struct {
	repo  *store.Repository
	files []sourceFile
}

// sourceFile is a file with the commits that hold it.
type sourceFile struct {
	restFile
	of []*contents
}

// restOf joins what is in no shard of the revisions of repo that a pass
// searches, or returns nil.
func restOf(repo *store.Repository, pass []*basic) *gitSource {
	var all []*contents
	for _, b := range pass {
		t := b.targets[repo.ID]
		if t == nil {
			continue
		}
		for _, rev := range t.revs {
			if rev.contents != nil && len(rev.contents.rest) > 0 && !slices.Contains(all, rev.contents) {
				all = append(all, rev.contents)
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	src := &gitSource{repo: repo}
	for _, c := range all {
		of := []*contents{c}
		for _, f := range c.rest {
			src.files = append(src.files, sourceFile{f, of})
		}
	}
	if len(all) > 1 {
		slices.SortStableFunc(src.files, func(a, b sourceFile) int { return compareRest(a.restFile, b.restFile) })
		src.files = joinSame(src.files)
	}
	return src
}

// joinSame makes one of neighbours that are the same file.
func joinSame(files []sourceFile) []sourceFile {
	out := files[:0]
	for _, f := range files {
		if n := len(out); n > 0 && compareRest(out[n-1].restFile, f.restFile) == 0 {
			out[n-1].of = append(slices.Clip(out[n-1].of), f.of...)
			continue
		}
		out = append(out, f)
	}
	return out
}

// readRest reads the files that the pass may match, and calls each with plans
// for them until it returns false.
func (r *run) readRest(ctx context.Context, src *gitSource, pass []*basic, each func(*shardPlan) bool) error {
	files := slices.DeleteFunc(slices.Clone(src.files), func(f sourceFile) bool {
		return !slices.ContainsFunc(pass, func(b *basic) bool { return b.mayMatch(src.repo.ID, f) })
	})
	if len(files) == 0 {
		return nil
	}
	b := &batch{run: r, pass: pass, repo: src.repo, each: each}
	err := b.read(ctx, files)
	if err == nil {
		err = b.flush()
	}
	if errors.Is(err, errEnough) {
		return nil
	}
	if err != nil && ctx.Err() == nil {
		r.unreachable(src.repo, err)
	}
	return err
}

// unreachable records a repository that git cannot read.
func (r *run) unreachable(repo *store.Repository, err error) {
	r.opened.drop(r.store.GitDir(repo)) // it may have moved
	r.o.Trace.Add(Step{Name: "read " + repo.Name, Start: r.set.Now().Sub(r.start), Fields: r.work(Field{"error", err.Error()})})
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Contains(r.unreached, repo) {
		r.unreached = append(r.unreached, repo)
	}
}

// unreadFile is a file that git could not read.
type unreadFile struct {
	repository uint32
	path, oid  string
}

func (r *run) unreadable(f unreadFile) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.unread == nil {
		r.unread = map[unreadFile]struct{}{}
	}
	r.unread[f] = struct{}{}
}

// mayMatch judges a file by its path, before its text is read.
func (b *basic) mayMatch(repository uint32, f sourceFile) bool {
	t := b.targets[repository]
	if t == nil || b.symbols {
		return false
	}
	held := slices.ContainsFunc(t.revs, func(rev *revision) bool {
		return rev.contents != nil && slices.Contains(f.of, rev.contents)
	})
	if !held {
		return false
	}
	for n := range b.paths {
		if !b.paths[n].holds(f.Path) {
			return false
		}
	}
	return b.tree == nil || mayHold(b.tree, func(n int) truth {
		a := b.atoms[n]
		switch _, found := a.Short(nil, f.Path); {
		case found && b.path && !a.contentOnly:
			return yes
		case b.content || a.silent:
			return perhaps
		}
		return no
	})
}

// errEnough ends reading that nobody wants to go on.
var errEnough = errors.New("enough")

// batch gathers files until they are worth a plan.
type batch struct {
	*run
	pass []*basic
	repo *store.Repository
	each func(*shardPlan) bool

	shard store.MemoryShard
	in    map[*contents]*postings.Set
}

// read reads files in order.
func (b *batch) read(ctx context.Context, files []sourceFile) error {
	repo, err := b.open(ctx, b.repo)
	if err != nil {
		return err
	}
	blobs, err := repo.Blobs(ctx)
	if err != nil {
		return err
	}
	defer blobs.Close()
	// Submodules have no blob; runs of files between them are read at once.
	for len(files) > 0 {
		n := slices.IndexFunc(files, func(f sourceFile) bool { return f.Mode == git.ModeSubmodule })
		if n == 0 {
			if err := b.add(files[0], git.Blob{}); err != nil {
				return err
			}
			files = files[1:]
			continue
		}
		if n < 0 {
			n = len(files)
		}
		oids := make([]string, n)
		for i, f := range files[:n] {
			oids[i] = f.OID
		}
		err := blobs.Read(ctx, oids, b.set.MaxTextBytes, func(i int, blob git.Blob) error { return b.add(files[i], blob) })
		if err != nil {
			return err
		}
		files = files[n:]
	}
	return nil
}

// add takes a file in by the rules that hold for what is indexed.
func (b *batch) add(f sourceFile, blob git.Blob) error {
	d, text := admit.Rules{MaxTextBytes: b.set.MaxTextBytes}.Document(b.repo.ID, f.TreeEntry, blob)
	d.Quality = f.quality
	if d.Reason == store.ReasonMissing || d.Reason == store.ReasonCorrupt {
		b.unreadable(unreadFile{b.repo.ID, f.Path, f.OID})
	}
	if b.shard.Len() > 0 && (b.shard.Bytes()+len(text) > batchBytes || b.shard.Len() == batchFiles) {
		if err := b.flush(); err != nil {
			return err
		}
	}
	if b.in == nil {
		b.in = map[*contents]*postings.Set{}
	}
	for _, c := range f.of {
		if b.in[c] == nil {
			b.in[c] = &postings.Set{}
		}
		b.in[c].Add(uint16(b.shard.Len()))
	}
	b.shard.Add(d, text)
	return nil
}

// flush plans what was gathered.
func (b *batch) flush() error {
	if b.shard.Len() == 0 {
		return nil
	}
	view, err := b.shard.View()
	if err != nil {
		return err
	}
	p, err := planShard(view, b.in, b.pass, b.set.Brute)
	if err != nil {
		return err
	}
	b.in = nil
	if !b.each(p) {
		return errEnough
	}
	return nil
}

// tellUnread records what of revisions git could not read.
func (r *run) tellUnread() {
	if len(r.unreached) > 0 {
		r.complete = false
		r.o.Results.Missing(namesByID(r.unreached))
	}
	if n := len(r.unread); n > 0 {
		r.complete = false
		r.o.Results.Unsearched(query.Skipped{
			Reason: "objects-missing", Title: files(n) + " unreadable", Severity: "warn",
			Message: "The content of " + files(n) + " at the revisions searched is not there or damaged. Only the paths were searched.",
		})
	}
}
