package ingest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/git"
	"github.com/trawlsearch/trawl/store/shard"
)

// Small histories are read side by side and written in groups, as small syncs are:
// one shard and one commit for many repositories. Readers hold what they have read
// in memory; one group is gathered while another is written. A history that turns
// out not to be small is read alone, behind the others.
const (
	// mostSmallCommits is how many commits a history that is written in a group may
	// add, beside mostSmallBytes of text.
	mostSmallCommits = 1024
	// historyWait is how long a group is gathered at most.
	historyWait = time.Second
)

// heldCommit is a commit that waits to be written.
type heldCommit struct {
	shard.Commit
	message string
	files   []shard.ChangedFile
}

// hold keeps a commit in memory.
func (j *historyJob) hold(c shard.Commit, from *git.Commit, files []shard.ChangedFile) error {
	size := len(from.Message)
	for i := range files {
		files[i].Hunks = bytes.Clone(files[i].Hunks)
		size += len(files[i].Hunks) + len(files[i].Path) + 128
	}
	if j.heldBytes += size + 256; j.heldBytes > mostSmallBytes {
		return errNotSmall
	}
	j.held = append(j.held, heldCommit{c, from.Message, files})
	return nil
}

// readSmall reads into memory what is new in the history of a repository. It fails
// with errNotSmall if that is not little, and if git cannot read it at once.
func (j *historyJob) readSmall(ctx context.Context) (err error) {
	sn := j.hs.store.Snapshot()
	defer func() { err = errors.Join(err, sn.Close()) }()
	if j.repository = sn.RepositoryByID(j.id); j.repository == nil {
		return store.ErrNotFound
	}
	j.tip = j.repository.Commit()
	if err := j.hs.room.check(); err != nil {
		return err
	}
	if j.git, err = j.hs.mirrors.open(ctx, j.repository); err != nil {
		return err
	}
	h := &j.repository.History
	anew := h.Tip == "" || h.Depth != j.hs.opts.historyDepth() || lost(sn, h.Shards)
	switch {
	case h.Reading != "":
		return errNotSmall
	case anew && j.tip != "" && j.hs.opts.HistoryCommits > 0:
		err = j.readAnew(ctx)
	default:
		if j.plan, err = j.makePlan(ctx, sn); err == nil {
			j.sequence = j.plan.sequence
			err = j.read(ctx, j.plan)
		}
	}
	if err != nil {
		return err
	}
	return j.mapSmall(ctx, sn)
}

// readAnew reads all of a history, by one process that lists and reads it.
func (j *historyJob) readAnew(ctx context.Context) error {
	o := j.hs.opts
	j.plan = &historyPlan{sequence: j.repository.History.Sequence + 1, again: true, diffs: o.HistoryDiffs}
	j.sequence = j.plan.sequence
	depth, most := git.LogHunks, min(o.HistoryCommits, mostSmallCommits)
	if o.HistoryDiffs <= 0 {
		depth = git.LogPaths
	}
	err := j.git.LogFrom(ctx, j.tip, most+1, j.logOptions(depth), func(c *git.Commit) error {
		n := j.plan.len()
		switch {
		case n == o.HistoryCommits:
			j.plan.more = true
			return callbackError{errEnough}
		case n == most || n == o.HistoryDiffs && depth == git.LogHunks:
			return callbackError{errNotSmall}
		}
		j.plan.next(unhex(c.OID), c.Committer.Seconds, false)
		if err := j.add(ctx, j.plan, n, c, depth); err != nil {
			return callbackError{err}
		}
		return nil
	})
	var ours callbackError
	switch {
	case errors.As(err, &ours) && ours.error == errEnough:
		return nil
	case errors.As(err, &ours):
		return ours.error
	case err == nil || ctx.Err() != nil || errors.Is(err, git.ErrBusy):
		return err
	}
	return errNotSmall // each commit that cannot be read is found by itself
}

// mapSmall finds out who the people are by the mailmap of the tip, as mapPeople
// does. git is asked only if there is a new one.
func (j *historyJob) mapSmall(ctx context.Context, sn *store.Snapshot) (err error) {
	h := &j.repository.History
	var known bool
	if j.mailmap, known, err = indexedMailmap(sn, j.repository); err != nil {
		return err
	}
	if j.tip != "" && (!known || j.mailmap != "" && (j.plan.again || j.mailmap != h.Mailmap)) {
		if j.mailmap, err = j.git.Mailmap(j.tip).OID(ctx); err != nil {
			return err
		}
	}
	if j.mailmap == "" {
		if h.Mailmap != "" {
			j.people = store.People{}
		}
		return nil
	}
	asked := persons{}
	for i := range j.held {
		asked.add(j.held[i].Author.Person, j.held[i].Committer.Person)
	}
	if j.plan.again || j.mailmap != h.Mailmap {
		if !j.plan.again {
			if err := asked.addKept(sn, j.repository); err != nil {
				return err
			}
		}
		j.people, err = j.mapAll(ctx, asked)
		return err
	}
	mapped, err := j.mapAll(ctx, asked)
	if err != nil || len(mapped) == 0 {
		return err
	}
	j.people, err = sn.People(j.id)
	if err != nil {
		return err
	}
	if j.people == nil {
		j.people = store.People{}
	}
	for from, to := range mapped {
		if len(j.people) < store.MaxPeople {
			j.people[from] = to
		}
	}
	return nil
}

// indexedMailmap returns the object id of the .mailmap that stands among the
// documents of a repository's tip, "" if there is none. It is not known where some
// of them are lost.
func indexedMailmap(sn *store.Snapshot, r *store.Repository) (oid string, known bool, err error) {
	if lost(sn, r.Shards) {
		return "", false, nil
	}
	for _, id := range r.Shards {
		v, _ := sn.Shard(id)
		docs, err := v.Documents()
		if err != nil {
			return "", false, err
		}
		var away *postings.Set
		if sets := v.Away(r.ID); len(sets) > 0 {
			away = sets[0]
		}
		for i, owner := range docs.Repository {
			if owner != r.ID || docs.Path(i) != ".mailmap" || v.Dead != nil && v.Dead.Contains(uint16(i)) || away != nil && away.Contains(uint16(i)) {
				continue
			}
			return hex.EncodeToString(docs.OID(i)), true, nil
		}
	}
	return "", true, nil
}

// readSmall reads the small histories of repositories and commits them in groups.
func (p *historyPass) readSmall(ctx context.Context, ids []uint32) error {
	if len(ids) == 0 {
		return nil
	}
	within, cancel := context.WithCancel(ctx)
	var readers sync.WaitGroup
	defer readers.Wait()
	defer cancel()
	todo, read := make(chan uint32, len(ids)), make(chan *historyJob)
	for _, id := range ids {
		todo <- id
	}
	close(todo)
	for n := range min(len(ids), p.hs.opts.Readers+1) {
		readers.Go(func() { p.readEach(within, n > 0, todo, read) })
	}
	return p.gather(ctx, len(ids), read)
}

// readEach reads histories until there are no more. A reader that gives way waits
// while syncs are being read.
func (p *historyPass) readEach(ctx context.Context, givesWay bool, todo <-chan uint32, read chan<- *historyJob) {
	for id := range todo {
		j := &historyJob{}
		if givesWay {
			p.hs.groups.idle(ctx)
		}
		began := p.hs.opts.Now()
		err := p.hs.changes.heal(ctx, func() error {
			*j = historyJob{hs: p.hs, id: id, small: true}
			return j.readSmall(ctx)
		})
		j.err, j.took = err, p.hs.opts.Now().Sub(began)
		select {
		case read <- j:
		case <-ctx.Done():
			return
		}
	}
}

// gather puts as many jobs as are read into groups and has them written, one group
// while the next is gathered.
func (p *historyPass) gather(ctx context.Context, jobs int, read <-chan *historyJob) error {
	var open []*historyJob
	bytes, due := 0, false
	var wait <-chan time.Time
	var written chan error
	var writing []*historyJob
	for jobs > 0 || len(open) > 0 || written != nil {
		if written == nil && len(open) > 0 && (due || jobs == 0 || bytes >= mostGroupBytes) {
			writing, written = open, make(chan error, 1)
			open, bytes, due, wait = nil, 0, false, nil
			go func() { written <- p.hs.write(ctx, writing) }()
		}
		from := read
		if jobs == 0 || bytes >= mostGroupBytes {
			from = nil
		}
		select {
		case j := <-from:
			if jobs--; !p.joins(j) {
				if err := p.count(ctx, j); err != nil {
					return p.abandon(err, written)
				}
				continue
			}
			if open, bytes = append(open, j), bytes+j.heldBytes; wait == nil {
				wait = time.After(historyWait)
			}
		case <-wait:
			due, wait = true, nil
		case err := <-written:
			written = nil
			if err := cmp.Or(err, p.countGroup(ctx, writing)); err != nil {
				return err
			}
		case <-ctx.Done():
			return p.abandon(ctx.Err(), written)
		}
	}
	return nil
}

// abandon waits for the group that is being written.
func (p *historyPass) abandon(err error, written <-chan error) error {
	if written != nil {
		<-written
	}
	return err
}

// joins reports whether a job that was read goes to a group, and if it does not
// where it goes.
func (p *historyPass) joins(j *historyJob) bool {
	switch {
	case j.err == nil:
		return true
	case errors.Is(j.err, errNotSmall):
		p.alone, j.err = append(p.alone, j.id), nil
	case j.repository == nil:
		j.err = nil // removed meanwhile
	}
	return false
}

// countGroup counts what a group has written. What it has not is read alone.
func (p *historyPass) countGroup(ctx context.Context, jobs []*historyJob) error {
	for _, j := range jobs {
		p.progress.Done += j.added
		p.progress.Bytes += j.progress.Bytes
		_, damaged := shard.Damaged(j.err)
		switch {
		case damaged || errors.Is(j.err, errOvertaken):
			p.alone, j.err = append(p.alone, j.id), nil
		case errors.Is(j.err, store.ErrNotFound):
			j.err = nil // removed meanwhile
		}
		if err := p.count(ctx, j); err != nil {
			return err
		}
	}
	if p.progress.Total = p.progress.Done; p.progress.Done > 0 {
		p.report(p.progress)
	}
	return nil
}

// write writes what some jobs have read to shards of their own and commits
// all of it at once. The err of a job says why it is not part of that.
func (hs *Histories) write(ctx context.Context, jobs []*historyJob) error {
	headers, err := hs.writeCommits(ctx, jobs)
	if err == nil {
		err = hs.commit(jobs, headers)
	}
	if err != nil {
		hs.changes.discard(headers, err)
	}
	return err
}

// writeCommits writes the commits of jobs in the order of a merge. Those of different
// readers go to different shards.
func (hs *Histories) writeCommits(ctx context.Context, jobs []*historyJob) (headers []shard.Header, err error) {
	if err := hs.room.check(); err != nil {
		return nil, err
	}
	slices.SortFunc(jobs, func(a, b *historyJob) int {
		return cmp.Or(strings.Compare(circleOf(a.repository.Readers), circleOf(b.repository.Readers)), cmp.Compare(b.id, a.id))
	})
	w := hs.writers.beginGroup(ctx, len(jobs))
	defer w.Close()
	var owners []*historyJob // by document of the shard begun
	finish := func() error {
		if w.Empty() {
			return nil
		}
		h, err := w.Finish(ctx)
		if err != nil {
			return err
		}
		h.Full = false // its lists were bounded, not those of a shard that it is joined to
		headers = append(headers, h)
		for n, j := range owners {
			j.written = append(j.written, docRef{h.ID, uint16(n)})
		}
		owners = owners[:0]
		return nil
	}
	circle := ""
	for _, j := range jobs {
		own := circleOf(j.repository.Readers)
		for i := range j.held {
			c := &j.held[i]
			if !w.FitsCommit(c.message, c.files) || own != circle {
				if err := finish(); err != nil {
					return headers, err
				}
			}
			circle = own
			if err := w.AddCommit(c.Commit, c.message, c.files); err != nil {
				return headers, err
			}
			owners = append(owners, slices.Repeat([]*historyJob{j}, 1+len(c.files))...)
		}
		j.held = nil
	}
	err = finish()
	return headers, err
}

// commit puts what was written into the records of all jobs in one commit.
func (hs *Histories) commit(jobs []*historyJob, headers []shard.Header) error {
	err := hs.changes.update(func(tx *store.Tx) error {
		sn, c := tx.Snapshot(), store.Change{}
		var dead []docRef
		for _, j := range jobs {
			var places []docRef
			if places, j.err = j.record(sn, &c); j.err != nil {
				places = j.written
			}
			dead = append(dead, places...)
		}
		c.Dead, c.Drop = bury(sn, headers, dead)
		c.Add = slices.DeleteFunc(slices.Clone(headers), func(h shard.Header) bool { return slices.Contains(c.Drop, h.ID) })
		tx.Change = c
		return nil
	})
	if err != nil {
		return err
	}
	for _, j := range jobs {
		if j.err == nil {
			j.added = j.pending.commits
		}
	}
	return nil
}

// record adds to a change the record of a history that was read, and returns the
// documents of the commits that are gone.
func (j *historyJob) record(sn *store.Snapshot, c *store.Change) ([]docRef, error) {
	present := sn.RepositoryByID(j.id)
	if present == nil {
		return nil, store.ErrNotFound
	}
	next := *present
	places, err := j.forget(sn, &next)
	if err != nil {
		return nil, err
	}
	var shards []uint32
	for _, w := range j.written {
		if len(shards) == 0 || shards[len(shards)-1] != w.shard {
			shards = append(shards, w.shard)
		}
	}
	j.pending.addTo(&next.History, shards...)
	j.reached(&next, c)
	c.Repositories = append(c.Repositories, &next)
	return places, nil
}
