package search

import (
	"context"
	"encoding/hex"
	"fmt"
	"maps"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/git"
	"github.com/trawlsearch/trawl/store/text"
)

// commitWorker confirms segments. It belongs to one goroutine.
type commitWorker struct {
	*commitSearch
	matcher *commitMatcher
	texts   map[*commitShard]*store.Text
	blobs   map[*target]*blobs
	looked  int
}

func newCommitWorker(c *commitSearch) *commitWorker {
	return &commitWorker{
		commitSearch: c, matcher: newCommitMatcher(c.q, c.set.Brute),
		texts: map[*commitShard]*store.Text{}, blobs: map[*target]*blobs{},
	}
}

func (w *commitWorker) close() {
	for p, text := range w.texts {
		if err := text.Close(); err != nil {
			w.fail(p.view.ID, err)
		}
	}
	for b := range maps.Values(w.blobs) {
		b.close()
	}
}

// confirm looks at the commits of s in order. A panic over one is an error.
func (w *commitWorker) confirm(ctx context.Context, s *commitSegment) {
	defer func() {
		if p := recover(); p != nil {
			s.err = fmt.Errorf("panic: %v", p)
		}
		w.looked += s.looked
		if w.matcher.leash.Cut {
			w.run.cut.Add(1)
			w.matcher.leash.Cut = false
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
		if s.err = ctx.Err(); s.err != nil {
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
	text.Done = ctx.Done()
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
	}, &indexedChanges{p, w.q, text, first, int(end - first), w.blobs[t], oid})
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
		m, err := w.logged(ctx, s.target, c)
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

// logged confirms a commit that git told of.
func (w *commitWorker) logged(ctx context.Context, t *target, c *git.Commit) (query.Match, error) {
	author, committer := store.Person(c.Author.Mapped), store.Person(c.Committer.Mapped)
	if !w.q.wants(author, committer, c.Committer.Seconds) {
		return nil, nil
	}
	m, err := w.matcher.confirm(ctx, t, func() (string, error) { return c.Message, nil }, &loggedChanges{c, w.q, w.blobs[t]})
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
	*commitShard
	q    *commitQuery
	text *store.Text
	// first is the document of the first file, size how many there are.
	first uint32
	size  int
	blobs *blobs
	oid   string
}

func (x *indexedChanges) len() int { return x.size }

func (x *indexedChanges) path(i int) (path, old string, status byte) {
	d := int(x.first) + i
	return x.docs.Path(d), x.table.OldPath(d), x.table.Status[d]
}

func (x *indexedChanges) hunks(i int) ([]byte, bool, error) {
	d := x.first + uint32(i)
	if x.q.tree != nil && x.docs.Reason[d] != store.Searchable || x.commitShard.texts != nil && !x.commitShard.texts.Contains(uint16(d)) {
		return nil, false, nil
	}
	b, err := x.text.Slice(x.docs.TextStart[d], x.docs.TextStart[d+1])
	return b, true, err
}

func (x *indexedChanges) content(ctx context.Context, i int) ([]byte, bool, error) {
	path, _, _ := x.path(i)
	return x.blobs.text(ctx, x.oid, path)
}

// loggedChanges are those of a commit that git told of.
type loggedChanges struct {
	*git.Commit
	q     *commitQuery
	blobs *blobs
}

func (x *loggedChanges) len() int { return len(x.Files) }

func (x *loggedChanges) path(i int) (path, old string, status byte) {
	f := &x.Files[i]
	return f.Path, f.OldPath, f.Status
}

func (x *loggedChanges) hunks(i int) ([]byte, bool, error) {
	f := &x.Files[i]
	return f.Hunks, x.q.tree == nil || f.State == git.DiffRead, nil
}

func (x *loggedChanges) content(ctx context.Context, i int) ([]byte, bool, error) {
	return x.blobs.text(ctx, x.OID, x.Files[i].Path)
}

// blobs reads files as commits left them, for file:has.content.
type blobs struct {
	reader *git.BlobReader
	// of maps commit and path to the blob, for the commits at hand.
	of map[[2]string]string
}

// prepare finds the blobs of the commits of s, if they may be asked for.
func (w *commitWorker) prepare(ctx context.Context, s *commitSegment) error {
	if len(w.q.content) == 0 {
		return nil
	}
	repo, err := w.open(ctx, s.target.stored)
	if err != nil {
		return err
	}
	b := w.blobs[s.target]
	if b == nil {
		b = &blobs{}
		if b.reader, err = repo.Blobs(ctx); err != nil {
			return err
		}
		w.blobs[s.target] = b
	}
	b.of = map[[2]string]string{}
	oids := make([]string, len(s.items))
	for i, it := range s.items {
		if oids[i] = it.oid; it.oid == "" {
			oids[i] = hex.EncodeToString(it.shard.table.OID(int(it.commit)))
		}
	}
	return repo.Log(ctx, oids, git.LogOptions{MaxFiles: git.MaxCommitFiles}, func(c *git.Commit) error {
		for i := range c.Files {
			if f := &c.Files[i]; f.NewOID != "" && f.NewMode != git.ModeSubmodule {
				b.of[[2]string{c.OID, f.Path}] = f.NewOID
			}
		}
		return nil
	})
}

// maxContentBytes is the largest file whose content is tried, as large as the
// text that is indexed by default.
const maxContentBytes = 32 << 20

// text returns the text of a file as a commit left it; ok is false if there is
// none.
func (b *blobs) text(ctx context.Context, commit, path string) (data []byte, ok bool, err error) {
	oid := b.of[[2]string{commit, path}]
	if oid == "" {
		return nil, false, nil
	}
	err = b.reader.Read(ctx, []string{oid}, maxContentBytes, func(_ int, blob git.Blob) error {
		if blob.Err != nil {
			return nil
		}
		decoded, reason := text.Decode(blob.Data)
		data, ok = append([]byte(nil), decoded.Data...), reason == ""
		return nil
	})
	return data, ok, err
}

func (b *blobs) close() {
	if b.reader != nil {
		b.reader.Close()
	}
}
