package ingest

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/git"
	"github.com/trawlsearch/trawl/store/shard"
	"github.com/trawlsearch/trawl/store/span"
)

// Small syncs are read side by side, without a lock, and written in groups: one
// shard and one commit for many repositories. What is read waits in memory for
// its group.
const (
	// mostSmallBytes and mostSmallFiles are what a sync that is written in a group
	// may add.
	mostSmallBytes = 4 << 20
	mostSmallFiles = 4096
	// mostGroupBytes is the memory of a group, most of it text, but for its last
	// sync.
	mostGroupBytes = 16 << 20
	// mostListedDocuments is of how many documents a repository is compared with its
	// source beside others, which takes some hundred bytes each.
	mostListedDocuments = 100_000
	// groupWait is how long a group waits for others that are being read.
	groupWait = 500 * time.Millisecond
)

var (
	// errNotSmall says that a sync, or a history, is too large for a group.
	errNotSmall = errors.New("too large for a group")
	// errOvertaken says that documents of the repository were moved since the sync
	// was prepared.
	errOvertaken = errors.New("documents were moved since the sync was prepared")
)

// readDocument is a document that waits to be written.
type readDocument struct {
	shard.Document
	text []byte
	held uint64
}

// groups gathers small syncs. The first sync of a group writes it while the next
// group is gathered.
type groups struct {
	// slots holds a token for each sync that is read, writing one while a group is
	// written.
	slots, writing chan struct{}

	mu sync.Mutex // guards what follows
	// reading counts the syncs that may yet join the open group.
	reading int
	open    *group
	// quiet is closed when no sync is read any more; nil if no task waits for that.
	quiet chan struct{}
}

// group is some syncs that are written together.
type group struct {
	jobs  []*syncJob
	bytes int
	// ready is closed when there is nothing to wait for, taken when no other sync
	// joins, and done when the group was written.
	ready, taken, done chan struct{}
	isReady            bool
}

func newGroups(readers int) *groups {
	return &groups{slots: make(chan struct{}, readers), writing: make(chan struct{}, 1)}
}

// begin waits for a slot to read. leave gives it back; it may be called twice.
func (g *groups) begin(ctx context.Context) (leave func(), err error) {
	g.mu.Lock()
	g.reading++
	g.mu.Unlock()
	select {
	case g.slots <- struct{}{}:
		return sync.OnceFunc(func() {
			<-g.slots
			g.left()
		}), nil
	case <-ctx.Done():
		g.left()
		return nil, context.Cause(ctx)
	}
}

// left counts a sync that is no longer read.
func (g *groups) left() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.reading--
	g.look()
	if g.reading == 0 && g.quiet != nil {
		close(g.quiet)
		g.quiet = nil
	}
}

// idle waits until no sync is being read.
func (g *groups) idle(ctx context.Context) {
	g.mu.Lock()
	if g.reading == 0 {
		g.mu.Unlock()
		return
	}
	if g.quiet == nil {
		g.quiet = make(chan struct{})
	}
	quiet := g.quiet
	g.mu.Unlock()
	select {
	case <-quiet:
	case <-ctx.Done():
	}
}

// look finds out whether the open group is ready. mu is held.
func (g *groups) look() {
	if own := g.open; own != nil && !own.isReady && (g.reading == 0 || own.isFull()) {
		own.isReady = true
		close(own.ready)
	}
}

func (own *group) isFull() bool { return own.bytes >= mostGroupBytes }

// write adds a job to the open group and returns when that was written. leave is
// that of begin.
func (g *groups) write(job *syncJob, leave func(), write func([]*syncJob)) {
	g.mu.Lock()
	for g.open != nil && g.open.isFull() {
		taken := g.open.taken
		g.mu.Unlock()
		<-taken
		g.mu.Lock()
	}
	leads := g.open == nil
	if leads {
		g.open = &group{ready: make(chan struct{}), taken: make(chan struct{}), done: make(chan struct{})}
	}
	own := g.open
	own.jobs, own.bytes = append(own.jobs, job), own.bytes+job.weight()
	g.mu.Unlock()
	leave()
	if !leads {
		<-own.done
		return
	}
	wait := time.NewTimer(groupWait)
	defer wait.Stop()
	select {
	case <-own.ready:
	case <-wait.C:
	}
	g.writing <- struct{}{}
	defer func() {
		<-g.writing
		close(own.done)
	}()
	g.mu.Lock()
	g.open = nil
	close(own.taken)
	g.mu.Unlock()
	write(own.jobs)
}

// syncInGroup is Sync of what was fetched, for a change that is small. It fails
// with errNotSmall if the change is not, and with errOvertaken if a merge came
// first.
func (ix *Indexer) syncInGroup(ctx context.Context, id uint32, f fetched, report func(Progress)) (res Result, err error) {
	leave, err := ix.groups.begin(ctx)
	if err != nil {
		return Result{}, err
	}
	defer leave()
	defer ix.opts.Begin()()
	start := ix.opts.Now()
	took := time.Duration(0)
	res, err = ix.syncBy(ctx, id, report, func(job *syncJob) error {
		job.small = true
		if err := job.prepare(ctx, f); err != nil || job.same {
			return err
		}
		within, end := span.Start(ctx, "sync", "index")
		err := job.readSmall(within)
		job.items = nil
		end(err)
		if err != nil {
			return err
		}
		took = ix.opts.Now().Sub(start)
		report(Progress{Phase: "wait"})
		ix.groups.write(job, leave, func(jobs []*syncJob) { ix.writeGroup(context.WithoutCancel(ctx), jobs) })
		return job.err
	})
	if took == 0 {
		took = ix.opts.Now().Sub(start)
	}
	res.Took = took
	return res, err
}

// readSmall reads what the job adds into memory.
func (j *syncJob) readSmall(ctx context.Context) error {
	if len(j.items) == 0 {
		return nil
	}
	j.report(Progress{Phase: "index", Total: len(j.items)})
	return j.read(ctx, func(it item, b git.Blob) error {
		if j.textBytes += len(b.Data); j.textBytes > mostSmallBytes || b.Size > mostSmallBytes {
			return errNotSmall
		}
		_ = j.ix.pace.run(ctx, func() error {
			d, text := j.document(it, b)
			d.OID = slices.Clone(d.OID)
			j.texts = append(j.texts, readDocument{d, slices.Clone(text), it.held})
			j.added.add(uint32(len(text)), d.Reason)
			return nil
		})
		if n := len(j.texts); n%reportEvery == 0 || n == len(j.items) {
			j.report(Progress{Phase: "index", Done: n, Total: len(j.items), Bytes: j.result.Bytes})
		}
		return ctx.Err()
	})
}

// weight returns about how many bytes of memory the job takes until it is written.
func (j *syncJob) weight() int {
	n := j.textBytes + 32*len(j.kept) + 16*len(j.buried) + 256*len(j.texts)
	for i := range j.texts {
		n += len(j.texts[i].Path)
	}
	return n
}

// writeGroup writes what some jobs have read to shards of their own and commits
// all of it at once.
func (ix *Indexer) writeGroup(ctx context.Context, jobs []*syncJob) {
	for _, j := range jobs {
		j.report(Progress{Phase: "commit"})
	}
	headers, err := ix.writeTexts(ctx, jobs)
	if err == nil {
		err = ix.commitSyncs(jobs, headers)
	}
	if err != nil {
		ix.changes.discard(headers, err)
	}
	for _, j := range jobs {
		if err != nil && j.err == nil {
			j.err = err
		}
	}
}

// writeTexts writes the texts of jobs, in rank order as a merge does. Those of
// different readers go to different shards.
func (ix *Indexer) writeTexts(ctx context.Context, jobs []*syncJob) (headers []shard.Header, err error) {
	type source struct {
		*readDocument
		job    *syncJob
		circle string
	}
	var all []source
	for _, j := range jobs {
		circle := circleOf(j.base.Readers)
		for i := range j.texts {
			all = append(all, source{&j.texts[i], j, circle})
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	if err := ix.Room.check(); err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b source) int {
		return cmp.Or(strings.Compare(a.circle, b.circle), cmp.Compare(b.job.base.Stars, a.job.base.Stars),
			cmp.Compare(b.Repository, a.Repository), cmp.Compare(a.Quality, b.Quality), strings.Compare(a.Path, b.Path),
			slices.Compare(a.OID, b.OID), cmp.Compare(a.Mode, b.Mode))
	})
	w := ix.writers.beginGroup(ctx, len(jobs))
	defer w.Close()
	first := 0
	finish := func(end int) error {
		var h shard.Header
		err := ix.pace.run(ctx, func() (err error) {
			h, err = w.Finish(ctx)
			return err
		})
		if err != nil {
			return err
		}
		h.Full = false // its lists were bounded, not those of a shard that it is joined to
		headers = append(headers, h)
		for n, s := range all[first:end] {
			s.job.written = append(s.job.written, writtenDocument{docRef{h.ID, uint16(n)}, s.held})
		}
		first = end
		return nil
	}
	for i, s := range all {
		if !w.Empty() && (!w.Fits(len(s.text)) || s.circle != all[i-1].circle) {
			if err := finish(i); err != nil {
				return headers, err
			}
		}
		err := ix.pace.run(ctx, func() error {
			return w.AddDocument(s.Document, s.text, int64(len(s.text)) <= ix.opts.MaxIndexedBytes)
		})
		if err != nil {
			return headers, err
		}
	}
	err = finish(len(all))
	return headers, err
}

// commitSyncs switches the repositories of jobs to what was written in one
// commit. The err of a job says why it is not part of that.
func (ix *Indexer) commitSyncs(jobs []*syncJob, headers []shard.Header) error {
	var done []*syncJob
	var c store.Change
	err := ix.changes.update(func(tx *store.Tx) error {
		done, c = ix.switchTo(tx.Snapshot(), jobs, headers)
		tx.Change = c
		return nil
	})
	if err != nil {
		return err
	}
	for _, j := range done {
		j.committed = true
	}
	return nil
}

// switchTo returns the change of commitSyncs and the jobs that are part of it.
func (ix *Indexer) switchTo(sn *store.Snapshot, jobs []*syncJob, headers []shard.Header) (done []*syncJob, c store.Change) {
	c = store.Change{Add: headers, Away: map[store.ShardRepository][]*postings.Set{}}
	var dead []docRef
	for _, j := range jobs {
		next, err := j.record(sn.RepositoryByID(j.base.ID))
		if err = cmp.Or(err, j.ended()); err != nil {
			j.err = err
			for _, w := range j.written {
				dead = append(dead, w.docRef)
			}
			continue
		}
		c.Repositories = append(c.Repositories, next)
		if !j.same {
			dead = append(dead, j.buried...)
			j.addAway(sn, c.Away)
		}
		j.result.Repository = next
		done = append(done, j)
	}
	c.Dead, c.Drop = bury(sn, headers, dead)
	c.Add = slices.DeleteFunc(slices.Clone(headers), func(h shard.Header) bool { return slices.Contains(c.Drop, h.ID) })
	return done, c
}
