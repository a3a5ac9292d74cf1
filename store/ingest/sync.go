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
	Took  time.Duration
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
	f := ix.fetch(ctx, id, anew, report)
	if ctx.Err() != nil {
		return Result{Took: f.took}, errors.Join(f.err, ctx.Err())
	}
	end, err := ix.opts.Turn(ctx, report)
	if err != nil {
		return Result{Took: f.took}, err
	}
	defer end()
	ix.mu.Lock()
	defer ix.mu.Unlock()
	start := ix.opts.Now()
	var res Result
	err = ix.heal(ctx, func() (err error) {
		res, err = ix.sync(ctx, id, f, report)
		return err
	})
	res.Took = f.took + ix.opts.Now().Sub(start)
	return res, err
}

// sync is Sync of what was fetched, with mu held.
func (ix *Indexer) sync(ctx context.Context, id uint32, f fetched, report func(Progress)) (Result, error) {
	sn, err := ix.begin()
	if err != nil {
		return Result{}, err
	}
	defer sn.Close()
	r := sn.RepositoryByID(id)
	if r == nil {
		return Result{}, store.ErrNotFound
	}
	job := &syncJob{ix: ix, sn: sn, report: report, next: *r, lost: lost(sn, r.Shards)}
	if err := job.run(ctx, f); err != nil {
		ix.discard(job.change.Add, err)
		if _, damaged := shard.Damaged(err); !damaged && ctx.Err() == nil {
			recordError(sn, r, fmt.Errorf("sync %q: %w", r.Name, err))
		}
		return Result{}, err
	}
	return job.result, nil
}

// recordError keeps the error with the repository for people to see. The
// caller has it too, so nothing is lost when the store takes no more.
func recordError(sn *store.Snapshot, r *store.Repository, err error) {
	next := *r
	next.LastError = redact.About(err.Error(), r.Source)
	_ = sn.Commit(store.Change{Repositories: []*store.Repository{&next}})
}

// syncJob is one run of Sync.
type syncJob struct {
	ix     *Indexer
	sn     *store.Snapshot
	report func(Progress)
	// lost says that documents are in quarantined shards, and have to be
	// written anew.
	lost bool
	// next is the record to be committed.
	next   store.Repository
	change store.Change
	result Result
	// unfetched is why a mirror is used as it is.
	unfetched error
	// unread reports branches that are left out because they cannot be read.
	unread []error
	// added counts what was written, buried is what was marked dead.
	added  totals
	buried []docRef
	// nextBranches are those of the next generation, written the documents
	// written for it.
	nextBranches []store.Branch
	written      []writtenDocument
}

// item is a document to be written.
type item struct {
	fileKey
	quality byte
	// held has a bit for each branch that has it.
	held uint64
}

type writtenDocument struct {
	docRef
	held uint64
}

func (j *syncJob) run(ctx context.Context, f fetched) error {
	if err := j.ix.checkDisk(); err != nil {
		return err
	}
	repo, err := j.source(ctx, f)
	if err != nil {
		return err
	}
	if j.nextBranches, j.next.BranchesLeftOut, err = j.branches(ctx, repo); err != nil {
		return err
	}
	if j.unfetched == nil {
		j.next.LastFetched = f.at
	}
	admission := j.ix.opts.admission()
	same := !j.lost && j.next.Indexed() && sameCommits(j.next.Branches, j.nextBranches) && j.next.Admission == admission
	if same {
		j.next.Branches = j.nextBranches
		j.result.Unchanged = j.next.Documents
		return j.commit()
	}
	within, end := span.Start(ctx, "sync", "index")
	err = j.update(within, repo, j.next.Admission == admission)
	end(err)
	if err != nil {
		return err
	}
	j.next.Branches = j.nextBranches
	j.next.Admission, j.next.LastIndexed = admission, j.ix.opts.Now().UTC()
	j.next.Generation++
	j.report(Progress{Phase: "commit"})
	return j.commit()
}

func (j *syncJob) commit() error {
	j.next.LastError = ""
	if err := errors.Join(append(j.unread, j.unfetched)...); err != nil {
		j.next.LastError = redact.About(strings.ReplaceAll(err.Error(), "\n", "; "), j.next.Source)
	}
	j.change.Repositories = []*store.Repository{&j.next}
	if err := j.sn.Commit(j.change); err != nil {
		return err
	}
	j.result.Repository = &j.next
	return nil
}

// source returns the git repository. Damaged parts can be made anew from the
// mirror.
func (j *syncJob) source(ctx context.Context, f fetched) (*git.Repo, error) {
	if f.err == nil || !j.lost || !j.next.Mirror || ctx.Err() != nil {
		return f.git, f.err
	}
	old, err := j.ix.opts.Git.Open(ctx, j.ix.store.GitDir(&j.next))
	if err != nil {
		return nil, f.err
	}
	j.unfetched = f.err
	return old, nil
}

// update compares the trees of the branches with what is live and writes the
// rest. keep says that unchanged documents may stay.
func (j *syncJob) update(ctx context.Context, repo *git.Repo, keep bool) error {
	j.report(Progress{Phase: "list"})
	l, err := j.list(ctx, repo, keep)
	if err != nil {
		return err
	}
	live := l.live
	rank(l.items)
	j.buried = live.unkept()
	j.result.Unchanged = len(live) - len(j.buried)
	j.change.Dead, j.change.Drop = bury(j.sn, j.buried)
	j.result.Removed = len(j.buried)
	if err := j.write(ctx, repo, l.items); err != nil {
		return err
	}
	j.change.Away = j.away(live)
	shards := map[uint32]bool{}
	for _, d := range live {
		if d.held != 0 {
			shards[d.shard] = true
		}
	}
	for _, h := range j.change.Add {
		shards[h.ID] = true
	}
	j.next.Shards = slices.Sorted(maps.Keys(shards))
	return j.count(live)
}

// list lists the branches. One that cannot be is left out, unless it is the
// default branch.
func (j *syncJob) list(ctx context.Context, repo *git.Repo, keep bool) (*listing, error) {
	for {
		live, err := liveDocuments(ctx, j.sn, &j.next)
		if err != nil {
			return nil, err
		}
		l := &listing{live: live}
		err = l.list(ctx, repo, j.nextBranches, keep)
		var bad *branchError
		if !errors.As(err, &bad) || bad.number == 0 || ctx.Err() != nil {
			return l, err
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

// count recomputes the totals of the repository: those before, less the dead,
// plus what was written. Those before are counted where some are lost.
func (j *syncJob) count(live liveSet) error {
	sum := j.added
	if j.lost {
		j.next.Documents, j.next.TextBytes, j.next.Skipped = 0, 0, 0
		for _, d := range live {
			v, _ := j.sn.Shard(d.shard)
			docs, err := v.Documents()
			if err != nil {
				return err
			}
			sum.add(docs.TextBytes[d.doc], docs.Reason[d.doc])
		}
	}
	for _, p := range j.buried {
		v, _ := j.sn.Shard(p.shard)
		docs, err := v.Documents()
		if err != nil {
			return err
		}
		sum.remove(docs.TextBytes[p.doc], docs.Reason[p.doc])
	}
	j.next.Documents += sum.documents
	j.next.TextBytes += sum.textBytes
	j.next.Skipped += sum.skipped
	return nil
}

// write reads the items' blobs and writes them to new shards.
func (j *syncJob) write(ctx context.Context, repo *git.Repo, items []item) error {
	j.result.Added = len(items)
	if len(items) == 0 {
		return nil
	}
	w := &documentWriter{job: j, shards: j.ix.store.NewShardWriter(), items: items}
	w.shards.MaxBlocks = j.ix.opts.ShardBlocks
	defer w.shards.Close()
	blobs, err := repo.Blobs(ctx)
	if err != nil {
		return err
	}
	defer blobs.Close()
	// Submodules have no blob; runs of items between them are read at once.
	for rest := items; len(rest) > 0; {
		n := slices.IndexFunc(rest, func(it item) bool { return it.mode == git.ModeSubmodule })
		if n == 0 {
			if err := w.add(ctx, rest[0], git.Blob{}); err != nil {
				return err
			}
			rest = rest[1:]
			continue
		}
		if n < 0 {
			n = len(rest)
		}
		if err := w.readBlobs(ctx, blobs, rest[:n]); err != nil {
			return err
		}
		rest = rest[n:]
	}
	return w.finish(ctx)
}

// documentWriter turns blobs into documents in shards.
type documentWriter struct {
	job    *syncJob
	shards *shard.Writer
	// items are all that are to be written, done how many were; first is the
	// first of the shard begun.
	items       []item
	first, done int
}

func (w *documentWriter) readBlobs(ctx context.Context, blobs *git.BlobReader, items []item) error {
	oids := make([]string, len(items))
	for i, it := range items {
		oids[i] = it.oid
	}
	return blobs.Read(ctx, oids, w.job.ix.opts.MaxTextBytes, func(i int, b git.Blob) error {
		w.job.result.Bytes += int64(len(b.Data))
		return w.add(ctx, items[i], b)
	})
}

// reportEvery is how many documents lie between two reports of progress.
const reportEvery = 256

func (w *documentWriter) add(ctx context.Context, it item, b git.Blob) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	rules := admit.Rules{MaxTextBytes: w.job.ix.opts.MaxTextBytes}
	d, content := rules.Document(w.job.next.ID, git.TreeEntry{Path: it.path, OID: it.oid, Mode: it.mode}, b)
	d.Quality = it.quality
	if !w.shards.Fits(len(content)) && !w.shards.Empty() {
		if err := w.finish(ctx); err != nil {
			return err
		}
	}
	indexed := int64(len(content)) <= w.job.ix.opts.MaxIndexedBytes
	if err := w.shards.AddDocument(d, content, indexed); err != nil {
		return err
	}
	w.job.added.add(uint32(len(content)), d.Reason)
	if w.done++; w.done%reportEvery == 0 || w.done == len(w.items) {
		w.job.report(Progress{Phase: "index", Done: w.done, Total: len(w.items), Bytes: w.job.result.Bytes})
	}
	return nil
}

func (w *documentWriter) finish(ctx context.Context) error {
	if w.shards.Empty() {
		return nil
	}
	if err := w.job.ix.checkDisk(); err != nil {
		return err
	}
	h, err := w.shards.Finish(ctx)
	if err != nil {
		return err
	}
	w.job.change.Add = append(w.job.change.Add, h)
	if len(w.job.nextBranches) > 1 {
		for n, it := range w.items[w.first:w.done] {
			w.job.written = append(w.job.written, writtenDocument{docRef{h.ID, uint16(n)}, it.held})
		}
	}
	w.first = w.done
	return nil
}

// totals count documents.
type totals struct {
	documents int
	textBytes int64
	skipped   int
}

func (t *totals) add(textBytes uint32, r shard.Reason) {
	t.documents++
	t.textBytes += int64(textBytes)
	if r != shard.Searchable {
		t.skipped++
	}
}

func (t *totals) remove(textBytes uint32, r shard.Reason) {
	t.documents--
	t.textBytes -= int64(textBytes)
	if r != shard.Searchable {
		t.skipped--
	}
}
