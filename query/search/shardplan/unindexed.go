package shardplan

import (
	"context"
	"slices"
	"sync"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/query/search/target"
	"github.com/trawlsearch/trawl/query/search/task"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/admit"
	"github.com/trawlsearch/trawl/store/git"
	"github.com/trawlsearch/trawl/store/shard"
)

// Files that are in no shard are cut into chunks, which are read side by side,
// each reader with a git process of its own, and searched in order. The files of
// a chunk are searched in batches, each as a shard in memory; a file larger
// than a batch makes one of its own. A reader that is ahead waits, so that not
// more than batchesAhead of each are held.
const (
	chunkFiles   = 512
	batchBytes   = 4 << 20
	batchesAhead = 2
	maxReaders   = 4
)

// chunk are some files on their way through a reader.
type chunk struct {
	files []target.SharedFile
	// plans is closed when all were sent and err is set.
	plans chan *Plan
	err   error
}

// readUnindexed reads the files that the queries may match, and calls each with plans
// for them until it returns false.
func readUnindexed(ctx context.Context, t *task.Task, src *target.Unindexed, queries []*target.Query, each func(*Plan) bool) error {
	files := slices.DeleteFunc(slices.Clone(src.Files), func(f target.SharedFile) bool {
		return !slices.ContainsFunc(queries, func(b *target.Query) bool { return b.MayMatch(src.Repository.ID, f) })
	})
	if len(files) == 0 {
		return nil
	}
	reading, cancel := context.WithCancel(ctx)
	var readers sync.WaitGroup
	count, release := t.Git.Readers(min(t.Workers, maxReaders, (len(files)+chunkFiles-1)/chunkFiles))
	defer release()
	work, ordered := make(chan *chunk), make(chan *chunk, count)
	defer readers.Wait()
	defer cancel()
	for range count {
		readers.Go(func() { readChunks(reading, t, src.Repository, queries, work) })
	}
	readers.Go(func() {
		defer close(work)
		defer close(ordered)
		for part := range slices.Chunk(files, chunkFiles) {
			c := &chunk{files: part, plans: make(chan *Plan, batchesAhead)}
			for _, to := range []chan *chunk{ordered, work} {
				select {
				case to <- c:
				case <-reading.Done():
					return
				}
			}
		}
	})
	for c := range ordered {
		for p, more := c.next(reading); more; p, more = c.next(reading) {
			if !each(p) {
				return nil
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if c.err != nil {
			t.FailRepository(src.Repository, c.err)
			return c.err
		}
	}
	return ctx.Err()
}

// next waits for a plan; more is false when there is none left, or ctx ended.
func (c *chunk) next(ctx context.Context) (p *Plan, more bool) {
	select {
	case p, more = <-c.plans:
		return p, more
	case <-ctx.Done():
		return nil, false
	}
}

// readChunks reads chunks until there are no more.
func readChunks(ctx context.Context, t *task.Task, stored *store.Repository, queries []*target.Query, work <-chan *chunk) {
	var blobs *git.BlobReader
	defer func() {
		if blobs != nil {
			blobs.Close()
		}
	}()
	start := func() (err error) {
		if blobs != nil {
			return nil
		}
		repo, err := t.Git.Open(ctx, stored)
		if err != nil {
			return err
		}
		blobs, err = repo.Blobs(ctx)
		return err
	}
	for c := range work {
		if c.err = start(); c.err == nil {
			b := &batch{task: t, queries: queries, repo: stored, to: c.plans}
			c.err = b.read(ctx, blobs, c.files)
		}
		close(c.plans)
	}
}

// batch gathers files until they are worth a plan.
type batch struct {
	task    *task.Task
	queries []*target.Query
	repo    *store.Repository
	to      chan<- *Plan

	shard shard.Memory
	in    map[*target.Files]*postings.Set
}

// read reads files in order.
func (b *batch) read(ctx context.Context, blobs *git.BlobReader, files []target.SharedFile) error {
	// Submodules have no blob; runs of files between them are read at once.
	for len(files) > 0 {
		n := slices.IndexFunc(files, func(f target.SharedFile) bool { return f.Mode == git.ModeSubmodule })
		if n == 0 {
			if err := b.add(ctx, files[0], git.Blob{}); err != nil {
				return err
			}
			files = files[1:]
			continue
		}
		if n < 0 {
			n = len(files)
		}
		oids := make([]string, n)
		for i, f := range files[:n] {
			oids[i] = f.OID
		}
		err := blobs.Read(ctx, oids, b.task.MaxTextBytes, func(i int, blob git.Blob) error { return b.add(ctx, files[i], blob) })
		if err != nil {
			return err
		}
		files = files[n:]
	}
	return b.flush(ctx)
}

// add takes a file in by the rules of ingest.
func (b *batch) add(ctx context.Context, f target.SharedFile, blob git.Blob) error {
	d, text := admit.Rules{MaxTextBytes: b.task.MaxTextBytes}.Document(b.repo.ID, f.TreeEntry, blob)
	d.Quality = f.Quality
	if d.Reason == shard.ReasonMissing || d.Reason == shard.ReasonCorrupt {
		b.task.FailFile(b.repo.ID, f.Path, f.OID)
	}
	if b.shard.Len() > 0 && b.shard.Bytes()+len(text) > batchBytes {
		if err := b.flush(ctx); err != nil {
			return err
		}
	}
	if b.in == nil {
		b.in = map[*target.Files]*postings.Set{}
	}
	for _, c := range f.In {
		if b.in[c] == nil {
			b.in[c] = &postings.Set{}
		}
		b.in[c].Add(uint16(b.shard.Len()))
	}
	b.shard.Add(d, text)
	return nil
}

// flush plans the files that were gathered.
func (b *batch) flush(ctx context.Context) error {
	if b.shard.Len() == 0 {
		return nil
	}
	view, err := b.shard.View()
	if err != nil {
		return err
	}
	p, err := New(ctx, view, nil, b.in, b.queries, b.task.PlanBytes, b.task.Brute)
	if err != nil {
		return err
	}
	b.in = nil
	select {
	case b.to <- p:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
