package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/admit"
	"github.com/trawlsearch/trawl/store/git"
	"github.com/trawlsearch/trawl/store/redact"
	"github.com/trawlsearch/trawl/store/shard"
	"github.com/trawlsearch/trawl/store/span"
)

// Result counts what a sync did.
type Result struct {
	Repository *store.Repository
	// Added counts documents written, Removed those marked dead, Unchanged
	// those left where they were.
	Added, Removed, Unchanged int
	// Bytes counts the bytes of files read.
	Bytes int64
	// Reasons counts the documents written whose content cannot be searched, by why.
	Reasons [shard.NumReasons]int
	// AsBefore says that the source was as it is indexed, and nothing was written.
	AsBefore bool
	Took     time.Duration
}

// Sync brings the searchable state of a repository up to its source and
// switches to it in one commit. Documents whose path, blob and mode are
// unchanged stay where they are. On error the last generation stays, and the
// error is recorded with the repository. report may be nil.
//
// A mirror is fetched while others are synced, a few at a time; what comes
// behind that waits for its turn. Result.Took, which is there after an error as
// well, is the time without waiting.
func (ix *Indexer) Sync(ctx context.Context, name string, report func(Progress)) (Result, error) {
	return ix.syncNamed(ctx, name, false, report)
}

// Renew is Sync with a mirror that is made anew, such as when the old one is
// damaged. That stays if the source cannot be reached.
func (ix *Indexer) Renew(ctx context.Context, name string, report func(Progress)) (Result, error) {
	return ix.syncNamed(ctx, name, true, report)
}

func (ix *Indexer) syncNamed(ctx context.Context, name string, anew bool, report func(Progress)) (Result, error) {
	if report == nil {
		report = func(Progress) {}
	}
	id, err := ix.id(name)
	if err != nil {
		return Result{}, err
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	leave, err := ix.holds.take(ctx, id, end, func(*hold) { report(Progress{Phase: "wait"}) })
	if err != nil {
		return Result{}, fmt.Errorf("sync %q: %w", name, err)
	}
	defer leave()
	res, err := ix.syncHeld(ctx, id, anew, report)
	if err != nil && context.Cause(ctx) == errRemoved {
		err = errRemoved
	}
	if err != nil {
		err = fmt.Errorf("sync %q: %w", name, err)
	}
	return res, err
}

func (ix *Indexer) id(name string) (id uint32, err error) {
	sn := ix.store.Snapshot()
	defer func() { err = errors.Join(err, sn.Close()) }()
	r, err := sn.Repository(name)
	if err != nil {
		return 0, err
	}
	return r.ID, nil
}

func (ix *Indexer) syncHeld(ctx context.Context, id uint32, anew bool, report func(Progress)) (Result, error) {
	f := ix.Mirrors.fetch(ctx, id, anew, report)
	if f.unchanged != nil {
		return Result{Repository: f.unchanged, Unchanged: f.unchanged.Documents, AsBefore: true, Took: f.took}, nil
	}
	if ctx.Err() != nil {
		return Result{Took: f.took}, errors.Join(f.err, ctx.Err())
	}
	var res Result
	took := f.took
	try := func(by func(context.Context, uint32, fetched, func(Progress)) (Result, error)) (err error) {
		for range overtakenAtMost {
			res, err = by(ctx, id, f, report)
			took += res.Took
			if !errors.Is(err, errOvertaken) {
				break
			}
		}
		return err
	}
	err := ix.changes.heal(ctx, func() error {
		err := try(ix.syncInGroup)
		if errors.Is(err, errNotSmall) || errors.Is(err, errOvertaken) {
			err = try(ix.syncAlone)
		}
		return err
	})
	res.Took = took
	return res, err
}

// overtakenAtMost is how often a sync is prepared that merges overtake, or other nodes.
// A small one has the merges of this node wait then.
const overtakenAtMost = 3

// syncAlone is Sync of what was fetched, one repository at a time, however large
// it is. No shard is rewritten meanwhile.
func (ix *Indexer) syncAlone(ctx context.Context, id uint32, f fetched, report func(Progress)) (Result, error) {
	end, err := ix.opts.Turn(ctx, report)
	if err != nil {
		return Result{}, err
	}
	defer end()
	leave, err := ix.changes.rewrite(ctx)
	if err != nil {
		return Result{}, err
	}
	defer leave()
	start := ix.opts.Now()
	res, err := ix.syncBy(ctx, id, report, func(job *syncJob) error {
		if err := job.prepare(ctx, f); err != nil {
			return err
		}
		if job.same {
			return nil
		}
		within, end := span.Start(ctx, "sync", "index")
		err := job.write(within)
		end(err)
		return err
	})
	res.Took = ix.opts.Now().Sub(start)
	return res, err
}

// syncBy makes a job, has it prepared and written, and commits it unless that was
// done.
func (ix *Indexer) syncBy(ctx context.Context, id uint32, report func(Progress), write func(*syncJob) error) (Result, error) {
	sn, err := ix.changes.begin()
	if err != nil {
		return Result{}, err
	}
	defer sn.Close()
	r := sn.RepositoryByID(id)
	if r == nil {
		return Result{}, store.ErrNotFound
	}
	job := &syncJob{ix: ix, sn: sn, report: report, base: r, next: *r, lost: lost(sn, r.Shards), ended: ctx.Err}
	err = write(job)
	if err == nil && !job.committed {
		report(Progress{Phase: "commit"})
		err = ix.commitSyncs([]*syncJob{job}, job.headers)
		err = cmp.Or(err, job.err)
	}
	switch _, damaged := shard.Damaged(err); {
	case err == nil:
		return job.result, nil
	case errors.Is(err, errNotSmall), errors.Is(err, errOvertaken):
	case !damaged && ctx.Err() == nil:
		ix.recordError(r.ID, err)
	}
	if !job.committed {
		ix.changes.discard(job.headers, err)
	}
	return Result{}, err
}

// recordError keeps the error with the repository for people to see. The
// caller has it too, so nothing is lost when the store takes no more.
func (ix *Indexer) recordError(id uint32, why error) {
	_ = ix.changes.update(func(tx *store.Tx) error {
		r := tx.Snapshot().RepositoryByID(id)
		if r == nil {
			return nil
		}
		next := *r
		if next.LastError = redact.About(fmt.Sprintf("sync %q: %v", r.Name, why), ix.sources.address(r)); next.LastError != r.LastError {
			tx.Change.Repositories = []*store.Repository{&next}
		}
		return nil
	})
}

// syncJob is one run of Sync.
type syncJob struct {
	ix     *Indexer
	sn     *store.Snapshot
	report func(Progress)
	// ended returns the error of a sync that was given up.
	ended func() error
	// lost says that documents are in quarantined shards, and have to be
	// written anew.
	lost bool
	// base is the record that the job was prepared from, next what it is to be.
	base   *store.Repository
	next   store.Repository
	result Result
	repo   *git.Repo
	// fetched is when the source was looked at, zero if it was not.
	fetched time.Time
	// unfetched is why a mirror is used as it is.
	unfetched error
	// unread reports branches that are left out because they cannot be read.
	unread []error
	// small says that the job is for a group. same says that no document changes.
	small, same bool
	// live are the documents of base until they have been compared, items those to be
	// written.
	live  liveSet
	items []item
	// kept are documents of base that stay, if there are branches that may lack them;
	// keptIn are the shards of all that stay.
	kept   []liveDocument
	keptIn map[uint32]bool
	// added and removed count what is written and what is marked dead, buried is
	// the latter.
	added, removed totals
	buried         []docRef
	// nextBranches are those of the next generation, written the documents
	// written for it, in the shards headers.
	nextBranches []store.Branch
	written      []writtenDocument
	headers      []shard.Header
	// texts are what was read of items by a job that is written in a group.
	texts     []readDocument
	textBytes int
	// committed says that the job is done, err why it was not.
	committed bool
	err       error
}

// item is a document to be written.
type item struct {
	fileKey
	// size is that of the blob in bytes, -1 if it is not known.
	size    int64
	quality byte
	// held has a bit for each branch that has it.
	held uint64
}

type writtenDocument struct {
	docRef
	held uint64
}

// prepare compares the source with what is live. It changes nothing.
func (j *syncJob) prepare(ctx context.Context, f fetched) (err error) {
	if err := j.ix.Room.check(); err != nil {
		return err
	}
	if j.repo, err = j.source(ctx, f); err != nil {
		return err
	}
	if j.nextBranches, j.next.BranchesLeftOut, err = j.branches(ctx, j.repo); err != nil {
		return err
	}
	if j.unfetched == nil {
		j.fetched = f.at
	}
	admission := j.ix.opts.admission()
	j.same = !j.lost && j.next.Indexed() && sameCommits(j.next.Branches, j.nextBranches) && j.next.Admission == admission
	if j.same {
		j.result.Unchanged = j.next.Documents
		j.confirm()
		return nil
	}
	j.report(Progress{Phase: "list"})
	if j.small && j.base.Documents > mostListedDocuments {
		return errNotSmall
	}
	if err := j.list(ctx, j.repo, j.next.Admission == admission); err != nil {
		if errors.Is(err, errNotSmall) {
			return errNotSmall
		}
		if _, why := j.repo.DefaultBranch(ctx); why != nil {
			return why // it says more
		}
		return err
	}
	rank(j.items)
	j.buried = j.live.unkept()
	j.result.Unchanged = len(j.live) - len(j.buried)
	j.result.Removed, j.result.Added = len(j.buried), len(j.items)
	if err := j.countRemoved(); err != nil {
		return err
	}
	j.keptIn = map[uint32]bool{}
	for _, d := range j.live {
		if d.held == 0 {
			continue
		}
		j.keptIn[d.shard] = true
		if len(j.nextBranches) > 1 {
			j.kept = append(j.kept, *d)
		}
	}
	j.live = nil
	return nil
}

// record returns the record of the next generation, which keeps what others have
// changed of the present one since the job was prepared. It fails with
// errOvertaken if that is where documents are.
func (j *syncJob) record(present *store.Repository) (*store.Repository, error) {
	if present == nil {
		return nil, store.ErrNotFound
	}
	if present.Generation != j.base.Generation || !slices.Equal(present.Shards, j.base.Shards) {
		return nil, errOvertaken
	}
	next := *present
	next.Branches, next.BranchesLeftOut = j.nextBranches, j.next.BranchesLeftOut
	if !j.fetched.IsZero() {
		next.LastFetched = j.fetched
	}
	next.LastError = ""
	if err := errors.Join(append(j.unread, j.unfetched)...); err != nil {
		next.LastError = redact.About(strings.ReplaceAll(err.Error(), "\n", "; "), next.Source)
	}
	if j.same {
		return &next, nil
	}
	next.LastIndexed = j.ix.opts.Now().UTC()
	if present.Admission == j.base.Admission { // else reindexing was asked for meanwhile
		next.Admission = j.ix.opts.admission()
	}
	next.Generation++
	if j.lost {
		next.Documents, next.TextBytes, next.Skipped = 0, 0, 0
	}
	next.Documents += j.added.documents - j.removed.documents
	next.TextBytes += j.added.textBytes - j.removed.textBytes
	next.Skipped += j.added.skipped - j.removed.skipped
	j.result.Reasons = j.added.reasons
	shards := maps.Clone(j.keptIn)
	for _, w := range j.written {
		shards[w.shard] = true
	}
	next.Shards = slices.Sorted(maps.Keys(shards))
	return &next, nil
}

// source returns the git repository. Damaged parts can be made anew from the
// mirror.
func (j *syncJob) source(ctx context.Context, f fetched) (*git.Repo, error) {
	if !j.next.Mirror && f.err == nil {
		return j.ix.sources.open(ctx, &j.next)
	}
	if f.err == nil || !j.lost || !j.next.Mirror || ctx.Err() != nil {
		return f.git, f.err
	}
	old, err := j.ix.sources.open(ctx, &j.next)
	if err != nil {
		return nil, f.err
	}
	j.unfetched = f.err
	return old, nil
}

// list lists the branches. One that cannot be is left out, unless it is the
// default branch. keep says that unchanged documents may stay.
func (j *syncJob) list(ctx context.Context, repo *git.Repo, keep bool) error {
	for {
		live, err := liveDocuments(ctx, j.sn, &j.next)
		if err != nil {
			return err
		}
		l := &listing{live: live, sized: len(live) == 0, small: j.small}
		if err = l.list(ctx, repo, j.nextBranches, keep); err != nil && l.sized && ctx.Err() == nil && !errors.Is(err, errNotSmall) {
			l = &listing{live: live, small: j.small} // an object may be missing
			err = l.list(ctx, repo, j.nextBranches, keep)
		}
		var bad *branchError
		if !errors.As(err, &bad) || bad.number == 0 || ctx.Err() != nil || errors.Is(err, errNotSmall) {
			j.live, j.items = l.live, l.items
			return err
		}
		j.leaveOut(j.nextBranches[bad.number].Name, bad.err)
		j.nextBranches = slices.Delete(slices.Clone(j.nextBranches), bad.number, bad.number+1)
	}
}

// rank sorts items as they are to be written.
func rank(items []item) {
	slices.SortFunc(items, func(a, b item) int {
		return cmp.Or(cmp.Compare(a.quality, b.quality), strings.Compare(a.path, b.path),
			strings.Compare(a.oid, b.oid), cmp.Compare(a.mode, b.mode))
	})
}

// countRemoved counts what is marked dead. Where documents are lost the totals
// start at nothing, and those that stay are taken from it.
func (j *syncJob) countRemoved() error {
	if j.lost {
		for _, d := range j.live {
			if err := j.measure(d.docRef, j.removed.remove); err != nil {
				return err
			}
		}
	}
	for _, p := range j.buried {
		if err := j.measure(p, j.removed.add); err != nil {
			return err
		}
	}
	return nil
}

// measure calls count with what a document counts.
func (j *syncJob) measure(at docRef, count func(textBytes uint32, r shard.Reason)) error {
	v, _ := j.sn.Shard(at.shard)
	docs, err := v.Documents()
	if err == nil {
		count(docs.TextBytes[at.doc], docs.Reason[at.doc])
	}
	return err
}

// write reads the items' blobs and writes them to new shards.
func (j *syncJob) write(ctx context.Context) error {
	if len(j.items) == 0 {
		return nil
	}
	j.report(Progress{Phase: "index", Total: len(j.items)})
	w := &documentWriter{job: j, shards: j.ix.writers.begin(ctx, false)}
	defer w.shards.Close()
	if err := j.read(ctx, func(it item, b git.Blob) error { return w.add(ctx, it, b) }); err != nil {
		return err
	}
	return w.finish(ctx)
}

// read calls f with the blob of each item, in their order; that of a submodule is
// the zero value.
func (j *syncJob) read(ctx context.Context, f func(item, git.Blob) error) error {
	blobs, err := j.repo.Blobs(ctx)
	if err != nil {
		return err
	}
	defer blobs.Close()
	// Submodules have no blob; runs of items between them are read at once.
	for rest := j.items; len(rest) > 0; {
		n := slices.IndexFunc(rest, func(it item) bool { return it.mode == git.ModeSubmodule })
		if n == 0 {
			if err := f(rest[0], git.Blob{}); err != nil {
				return err
			}
			rest = rest[1:]
			continue
		}
		if n < 0 {
			n = len(rest)
		}
		oids, sizes := make([]string, n), make([]int64, n)
		for i, it := range rest[:n] {
			oids[i], sizes[i] = it.oid, it.size
		}
		err := blobs.ReadSized(ctx, oids, sizes, j.ix.opts.MaxTextBytes, func(i int, b git.Blob) error {
			j.result.Bytes += int64(len(b.Data))
			return f(rest[i], b)
		})
		if err != nil {
			return err
		}
		rest = rest[n:]
	}
	return nil
}

// document returns the document of an item, and its searchable text, which may
// share the memory of the blob.
func (j *syncJob) document(it item, b git.Blob) (shard.Document, []byte) {
	rules := admit.Rules{MaxTextBytes: j.ix.opts.MaxTextBytes}
	d, text := rules.Document(j.base.ID, git.TreeEntry{Path: it.path, OID: it.oid, Mode: it.mode}, b)
	d.Quality = it.quality
	return d, text
}

// documentWriter turns blobs into documents in shards.
type documentWriter struct {
	job    *syncJob
	shards *shard.Writer
	// done counts the items that were written; first is the first of the shard
	// begun.
	first, done int
}

// reportEvery is how many documents lie between two reports of progress.
const reportEvery = 256

func (w *documentWriter) add(ctx context.Context, it item, b git.Blob) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var d shard.Document
	var content []byte
	pace := w.job.ix.pace
	_ = pace.run(ctx, func() error {
		d, content = w.job.document(it, b)
		return nil
	})
	if !w.shards.Fits(len(content)) && !w.shards.Empty() {
		if err := w.finish(ctx); err != nil {
			return err
		}
	}
	indexed := int64(len(content)) <= w.job.ix.opts.MaxIndexedBytes
	if err := pace.run(ctx, func() error { return w.shards.AddDocument(d, content, indexed) }); err != nil {
		return err
	}
	w.job.added.add(uint32(len(content)), d.Reason)
	if w.done++; w.done%reportEvery == 0 || w.done == len(w.job.items) {
		w.job.report(Progress{Phase: "index", Done: w.done, Total: len(w.job.items), Bytes: w.job.result.Bytes})
	}
	return nil
}

func (w *documentWriter) finish(ctx context.Context) error {
	if w.shards.Empty() {
		return nil
	}
	if err := w.job.ix.Room.check(); err != nil {
		return err
	}
	var h shard.Header
	err := w.job.ix.pace.run(ctx, func() (err error) {
		h, err = w.shards.Finish(ctx)
		return err
	})
	if err != nil {
		return err
	}
	w.job.headers = append(w.job.headers, h)
	for n, it := range w.job.items[w.first:w.done] {
		w.job.written = append(w.job.written, writtenDocument{docRef{h.ID, uint16(n)}, it.held})
	}
	w.first = w.done
	return nil
}

// totals count documents.
type totals struct {
	documents int
	textBytes int64
	skipped   int
	// reasons counts those that add was given.
	reasons [shard.NumReasons]int
}

func (t *totals) add(textBytes uint32, r shard.Reason) {
	t.documents++
	t.textBytes += int64(textBytes)
	if r != shard.Searchable {
		t.skipped++
		t.reasons[r]++
	}
}

func (t *totals) remove(textBytes uint32, r shard.Reason) {
	t.documents--
	t.textBytes -= int64(textBytes)
	if r != shard.Searchable {
		t.skipped--
	}
}
