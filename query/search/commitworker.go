package search

import (
	"context"
	"encoding/hex"
	"fmt"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search/admission"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/git"
)

// commitWorker confirms segments. It belongs to one goroutine, and has a slot
// while it looks at a commit.
type commitWorker struct {
	*commitSearch
	matcher *commitMatcher
	at      *admission.Slot
	texts   map[*commitShard]*store.Text
	blobs   *blobs // nil until needed
	looked  int
}

func newCommitWorker(c *commitSearch) *commitWorker {
	return &commitWorker{
		commitSearch: c, matcher: newCommitMatcher(c.q, c.set.Brute),
		at: c.run.admitted.Slot(), texts: map[*commitShard]*store.Text{},
	}
}

func (w *commitWorker) close() {
	for p, text := range w.texts {
		if err := text.Close(); err != nil {
			w.fail(p.view.ID, err)
		}
	}
	w.blobs.close()
}

// confirm looks at the commits of s in order. A panic over one is an error.
func (w *commitWorker) confirm(ctx context.Context, s *commitSegment) {
	defer func() {
		if p := recover(); p != nil {
			s.err = fmt.Errorf("panic: %v", p)
		}
		w.at.Release()
		w.looked += s.looked
		if w.matcher.budget.Cut {
			w.run.cut.Add(1)
			w.matcher.budget.Cut = false
		}
	}()
	if s.err = w.prepare(ctx, s); s.err != nil {
		return
	}
	if s.viaGit {
		s.err = w.log(ctx, s)
		return
	}
	for _, it := range s.items {
		if s.err = w.at.Acquire(ctx); s.err != nil {
			return
		}
		m, err := w.indexed(ctx, s.target, it)
		if err != nil {
			s.err = err
			return
		}
		s.looked++
		if m != nil {
			s.matches = append(s.matches, m)
		}
	}
}

// indexed confirms a commit that the index has.
func (w *commitWorker) indexed(ctx context.Context, t *target, it commitItem) (query.Match, error) {
	p, i := it.shard, it.commit
	text := w.texts[p]
	if text == nil {
		text = p.view.Text()
		w.texts[p] = text
	}
	text.Done, text.Idle = ctx.Done(), func(wait func()) { w.at.Without(ctx, wait) }
	defer text.Release()
	oid := hex.EncodeToString(p.table.OID(int(i)))
	read, message := false, ""
	var readErr error
	first, end := p.table.Message[i]+1, p.table.Message[i+1]
	m, err := w.matcher.confirm(ctx, t, func() (string, error) {
		if !read {
			read = true
			message, readErr = p.message(text, i)
		}
		return message, readErr
	}, &indexedChanges{w, p, text, first, int(end - first), oid})
	if err != nil || m == nil {
		return nil, err
	}
	c := p.table.At(int(i))
	m.OID, m.Author, m.Committer = oid, signed(c.Author, w.people[c.Repository]), signed(c.Committer, w.people[c.Repository])
	return m, nil
}

// message returns the message of commit i.
func (p *commitShard) message(text *store.Text, i uint32) (string, error) {
	d := p.table.Message[i]
	b, err := text.Slice(p.docs.TextStart[d], p.docs.TextStart[d+1])
	return string(b), err
}

// log confirms commits that git is asked for.
func (w *commitWorker) log(ctx context.Context, s *commitSegment) error {
	repo, err := w.open(ctx, s.target.stored)
	if err != nil {
		return err
	}
	if w.q.diff {
		whole, err := w.wholeLogs.Acquire(ctx, w.o.Asker, 1)
		if err != nil {
			return err
		}
		defer whole.Release()
	}
	release, err := w.takeSlot(ctx)
	if err != nil {
		return err
	}
	defer release()
	oids := make([]string, len(s.items))
	for i, it := range s.items {
		oids[i] = it.oid
	}
	o := git.LogOptions{
		MaxFileBytes: git.MaxDiffBytes, MaxCommitBytes: git.MaxCommitBytes, MaxFiles: git.MaxCommitFiles,
		Mailmap: s.target.stored.Commit(),
	}
	switch {
	case w.q.diff:
		o.Depth = git.LogHunks
	case !w.q.hasPaths():
		o.Depth = git.LogMessages
	}
	return repo.Log(ctx, oids, o, func(c *git.Commit) error {
		if err := w.at.Acquire(ctx); err != nil {
			return err
		}
		m, err := w.logged(ctx, s.target, c)
		w.at.Release() // git reads meanwhile
		if err != nil {
			return err
		}
		s.looked++
		if m != nil {
			s.matches = append(s.matches, m)
		}
		return ctx.Err()
	})
}

// logged confirms a commit that git has logged.
func (w *commitWorker) logged(ctx context.Context, t *target, c *git.Commit) (query.Match, error) {
	author, committer := store.Person(c.Author.Mapped), store.Person(c.Committer.Mapped)
	if !w.q.wants(author, committer, c.Committer.Seconds) {
		return nil, nil
	}
	m, err := w.matcher.confirm(ctx, t, func() (string, error) { return c.Message, nil }, &loggedChanges{c, w})
	if err != nil || m == nil {
		return nil, err
	}
	m.OID = c.OID
	m.Author = signed(store.Signature{Person: author, Seconds: c.Author.Seconds, ZoneMinutes: int16(c.Author.ZoneMinutes)}, nil)
	m.Committer = signed(store.Signature{Person: committer, Seconds: c.Committer.Seconds, ZoneMinutes: int16(c.Committer.ZoneMinutes)}, nil)
	return m, nil
}

// indexedChanges are those of a commit in a history shard.
type indexedChanges struct {
	worker *commitWorker
	*commitShard
	text *store.Text
	// first is the document of the first file, size how many there are.
	first uint32
	size  int
	oid   string
}

func (x *indexedChanges) len() int { return x.size }

func (x *indexedChanges) path(i int) (path, old string, status byte) {
	d := int(x.first) + i
	return x.docs.Path(d), x.table.OldPath(d), x.table.Status[d]
}

func (x *indexedChanges) hunks(i int) ([]byte, bool, error) {
	d := x.first + uint32(i)
	if x.worker.q.tree != nil && x.docs.Reason[d] != store.Searchable || x.commitShard.texts != nil && !x.commitShard.texts.Contains(uint16(d)) {
		return nil, false, nil
	}
	b, err := x.text.Slice(x.docs.TextStart[d], x.docs.TextStart[d+1])
	return b, true, err
}

func (x *indexedChanges) content(ctx context.Context, i int, use func(text []byte)) error {
	x.text.Release()
	path, _, _ := x.path(i)
	return x.worker.content(ctx, x.oid, path, use)
}

func (x *indexedChanges) pause(ctx context.Context) error {
	x.text.Release()
	return x.worker.at.Acquire(ctx)
}

// loggedChanges are those of a commit that git has logged.
type loggedChanges struct {
	*git.Commit
	worker *commitWorker
}

func (x *loggedChanges) len() int { return len(x.Files) }

func (x *loggedChanges) path(i int) (path, old string, status byte) {
	f := &x.Files[i]
	return f.Path, f.OldPath, f.Status
}

func (x *loggedChanges) hunks(i int) ([]byte, bool, error) {
	f := &x.Files[i]
	return f.Hunks, x.worker.q.tree == nil || f.State == git.DiffRead, nil
}

func (x *loggedChanges) content(ctx context.Context, i int, use func(text []byte)) error {
	return x.worker.content(ctx, x.OID, x.Files[i].Path, use)
}

func (x *loggedChanges) pause(ctx context.Context) error { return x.worker.at.Acquire(ctx) }
