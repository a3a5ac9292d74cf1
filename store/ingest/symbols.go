package ingest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/ctags"
	"github.com/trawlsearch/trawl/store/shard"
)

// ErrNoCtags says that the options name no ctags to read symbols with.
var ErrNoCtags = errors.New("symbols cannot be read without universal-ctags")

// SymbolsResult counts what a pass over the shards did.
type SymbolsResult struct {
	// Shards counts those whose symbols were written, Symbols what is in them.
	Shards, Symbols int
	// Documents counts those that were parsed.
	Documents int
	// Failed are documents that ctags could not parse, as repository/path and a
	// reason, at most MaxFailedNamed; FailedCount counts all.
	Failed      []string
	FailedCount int
	// Unknown counts documents in languages that ctags does not know, by the
	// name of the language, "" for those that are in none.
	Unknown map[string]int
	Took    time.Duration
}

// MaxFailedNamed is how many failed documents a result names.
const MaxFailedNamed = 20

// Symbols are what ctags finds in the shards of a store. It guards that one pass at a
// time reads them.
type Symbols struct {
	store   *store.Store
	opts    Options
	changes *changes
	room    *Room
	writers *writers
	// turn holds a token while symbols are read, which holds up changes at the end of
	// each shard only.
	turn chan struct{}
}

// Read reads the symbols of all shards that have none yet, shard after
// shard, each marked when it is done; interrupted anywhere, the next call goes
// on. Syncs and merges go on meanwhile. A document that cannot be parsed is
// counted and stops nothing. It reports progress in phase "symbols"; report may
// be nil.
func (sy *Symbols) Read(ctx context.Context, report func(Progress)) (SymbolsResult, error) {
	out := SymbolsResult{Unknown: map[string]int{}}
	if sy.opts.Ctags == nil {
		return out, ErrNoCtags
	}
	if report == nil {
		report = func(Progress) {}
	}
	select {
	case sy.turn <- struct{}{}:
		defer func() { <-sy.turn }()
	case <-ctx.Done():
		return out, fmt.Errorf("symbols: %w", ctx.Err())
	}
	start := sy.opts.Now()
	p := &symbolPass{symbols: sy, out: &out, report: report}
	err := p.run(ctx)
	out.Took = sy.opts.Now().Sub(start)
	if err != nil {
		return out, fmt.Errorf("symbols: %w", err)
	}
	return out, nil
}

// symbolPass is one call of Symbols.Read.
type symbolPass struct {
	symbols *Symbols
	out     *SymbolsResult
	report  func(Progress)
	writer  *shard.SymbolWriter
	// work goes to the parsers, which live as long as the pass.
	work     chan *parseJob
	progress Progress
}

func (p *symbolPass) run(ctx context.Context) (err error) {
	var parsers sync.WaitGroup
	defer parsers.Wait()
	p.work = make(chan *parseJob)
	defer close(p.work)
	started := false
	for {
		sn := p.symbols.store.Snapshot()
		v, more := p.next(sn)
		if !more {
			return sn.Close()
		}
		if !started {
			started = true
			p.writer = p.symbols.writers.beginSymbols(ctx)
			defer func() { err = errors.Join(err, p.writer.Close()) }()
			for range p.symbols.opts.SymbolWorkers {
				parsers.Go(func() { parseAll(ctx, p.symbols.opts, p.work) })
			}
		}
		err := p.shard(ctx, sn, v)
		if shard, damaged := shard.Damaged(err); damaged {
			_, err = p.symbols.store.SetAside(shard, err, p.symbols.opts.Now())
		}
		if err := errors.Join(err, sn.Close()); err != nil {
			return err
		}
	}
}

// next returns the first shard without symbols, and counts what is to be done.
func (p *symbolPass) next(sn *store.Snapshot) (first shard.View, ok bool) {
	p.progress = Progress{Phase: "symbols", Done: p.progress.Done, Total: p.progress.Done, Bytes: p.progress.Bytes}
	for _, v := range sn.Shards() {
		if v.HasSymbols() || v.Header.IsHistory() || v.Quarantine != nil || !p.symbols.opts.Mine(v.ID) {
			continue
		}
		p.progress.Total += v.Header.Documents
		if !ok {
			first, ok = v, true
		}
	}
	return first, ok
}

// shard writes the symbols of one shard. Its counts are added to the result
// once they are committed.
func (p *symbolPass) shard(ctx context.Context, sn *store.Snapshot, v shard.View) error {
	docs, err := v.Documents()
	if err != nil {
		return err
	}
	if err := p.symbols.room.check(); err != nil {
		return err
	}
	if err := p.writer.Begin(v); err != nil {
		return err
	}
	began, found := p.symbols.opts.Now(), map[uint32]int{}
	sum := SymbolsResult{Unknown: map[string]int{}}
	err = p.parse(ctx, v, docs, func(j *parseJob) error {
		sum.add(sn, docs, j)
		if p.progress.Done++; p.progress.Done%reportEvery == 0 {
			p.report(p.progress)
		}
		p.progress.Bytes += int64(len(j.text))
		found[docs.Repository[j.doc]] += len(j.symbols)
		return p.writer.Add(j.doc, j.symbols)
	})
	if err == nil {
		err = p.writer.Seal()
	}
	written := false
	if err == nil {
		written, err = p.finish(ctx, v.ID, sum)
	}
	if err != nil || !written {
		return errors.Join(err, p.writer.Close())
	}
	p.report(p.progress)
	p.out.join(sum)
	took := p.symbols.opts.Now().Sub(began)
	for id, n := range found {
		p.symbols.opts.Followed(Followed{Repository: id, Phase: "symbols", Count: n, Took: took})
	}
	return nil
}

// finish shows the symbols of a shard, unless it has been dropped meanwhile.
func (p *symbolPass) finish(ctx context.Context, id uint32, sum SymbolsResult) (written bool, err error) {
	unknown := 0
	for _, n := range sum.Unknown {
		unknown += n
	}
	err = p.symbols.changes.whileLast(func(sn *store.Snapshot) error {
		if _, written = sn.Shard(id); !written {
			return nil
		}
		return p.writer.Finish(ctx, shard.SymbolCounts{Documents: sum.Documents, Failed: sum.FailedCount, Unknown: unknown})
	})
	return written, err
}

// add counts one document.
func (r *SymbolsResult) add(sn *store.Snapshot, docs *shard.Documents, j *parseJob) {
	switch {
	case j.skip:
	case j.err == nil:
		r.Documents++
		r.Symbols += len(j.symbols)
	case errors.Is(j.err, ctags.ErrUnknownLanguage):
		r.Unknown[docs.Words[docs.Language[j.doc]]]++
	default:
		r.FailedCount++
		if len(r.Failed) < MaxFailedNamed {
			name := docs.Path(int(j.doc))
			if repo := sn.RepositoryByID(docs.Repository[j.doc]); repo != nil {
				name = repo.Name + "/" + name
			}
			r.Failed = append(r.Failed, name+": "+j.err.Error())
		}
	}
}

// join adds the counts of a shard that is done.
func (r *SymbolsResult) join(o SymbolsResult) {
	r.Shards++
	r.Symbols += o.Symbols
	r.Documents += o.Documents
	r.FailedCount += o.FailedCount
	r.Failed = append(r.Failed, o.Failed[:min(len(o.Failed), MaxFailedNamed-len(r.Failed))]...)
	for language := range maps.Keys(o.Unknown) {
		r.Unknown[language] += o.Unknown[language]
	}
}
