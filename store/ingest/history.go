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

// Histories are the commits of a store's repositories. It guards that one pass at a
// time reads them.
type Histories struct {
	store   *store.Store
	opts    Options
	changes *changes
	room    *Room
	mirrors *Mirrors
	writers *writers
	// groups are the small syncs, which go before.
	groups *groups
	// turn holds a token while commits are read.
	turn chan struct{}
}

// Read reads the commits of all repositories that were synced since their
// commits were last read. Old ones are read no more; those that cannot be
// reached any more are forgotten. Small histories are read side by side and
// committed in groups. Behind them each larger one is committed shard by shard,
// newest commits first, so that an interrupted pass goes on where it was. Syncs
// and merges go on meanwhile. It reports progress in phase "history"; report may
// be nil.
func (hs *Histories) Read(ctx context.Context, report func(Progress)) (HistoryResult, error) {
	var out HistoryResult
	if report == nil {
		report = func(Progress) {}
	}
	select {
	case hs.turn <- struct{}{}:
		defer func() { <-hs.turn }()
	case <-ctx.Done():
		return out, fmt.Errorf("history: %w", ctx.Err())
	}
	start := hs.opts.Now()
	p := &historyPass{hs: hs, report: report, out: &out, progress: Progress{Phase: "history"}}
	if err := p.run(ctx, hs.unread()); err != nil {
		return out, fmt.Errorf("history: %w", err)
	}
	slices.Sort(out.Failed)
	out.Took = hs.opts.Now().Sub(start)
	return out, nil
}

// historyPass is one call of Histories.Read.
type historyPass struct {
	hs     *Histories
	report func(Progress)
	out    *HistoryResult
	// alone are the repositories that are read one by one.
	alone []uint32
	// progress is that of small histories.
	progress Progress
}

// run reads the small histories and then the others.
func (p *historyPass) run(ctx context.Context, ids []uint32) error {
	if err := p.readSmall(ctx, ids); err != nil {
		return err
	}
	for _, id := range p.alone {
		if err := p.readAlone(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// readAlone reads the history of one repository, however large it is.
func (p *historyPass) readAlone(ctx context.Context, id uint32) error {
	began := p.hs.opts.Now()
	j := &historyJob{hs: p.hs, id: id, report: p.report}
	err := errOvertaken
	for n := 0; n < overtakenAtMost && errors.Is(err, errOvertaken); n++ {
		err = p.hs.changes.heal(ctx, func() error {
			*j = historyJob{hs: p.hs, id: id, report: p.report, added: j.added}
			return j.run(ctx)
		})
	}
	j.err, j.took = err, p.hs.opts.Now().Sub(began)
	return p.count(ctx, j)
}

// count counts what a job has read. It returns the error that ends the pass.
func (p *historyPass) count(ctx context.Context, j *historyJob) error {
	if j.added > 0 {
		p.out.Repositories++
		p.out.Commits += j.added
	}
	if j.err != nil && hopeless(ctx, j.err) {
		return j.err
	}
	if j.added > 0 || j.err != nil {
		p.hs.opts.Followed(Followed{Repository: j.id, Phase: "history", Count: j.added, Took: j.took, Err: j.err})
	}
	if j.err == nil {
		return nil
	}
	p.out.Failed = append(p.out.Failed, j.repository.Name+": "+j.err.Error())
	j.recordError(j.err)
	return nil
}

// unread lists the repositories whose history is missing or outdated.
func (hs *Histories) unread() []uint32 {
	sn := hs.store.Snapshot()
	defer sn.Close()
	var ids []uint32
	for _, r := range sn.Repositories() {
		h := &r.History
		if r.Indexed() && hs.opts.Mine(r.ID) && (h.Tip != r.Commit() || h.Reading != "" || h.Depth != hs.opts.historyDepth() || lost(sn, h.Shards)) {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

// historyJob reads the history of one repository.
type historyJob struct {
	hs     *Histories
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
	// whole says that what is kept stays until all was read again: headers are the
	// shards that were written for it, and are committed at once.
	whole   bool
	headers []shard.Header
	// small says that the job is for a group, plan is what it reads, and held what
	// was read.
	small bool
	plan  *historyPlan
	held  []heldCommit
	// heldBytes is about the memory of that, written where it was written to.
	heldBytes int
	written   []docRef
	// mailmap is the one of the tip.
	mailmap string
	// err is why the history is not read, took how long that or the reading took.
	err  error
	took time.Duration
}

// historyCounts are what a record counts.
type historyCounts struct {
	commits, diffs, tooLarge int
	newest                   int64
}

func (j *historyJob) run(ctx context.Context) (err error) {
	sn := j.hs.store.Snapshot()
	defer func() { err = errors.Join(err, sn.Close()) }()
	j.repository = sn.RepositoryByID(j.id)
	if j.repository == nil {
		return nil // removed meanwhile
	}
	j.tip = j.repository.Commit()
	if err := j.hs.room.check(); err != nil {
		return err
	}
	if j.git, err = j.hs.mirrors.open(ctx, j.repository); err != nil {
		return err
	}
	if j.plan, err = j.makePlan(ctx, sn); err != nil {
		return err
	}
	if j.whole = j.repository.History.Again(); j.whole {
		j.sequence = j.plan.sequence
		defer func() {
			if err != nil {
				j.hs.changes.discard(j.headers, err)
			}
		}()
	} else if err := j.begin(); err != nil {
		return err
	}
	j.writer = j.hs.writers.begin(ctx, false)
	defer func() { err = errors.Join(err, j.writer.Close()) }()
	if err := j.read(ctx, j.plan); err != nil {
		return err
	}
	return j.end(ctx)
}

// begin forgets what is not to be kept, and records that the tip is being read.
func (j *historyJob) begin() error {
	return j.commit(func(sn *store.Snapshot, next *store.Repository, c *store.Change) error {
		places, err := j.forget(sn, next)
		if err != nil {
			return err
		}
		next.History.Reading = j.tip
		if j.plan.again && j.repository.History.Mailmap != "" {
			c.People = map[uint32]store.People{j.id: {}}
		}
		c.Dead, c.Drop = bury(sn, nil, places)
		return nil
	})
}

// forget drops from a record the commits that are gone, and returns their documents.
// It fails with errOvertaken if the plan was made of another reading, or without
// knowing of commits that are lost.
func (j *historyJob) forget(sn *store.Snapshot, next *store.Repository) ([]docRef, error) {
	h, base, plan := &next.History, &j.repository.History, j.plan
	if h.Sequence != base.Sequence || h.Tip != base.Tip || h.Reading != base.Reading || h.Mailmap != base.Mailmap || h.Depth != base.Depth {
		return nil, errOvertaken
	}
	if !plan.again && lost(sn, h.Shards) {
		return nil, errOvertaken
	}
	j.sequence = plan.sequence
	shards := h.Shards
	if plan.again {
		*h = store.History{Shards: shards}
	}
	h.Depth, h.Sequence = j.hs.opts.historyDepth(), plan.sequence
	if len(plan.gone) == 0 && !plan.again {
		return nil, nil
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
		return nil, err
	}
	if !plan.again {
		h.Commits, h.Diffs, h.TooLarge = h.Commits-counts.commits, h.Diffs-counts.diffs, h.TooLarge-counts.tooLarge
	}
	h.Newest = newest
	h.Shards = slices.DeleteFunc(slices.Clone(shards), func(id uint32) bool { return !left[id] })
	return places, nil
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

// addTo adds to a record what was written to shards.
func (n *historyCounts) addTo(h *store.History, shards ...uint32) {
	h.Shards = append(slices.Clone(h.Shards), shards...)
	h.Commits, h.Diffs, h.TooLarge, h.Newest = h.Commits+n.commits, h.Diffs+n.diffs, h.TooLarge+n.tooLarge, max(h.Newest, n.newest)
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
	return j.hs.changes.update(func(tx *store.Tx) error {
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

// finish commits the shard begun, or keeps it for the commit of all.
func (j *historyJob) finish(ctx context.Context) error {
	if j.writer.Empty() {
		return nil
	}
	if err := j.hs.room.check(); err != nil {
		return err
	}
	written, err := j.writer.Finish(ctx)
	if err != nil {
		return err
	}
	if j.whole {
		j.headers = append(j.headers, written)
		j.written = append(j.written, docRef{written.ID, 0})
		return nil
	}
	err = j.commit(func(_ *store.Snapshot, next *store.Repository, c *store.Change) error {
		c.Add = []shard.Header{written}
		j.pending.addTo(&next.History, written.ID)
		return nil
	})
	if err != nil {
		j.hs.changes.discard([]shard.Header{written}, err)
		return err
	}
	j.added += j.pending.commits
	j.pending = historyCounts{}
	return nil
}

// end commits the last shard and records that the tip was reached.
func (j *historyJob) end(ctx context.Context) error {
	if err := j.finish(ctx); err != nil {
		return err
	}
	sn := j.hs.store.Snapshot()
	defer sn.Close()
	var err error
	if j.mailmap, j.people, err = j.mapPeople(ctx, sn); err != nil {
		return err
	}
	if j.whole {
		return j.endWhole()
	}
	return j.commit(func(_ *store.Snapshot, next *store.Repository, c *store.Change) error {
		j.reached(next, c)
		return nil
	})
}

// endWhole puts what was read in the place of what is kept, in one commit.
func (j *historyJob) endWhole() error {
	err := j.hs.changes.update(func(tx *store.Tx) error {
		c := store.Change{Add: j.headers}
		places, err := j.record(tx.Snapshot(), &c)
		if err != nil {
			return err
		}
		c.Dead, c.Drop = bury(tx.Snapshot(), j.headers, places)
		tx.Change = c
		return nil
	})
	if err != nil {
		return err
	}
	j.added, j.headers = j.pending.commits, nil
	return nil
}

// reached records that the tip was.
func (j *historyJob) reached(next *store.Repository, c *store.Change) {
	h := &next.History
	h.Tip, h.Reading, h.LastError, h.LastRead, h.Mailmap = j.tip, "", "", store.TimestampOf(j.hs.opts.Now()), j.mailmap
	h.More = j.plan.more
	if j.people == nil {
		return
	}
	if c.People == nil {
		c.People = map[uint32]store.People{}
	}
	c.People[j.id] = j.people
}

// mapPeople returns who people are by the mailmap of the tip, nil if that says
// nothing new, and the mailmap's object id. A new mailmap is asked about all.
func (j *historyJob) mapPeople(ctx context.Context, sn *store.Snapshot) (mailmap string, people store.People, err error) {
	r := sn.RepositoryByID(j.id)
	if j.tip == "" || r == nil {
		return "", store.People{}, nil
	}
	if mailmap, err = j.git.Mailmap(j.tip).OID(ctx); err != nil {
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
		addPeople(people, j.people)
		return mailmap, people, nil
	}
	if mailmap == "" {
		return "", store.People{}, nil
	}
	all := persons{}
	if err := all.addKept(sn, r); err != nil {
		return "", nil, err
	}
	if people, err = j.mapAll(ctx, all); err != nil {
		return "", nil, err
	}
	if j.whole { // what was read is not among the commits that are kept
		addPeople(people, j.people)
	}
	return mailmap, people, nil
}

// addPeople adds people to others, as many as a record has.
func addPeople(to, from store.People) {
	for person, mapped := range from {
		if len(to) < store.MaxPeople {
			to[person] = mapped
		}
	}
}

// persons are some persons, in the order of their number.
type persons map[git.Person]int

func (p persons) add(of ...shard.Person) {
	for _, person := range of {
		if _, known := p[git.Person(person)]; !known {
			p[git.Person(person)] = len(p)
		}
	}
}

// addKept adds those of the commits of a repository that are kept.
func (p persons) addKept(sn *store.Snapshot, r *store.Repository) error {
	return eachCommit(sn, r, func(_ shard.View, t *shard.Commits, i int) error {
		p.add(t.People[t.Author[i]], t.People[t.Committer[i]])
		return nil
	})
}

// mapAll asks the mailmap of the tip about persons.
func (j *historyJob) mapAll(ctx context.Context, asked persons) (store.People, error) {
	all := make([]git.Person, len(asked))
	for p, n := range asked {
		all[n] = p
	}
	mapped, err := j.git.Mailmap(j.tip).Map(ctx, all)
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
