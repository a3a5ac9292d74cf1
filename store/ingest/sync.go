package ingest

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/git"
	"github.com/trawlsearch/trawl/store/lang"
	"github.com/trawlsearch/trawl/store/text"
)

// Result tells what a sync did.
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
func (ix *Indexer) Sync(ctx context.Context, name string, report func(Progress)) (Result, error) {
	if report == nil {
		report = func(Progress) {}
	}
	ix.mu.Lock()
	defer ix.mu.Unlock()
	start := ix.opts.Now()
	sn := ix.store.Snapshot()
	defer sn.Close()
	r, err := sn.Repository(name)
	if err != nil {
		return Result{}, err
	}
	job := &syncJob{ix: ix, sn: sn, report: report, next: *r}
	if err := job.run(ctx); err != nil {
		ix.discard(job.change.Add)
		err = fmt.Errorf("sync %q: %w", name, err)
		if ctx.Err() == nil {
			ix.recordError(r, err)
		}
		return Result{}, err
	}
	job.result.Took = ix.opts.Now().Sub(start)
	return job.result, nil
}

// recordError keeps the error with the repository for people to see. The
// caller has it too, so nothing is lost when the store takes no more.
func (ix *Indexer) recordError(r *store.Repository, err error) {
	next := *r
	next.LastError = err.Error()
	_ = ix.store.Commit(store.Change{Repositories: []*store.Repository{&next}})
}

// syncJob is one run of Sync.
type syncJob struct {
	ix     *Indexer
	sn     *store.Snapshot
	report func(Progress)
	// next is the record to be committed.
	next   store.Repository
	change store.Change
	result Result
	// added counts what was written, buried is what was marked dead.
	added  totals
	buried []place
}

// item is a document to be written.
type item struct {
	path    string
	oid     string
	mode    uint32
	quality byte
}

func (j *syncJob) run(ctx context.Context) error {
	if err := j.ix.checkDisk(); err != nil {
		return err
	}
	repo, err := j.fetch(ctx)
	if err != nil {
		return err
	}
	branch, err := repo.DefaultBranch(ctx)
	if err != nil && !errors.Is(err, git.ErrEmpty) {
		return err
	}
	now := j.ix.opts.Now().UTC()
	j.next.LastFetched, j.next.LastError = now, ""
	admission := j.ix.opts.admission()
	if j.next.Indexed() && j.next.Commit() == branch.Commit && j.next.Admission == admission {
		if branch.Commit != "" {
			// A new slice: the old one belongs to the record that searches read.
			j.next.Branches = []store.Branch{{Name: branch.Name, Commit: branch.Commit}}
		}
		j.result.Unchanged = j.next.Documents
		return j.commit()
	}
	if err := j.update(ctx, repo, branch.Commit, j.next.Admission == admission); err != nil {
		return err
	}
	j.next.Branches = nil
	if branch.Commit != "" {
		j.next.Branches = []store.Branch{{Name: branch.Name, Commit: branch.Commit}}
	}
	j.next.Admission, j.next.LastIndexed = admission, now
	j.next.Generation++
	j.report(Progress{Phase: "commit"})
	return j.commit()
}

func (j *syncJob) commit() error {
	j.change.Repositories = []*store.Repository{&j.next}
	if err := j.ix.store.Commit(j.change); err != nil {
		return err
	}
	j.result.Repository = &j.next
	return nil
}

// fetch returns the git repository, a mirror brought up to date.
func (j *syncJob) fetch(ctx context.Context) (*git.Repo, error) {
	if !j.next.Mirror {
		return git.Open(ctx, j.next.Source)
	}
	note := func(line string) { j.report(Progress{Phase: "fetch", Note: line}) }
	repo, err := git.Mirror(ctx, j.next.Source, j.ix.mirrorDir(j.next.ID), note)
	if err != nil {
		return nil, err
	}
	return repo, repo.Fetch(ctx, note)
}

// update compares the commit's tree with what is live and writes the rest.
// keep says that unchanged documents may stay.
func (j *syncJob) update(ctx context.Context, repo *git.Repo, commit string, keep bool) error {
	j.report(Progress{Phase: "list"})
	live, err := liveDocuments(ctx, j.sn, &j.next)
	if err != nil {
		return err
	}
	var items []item
	shards := map[uint32]bool{}
	if commit != "" {
		err = repo.ListTree(ctx, commit, func(e git.TreeEntry) error {
			if len(e.Path) > store.MaxPathBytes {
				return fmt.Errorf("path of %d bytes, %.40q...: the limit is %d", len(e.Path), e.Path, store.MaxPathBytes)
			}
			if old := live[e.Path]; old != nil && keep && old.oid == e.OID && old.mode == e.Mode {
				old.kept = true
				shards[old.shard] = true
				return nil
			}
			items = append(items, item{e.Path, e.OID, e.Mode, quality(e.Path)})
			return nil
		})
		if err != nil {
			return err
		}
	}
	items = rank(items, live)
	j.buried = live.unkept()
	j.result.Unchanged = len(live) - len(j.buried)
	j.change.Dead, j.change.Drop = bury(j.sn, j.buried)
	j.result.Removed = len(j.buried)
	if err := j.write(ctx, repo, items); err != nil {
		return err
	}
	for _, h := range j.change.Add {
		shards[h.ID] = true
	}
	j.next.Shards = j.next.Shards[:0:0]
	for id := range shards {
		j.next.Shards = append(j.next.Shards, id)
	}
	slices.Sort(j.next.Shards)
	return j.count()
}

// rank sorts items as they are to be written. A tree made by hand may name a
// path twice, but a document is known by its path: of items the first stays,
// unless a document that is kept has the path.
func rank(items []item, live liveSet) []item {
	slices.SortStableFunc(items, func(a, b item) int {
		return cmp.Or(cmp.Compare(a.quality, b.quality), strings.Compare(a.path, b.path))
	})
	items = slices.CompactFunc(items, func(a, b item) bool { return a.path == b.path })
	return slices.DeleteFunc(items, func(it item) bool {
		old := live[it.path]
		return old != nil && old.kept
	})
}

// quality ranks a document by its path: what people look for first.
func quality(path string) byte {
	switch {
	case lang.IsGenerated(path, nil):
		return 3
	case lang.IsVendored(path):
		return 2
	case lang.IsTest(path):
		return 1
	}
	return 0
}

// count recomputes the totals of the repository: those before, less the dead,
// plus what was written.
func (j *syncJob) count() error {
	sum := j.added
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
	w := &documentWriter{job: j, shards: j.ix.store.NewShardWriter(), total: len(items)}
	w.shards.MaxBlocks = j.ix.opts.ShardBlocks
	defer w.shards.Close()
	blobs, err := repo.Blobs(ctx)
	if err != nil {
		return err
	}
	defer blobs.Close()
	// Submodules have no blob; runs of items between them are read at once.
	for len(items) > 0 {
		n := slices.IndexFunc(items, func(it item) bool { return it.mode == git.ModeSubmodule })
		if n == 0 {
			d := w.document(items[0])
			d.Reason = store.ReasonSubmodule
			if err := w.add(ctx, d, nil); err != nil {
				return err
			}
			items = items[1:]
			continue
		}
		if n < 0 {
			n = len(items)
		}
		if err := w.readBlobs(ctx, blobs, items[:n]); err != nil {
			return err
		}
		items = items[n:]
	}
	return w.finish(ctx)
}

// documentWriter turns blobs into documents in shards.
type documentWriter struct {
	job    *syncJob
	shards *store.ShardWriter
	done   int
	total  int
}

func (w *documentWriter) readBlobs(ctx context.Context, blobs *git.BlobReader, items []item) error {
	oids := make([]string, len(items))
	for i, it := range items {
		oids[i] = it.oid
	}
	return blobs.Read(ctx, oids, w.job.ix.opts.MaxTextBytes, func(i int, b git.Blob) error {
		d := w.document(items[i])
		d.FileBytes = uint32(min(b.Size, 1<<32-1))
		w.job.result.Bytes += int64(len(b.Data))
		switch {
		case errors.Is(b.Err, git.ErrTooLarge):
			d.Reason = store.ReasonTooLarge
		case errors.Is(b.Err, git.ErrCorrupt):
			d.Reason = store.ReasonCorrupt
		case b.Err != nil:
			d.Reason = store.ReasonMissing
		default:
			return w.admit(ctx, d, b.Data)
		}
		d.Language = lang.Detect(d.Path, nil)
		return w.add(ctx, d, nil)
	})
}

// admit decides what of a file's content can be searched.
func (w *documentWriter) admit(ctx context.Context, d store.Document, data []byte) error {
	decoded, reason := text.Decode(data)
	if reason != "" {
		d.Reason = store.ReasonBinary
		d.Language = lang.Detect(d.Path, nil)
		return w.add(ctx, d, nil)
	}
	if int64(len(decoded.Data)) > w.job.ix.opts.MaxTextBytes {
		d.Reason = store.ReasonTooLarge
		return w.add(ctx, d, nil)
	}
	d.Encoding = decoded.Encoding
	if d.Mode != git.ModeSymlink {
		d.Language = lang.Detect(d.Path, decoded.Data)
	}
	return w.add(ctx, d, decoded.Data)
}

func (w *documentWriter) document(it item) store.Document {
	oid, err := hex.DecodeString(it.oid)
	if err != nil {
		panic("ingest: git gave an object id that is not hex: " + it.oid)
	}
	return store.Document{
		Repository: w.job.next.ID, Path: it.path, OID: oid, Mode: it.mode, Quality: it.quality, Branches: 1,
	}
}

// reportEvery is how many documents lie between two reports of progress.
const reportEvery = 256

func (w *documentWriter) add(ctx context.Context, d store.Document, content []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
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
	if w.done++; w.done%reportEvery == 0 || w.done == w.total {
		w.job.report(Progress{Phase: "index", Done: w.done, Total: w.total, Bytes: w.job.result.Bytes})
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
	return nil
}

// totals count documents.
type totals struct {
	documents int
	textBytes int64
	skipped   int
}

func (t *totals) add(textBytes uint32, r store.Reason) {
	t.documents++
	t.textBytes += int64(textBytes)
	if r != store.Searchable {
		t.skipped++
	}
}

func (t *totals) remove(textBytes uint32, r store.Reason) {
	t.documents--
	t.textBytes -= int64(textBytes)
	if r != store.Searchable {
		t.skipped--
	}
}
