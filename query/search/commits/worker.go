package commits

import (
	"context"
	"encoding/hex"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search/admission"
	"github.com/trawlsearch/trawl/query/search/shardplan"
	"github.com/trawlsearch/trawl/query/search/target"
	"github.com/trawlsearch/trawl/query/search/task"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/git"
	"github.com/trawlsearch/trawl/store/shard"
)

// worker confirms segments. It belongs to one goroutine, and has a slot
// while it looks at a commit.
type worker struct {
	task    *task.Task
	q       *commitQuery
	people  map[uint32]store.People
	matcher *matcher
	at      *admission.Slot
	texts   map[*shardPlan]*shard.Text
	blobs   *blobs // nil until needed
	looked  int
}

func newWorker(c *search) *worker {
	return &worker{
		task: c.task, q: c.q, people: c.people, matcher: newMatcher(c.q, c.task.Brute),
		at: c.task.Processors.Slot(), texts: map[*shardPlan]*shard.Text{},
	}
}

func (w *worker) close() {
	for p, text := range w.texts {
		if err := text.Close(); err != nil {
			w.task.FailShard(p.view.ID, err)
		}
	}
	w.blobs.close()
}

// confirm looks at the commits of s in order. A panic over one is an error.
func (w *worker) confirm(ctx context.Context, s *segment) {
	defer func() {
		w.at.Release()
		w.looked += s.looked
		if w.matcher.budget.Cut {
			w.task.TextsCut.Add(1)
			w.matcher.budget.Cut = false
		}
	}()
	defer shardplan.Recovered(&s.err)
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
		m, err := w.indexed(ctx, s.target.Repository, it)
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
func (w *worker) indexed(ctx context.Context, t *target.Repository, it item) (query.Match, error) {
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
func (p *shardPlan) message(text *shard.Text, i uint32) (string, error) {
	d := p.table.Message[i]
	b, err := text.Slice(p.docs.TextStart[d], p.docs.TextStart[d+1])
	return string(b), err
}

// log confirms commits that git is asked for.
func (w *worker) log(ctx context.Context, s *segment) error {
	repo, err := w.task.Git.Open(ctx, s.target.Stored)
	if err != nil {
		return err
	}
	if w.q.Diff {
		whole, err := w.task.LogSlot(ctx)
		if err != nil {
			return err
		}
		defer whole()
	}
	release, err := w.task.GitSlot(ctx)
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
		Mailmap: s.target.Stored.Commit(),
	}
	switch {
	case w.q.Diff:
		o.Depth = git.LogHunks
	case !w.q.hasPaths():
		o.Depth = git.LogMessages
	}
	return repo.Log(ctx, oids, o, func(c *git.Commit) error {
		if err := w.at.Acquire(ctx); err != nil {
			return err
		}
		m, err := w.logged(ctx, s.target.Repository, c)
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
func (w *worker) logged(ctx context.Context, t *target.Repository, c *git.Commit) (query.Match, error) {
	author, committer := shard.Person(c.Author.Mapped), shard.Person(c.Committer.Mapped)
	if !w.q.wants(author, committer, c.Committer.Seconds) {
		return nil, nil
	}
	m, err := w.matcher.confirm(ctx, t, func() (string, error) { return c.Message, nil }, &loggedChanges{c, w})
	if err != nil || m == nil {
		return nil, err
	}
	m.OID = c.OID
	m.Author = signed(shard.Signature{Person: author, Seconds: c.Author.Seconds, ZoneMinutes: int16(c.Author.ZoneMinutes)}, nil)
	m.Committer = signed(shard.Signature{Person: committer, Seconds: c.Committer.Seconds, ZoneMinutes: int16(c.Committer.ZoneMinutes)}, nil)
	return m, nil
}

// indexedChanges are those of a commit in a history shard.
type indexedChanges struct {
	worker *worker
	*shardPlan
	text *shard.Text
	// first is the document of the first file, size how many there are.
	first uint32
	size  int
	oid   string
}

func (c *indexedChanges) len() int { return c.size }

func (c *indexedChanges) path(i int) (path, old string, status byte) {
	d := int(c.first) + i
	return c.docs.Path(d), c.table.OldPath(d), c.table.Status[d]
}

func (c *indexedChanges) hunks(i int) ([]byte, bool, error) {
	d := c.first + uint32(i)
	if c.worker.q.Tree != nil && c.docs.Reason[d] != shard.Searchable || c.shardPlan.texts != nil && !c.shardPlan.texts.Contains(uint16(d)) {
		return nil, false, nil
	}
	b, err := c.text.Slice(c.docs.TextStart[d], c.docs.TextStart[d+1])
	return b, true, err
}

func (c *indexedChanges) content(ctx context.Context, i int, use func(text []byte)) error {
	c.text.Release()
	path, _, _ := c.path(i)
	return c.worker.content(ctx, c.oid, path, use)
}

func (c *indexedChanges) pause(ctx context.Context) error {
	c.text.Release()
	return c.worker.at.Acquire(ctx)
}

// loggedChanges are those of a commit that git has logged.
type loggedChanges struct {
	*git.Commit
	worker *worker
}

func (c *loggedChanges) len() int { return len(c.Files) }

func (c *loggedChanges) path(i int) (path, old string, status byte) {
	f := &c.Files[i]
	return f.Path, f.OldPath, f.Status
}

func (c *loggedChanges) hunks(i int) ([]byte, bool, error) {
	f := &c.Files[i]
	return f.Hunks, c.worker.q.Tree == nil || f.State == git.DiffRead, nil
}

func (c *loggedChanges) content(ctx context.Context, i int, use func(text []byte)) error {
	return c.worker.content(ctx, c.OID, c.Files[i].Path, use)
}

func (c *loggedChanges) pause(ctx context.Context) error { return c.worker.at.Acquire(ctx) }
