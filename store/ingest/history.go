package ingest

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/git"
	"github.com/trawlsearch/trawl/store/redact"
	"github.com/trawlsearch/trawl/store/shard"
)

// AllHistory stands for every commit in Options.
const AllHistory = math.MaxInt

// HistoryResult counts what a pass over the repositories read.
type HistoryResult struct {
	// Repositories counts those of which something was read, Commits what.
	Repositories, Commits int
	// Failed are repositories whose history could not be read, as name and
	// reason; their last state stays.
	Failed []string
	Took   time.Duration
}

// History reads the commits of all repositories that were synced since their
// commits were last read. Old ones are read no more; those that cannot be
// reached any more are forgotten. Each repository is committed shard by shard,
// newest commits first, so that an interrupted pass goes on where it was. Syncs
// and merges go on meanwhile. It reports progress in phase "history"; report may
// be nil.
func (ix *Indexer) History(ctx context.Context, report func(Progress)) (HistoryResult, error) {
	var out HistoryResult
	if report == nil {
		report = func(Progress) {}
	}
	select {
	case ix.historyTurn <- struct{}{}:
		defer func() { <-ix.historyTurn }()
	case <-ctx.Done():
		return out, fmt.Errorf("history: %w", ctx.Err())
	}
	start := ix.opts.Now()
	for _, id := range ix.unread() {
		j := &historyJob{ix: ix, id: id, report: report}
		err := ix.heal(ctx, func() error {
			*j = historyJob{ix: ix, id: id, report: report, added: j.added}
			return j.run(ctx)
		})
		if j.added > 0 {
			out.Repositories++
			out.Commits += j.added
		}
		switch {
		case ctx.Err() != nil || errors.Is(err, store.ErrBroken) || errors.Is(err, store.ErrDiskFull) || errors.Is(err, ErrLowDisk):
			return out, fmt.Errorf("history: %w", err)
		case err != nil:
			out.Failed = append(out.Failed, j.repository.Name+": "+err.Error())
			j.recordError(err)
		}
	}
	out.Took = ix.opts.Now().Sub(start)
	return out, nil
}

// unread lists the repositories whose history is missing or outdated.
func (ix *Indexer) unread() []uint32 {
	sn := ix.store.Snapshot()
	defer sn.Close()
	var ids []uint32
	for _, r := range sn.Repositories() {
		h := &r.History
		if r.Indexed() && (h.Tip != r.Commit() || h.Reading != "" || h.Depth != ix.opts.historyDepth() || lost(sn, h.Shards)) {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

// historyJob reads the history of one repository.
type historyJob struct {
	ix     *Indexer
	id     uint32
	report func(Progress)
	// repository is the record when the job began, git where its commits are.
	repository *store.Repository
	git        *git.Repo
	tip        string
	// sequence is Commit.Sequence of what is read.
	sequence uint32
	writer   *shard.Writer
	progress Progress
	// added counts the commits of this job; pending is what the shard begun adds
	// to the counts of the record.
	added   int
	pending historyCounts
	// people are those the mailmap changes.
	people store.People
}

// historyCounts are what a record counts.
type historyCounts struct {
	commits, diffs, tooLarge int
	newest                   int64
}

func (j *historyJob) run(ctx context.Context) (err error) {
	sn := j.ix.store.Snapshot()
	defer func() { err = errors.Join(err, sn.Close()) }()
	j.repository = sn.RepositoryByID(j.id)
	if j.repository == nil {
		return nil // removed meanwhile
	}
	j.tip = j.repository.Commit()
	if err := j.ix.checkDisk(); err != nil {
		return err
	}
	if j.git, err = j.ix.opts.Git.Open(ctx, j.ix.store.GitDir(j.repository)); err != nil {
		return err
	}
	plan, err := j.plan(ctx, sn)
	if err != nil {
		return err
	}
	if err := j.begin(plan); err != nil {
		return err
	}
	j.writer = j.ix.store.NewShardWriter()
	j.writer.MaxBlocks = j.ix.opts.ShardBlocks
	defer func() { err = errors.Join(err, j.writer.Close()) }()
	if err := j.read(ctx, plan); err != nil {
		return err
	}
	return j.end(ctx, plan)
}

// begin forgets what is not to be kept, and records that the tip is being read.
func (j *historyJob) begin(plan *historyPlan) error {
	return j.commit(func(sn *store.Snapshot, next *store.Repository, c *store.Change) error {
		h := &next.History
		if plan.again {
			*h = store.History{Sequence: h.Sequence, Shards: h.Shards}
		}
		h.Reading, h.Depth, h.Sequence = j.tip, j.ix.opts.historyDepth(), plan.sequence
		j.sequence = plan.sequence
		return j.forget(sn, next, plan, c)
	})
}

// forget buries the commits that are gone, and says so in the record.
func (j *historyJob) forget(sn *store.Snapshot, next *store.Repository, plan *historyPlan, c *store.Change) error {
	if len(plan.gone) == 0 && !plan.again {
		return nil
	}
	counts, newest := historyCounts{}, int64(0)
	left := map[uint32]bool{}
	var places []docRef
	err := eachCommit(sn, next, func(v shard.View, t *shard.Commits, i int) error {
		if !plan.again && !plan.gone[string(t.OID(i))] {
			newest = max(newest, t.CommitterSeconds[i])
			left[v.ID] = true
			return nil
		}
		docs, err := v.Documents()
		if err != nil {
			return err
		}
		counts.count(t, docs, i)
		for d := t.Message[i]; d < t.Message[i+1]; d++ {
			places = append(places, docRef{v.ID, uint16(d)})
		}
		return nil
	})
	if err != nil {
		return err
	}
	h := &next.History
	if !plan.again {
		h.Commits, h.Diffs, h.TooLarge = h.Commits-counts.commits, h.Diffs-counts.diffs, h.TooLarge-counts.tooLarge
	}
	h.Newest = newest
	h.Shards = slices.DeleteFunc(slices.Clone(h.Shards), func(id uint32) bool { return !left[id] })
	c.Dead, c.Drop = bury(sn, nil, places)
	return nil
}

// count adds a commit that is kept.
func (n *historyCounts) count(t *shard.Commits, docs *shard.Documents, i int) {
	n.commits++
	if t.State[i] == shard.CommitRead {
		n.diffs++
	}
	for d := t.Message[i]; d < t.Message[i+1]; d++ {
		if docs.Reason[d] == shard.ReasonTooLarge {
			n.tooLarge++
		}
	}
}

// eachCommit calls f for the live commits of r, except those in quarantined
// shards.
func eachCommit(sn *store.Snapshot, r *store.Repository, f func(v shard.View, t *shard.Commits, i int) error) error {
	for _, id := range r.History.Shards {
		v, ok := sn.Shard(id)
		if !ok || v.Quarantine != nil {
			continue
		}
		t, err := v.Commits()
		if err != nil {
			return err
		}
		for i := range t.Len() {
			if t.Repository[i] != r.ID || v.Dead != nil && v.Dead.Contains(uint16(t.Message[i])) {
				continue
			}
			if err := f(v, t, i); err != nil {
				return err
			}
		}
	}
	return nil
}

// commit changes the repository's record, unless it is gone, and the other
// records that change writes. Nothing else changes records meanwhile.
func (j *historyJob) commit(change func(*store.Snapshot, *store.Repository, *store.Change) error) error {
	return j.ix.update(func(tx *store.Tx) error {
		r := tx.Snapshot().RepositoryByID(j.id)
		if r == nil {
			return fmt.Errorf("repository %q: %w", j.repository.Name, store.ErrNotFound)
		}
		next := *r
		tx.Change.Repositories = []*store.Repository{&next}
		return change(tx.Snapshot(), &next, &tx.Change)
	})
}

// recordError keeps the error with the repository. The caller has it too, so
// nothing is lost when the store takes no more.
func (j *historyJob) recordError(cause error) {
	_ = j.commit(func(_ *store.Snapshot, next *store.Repository, _ *store.Change) error {
		next.History.LastError = redact.About(cause.Error(), next.Source)
		return nil
	})
}

// finish commits the shard begun.
func (j *historyJob) finish(ctx context.Context) error {
	if j.writer.Empty() {
		return nil
	}
	if err := j.ix.checkDisk(); err != nil {
		return err
	}
	written, err := j.writer.Finish(ctx)
	if err != nil {
		return err
	}
	err = j.commit(func(_ *store.Snapshot, next *store.Repository, c *store.Change) error {
		c.Add = []shard.Header{written}
		h, n := &next.History, &j.pending
		h.Shards = append(slices.Clone(h.Shards), written.ID)
		h.Commits, h.Diffs, h.TooLarge, h.Newest = h.Commits+n.commits, h.Diffs+n.diffs, h.TooLarge+n.tooLarge, max(h.Newest, n.newest)
		return nil
	})
	if err != nil {
		j.ix.discard([]shard.Header{written}, err)
		return err
	}
	j.added += j.pending.commits
	j.pending = historyCounts{}
	return nil
}

// end commits the last shard and records that the tip was reached.
func (j *historyJob) end(ctx context.Context, plan *historyPlan) error {
	if err := j.finish(ctx); err != nil {
		return err
	}
	sn := j.ix.store.Snapshot()
	defer sn.Close()
	mailmap, people, err := j.mapPeople(ctx, sn)
	if err != nil {
		return err
	}
	return j.commit(func(_ *store.Snapshot, next *store.Repository, c *store.Change) error {
		h := &next.History
		h.Tip, h.Reading, h.LastError, h.LastRead, h.Mailmap = j.tip, "", "", j.ix.opts.Now().UTC(), mailmap
		h.More = plan.more
		if people != nil {
			c.People = map[uint32]store.People{j.id: people}
		}
		return nil
	})
}

// mapPeople returns who people are by the mailmap of the tip, nil if that says
// nothing new, and the mailmap's object id. A new mailmap is asked about all.
func (j *historyJob) mapPeople(ctx context.Context, sn *store.Snapshot) (mailmap string, people store.People, err error) {
	r := sn.RepositoryByID(j.id)
	if j.tip == "" || r == nil {
		return "", store.People{}, nil
	}
	if mailmap, err = j.git.Mailmap(ctx, j.tip); err != nil {
		return "", nil, err
	}
	if mailmap == r.History.Mailmap {
		if len(j.people) == 0 {
			return mailmap, nil, nil
		}
		if people, err = sn.People(j.id); err != nil {
			return "", nil, err
		}
		if people == nil {
			people = store.People{}
		}
		for from, to := range j.people {
			if len(people) < store.MaxPeople {
				people[from] = to
			}
		}
		return mailmap, people, nil
	}
	if mailmap == "" {
		return "", store.People{}, nil
	}
	people, err = j.mapAll(ctx, sn, r)
	return mailmap, people, err
}

// mapAll asks the mailmap of the tip about everybody.
func (j *historyJob) mapAll(ctx context.Context, sn *store.Snapshot, r *store.Repository) (store.People, error) {
	known := map[git.Person]bool{}
	var all []git.Person
	add := func(p shard.Person) {
		if g := git.Person(p); !known[g] {
			known[g] = true
			all = append(all, g)
		}
	}
	err := eachCommit(sn, r, func(_ shard.View, t *shard.Commits, i int) error {
		add(t.People[t.Author[i]])
		add(t.People[t.Committer[i]])
		return nil
	})
	if err != nil {
		return nil, err
	}
	mapped, err := j.git.MapPeople(ctx, j.tip, all)
	if err != nil {
		return nil, err
	}
	people := store.People{}
	for i, p := range all {
		if mapped[i] != p && len(people) < store.MaxPeople {
			people[shard.Person(p)] = shard.Person(mapped[i])
		}
	}
	return people, nil
}

func unhex(oid string) []byte {
	b, err := hex.DecodeString(oid)
	if err != nil {
		panic("ingest: git gave an object id that is not hex: " + oid)
	}
	return b
}
