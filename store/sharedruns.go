package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/trawlsearch/trawl/store/object"
	"github.com/trawlsearch/trawl/store/shard"
)

// Runs has the runs of shards for all nodes that share a log. Runs of package
// cluster/runs are some.
type Runs interface {
	// Put stores a run, which survives a power failure then.
	Put(ctx context.Context, f shard.File, from io.ReaderAt) (name string, err error)
	// Fetch calls take with each wanted run, for several at a time; fill writes the run.
	// Its error has an *object.DamagedError for each that is missing or damaged.
	Fetch(ctx context.Context, wanted []shard.File, take func(ctx context.Context, f shard.File, fill func(io.Writer) error) error) error
	// Sweep deletes runs that the records have not named for a while. named returns those
	// that they name, and is called once all were listed.
	Sweep(ctx context.Context, named func(context.Context) ([]shard.File, error)) (objects int, bytes int64, err error)
}

// ownRuns are the runs that this node wrote, took in and stored, whose headers are
// not committed yet.
type ownRuns struct {
	mu    sync.Mutex // guards files
	files map[runKey]object.Content
}

type runKey struct {
	shard uint32
	part  shard.Part
}

// get returns what a run of this node is, nil if it has written none.
func (o *ownRuns) get(id uint32, part shard.Part) *object.Content {
	o.mu.Lock()
	defer o.mu.Unlock()
	if c, found := o.files[runKey{id, part}]; found {
		return &c
	}
	return nil
}

func (o *ownRuns) put(f shard.File) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.files[runKey{f.Shard, f.Part}] = f.Content
}

// name has the headers among ops say what the runs of this node are.
func (o *ownRuns) name(ops []operation) error {
	for _, op := range ops {
		op, ok := op.(headerOperation)
		if !ok || op.header == nil {
			continue
		}
		if c := o.get(op.shard, shard.PartText); c != nil {
			op.header.TextFile = c
		}
		if c := o.get(op.shard, shard.PartSymbols); c != nil && op.header.Symbols != nil {
			op.header.SymbolFile = c
		}
		if op.header.TextFile == nil {
			return fmt.Errorf("shard %d was not stored where other nodes find it", op.shard)
		}
	}
	return nil
}

// committed forgets the runs whose headers are among ops.
func (o *ownRuns) committed(ops []operation) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, op := range ops {
		op, ok := op.(headerOperation)
		if !ok {
			continue
		}
		delete(o.files, runKey{op.shard, shard.PartText})
		if op.header == nil || op.header.Symbols != nil {
			delete(o.files, runKey{op.shard, shard.PartSymbols})
		}
	}
}

// written stores a run that this node has written and not yet taken in.
func (a *sharedAuthority) written(ctx context.Context, f shard.LocalFile) (err error) {
	in, err := a.s.fs.Open(f.Path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	if _, err := a.runs.Put(ctx, f.File, in); err != nil {
		return fmt.Errorf("store the %v of shard %d for other nodes: %w", f.Part, f.Shard, err)
	}
	a.own.put(f.File)
	return nil
}

// lacked are the runs of a shard that this directory does not have, if it has those
// of the header before.
func (a *sharedAuthority) lacked(before, h *shard.Header) (out []shard.File) {
	for _, f := range h.Files() {
		if own := a.own.get(f.Shard, f.Part); own != nil && *own == f.Content {
			continue
		}
		there := false
		if before != nil {
			for _, old := range before.Files() {
				there = there || old == f
			}
		}
		if !there {
			out = append(out, f)
		}
	}
	return out
}

// fetch takes in the runs of other nodes that ops make visible.
func (a *sharedAuthority) fetch(ctx context.Context, ops []operation) error {
	var wanted []shard.File
	a.s.mu.Lock()
	c := a.s.catalogue
	a.s.mu.Unlock()
	for _, op := range ops {
		op, ok := op.(headerOperation)
		if !ok || op.header == nil {
			continue
		}
		var before *shard.Header
		if sh := c.shard(op.shard); sh != nil {
			before = &sh.Header
		}
		wanted = append(wanted, a.lacked(before, op.header)...)
	}
	return a.take(ctx, wanted)
}

// take fetches runs and takes them in.
func (a *sharedAuthority) take(ctx context.Context, wanted []shard.File) error {
	if len(wanted) == 0 {
		return nil
	}
	return a.runs.Fetch(ctx, wanted, a.s.destination().Import)
}

// lackedRecord is lacked of two records of a header, the first nil if there is none. A
// shard that no node can take in is quarantined in b: it was so in the directory that
// was imported.
func (a *sharedAuthority) lackedRecord(b *batch, id uint32, before, after []byte) ([]shard.File, error) {
	h, err := decodeHeader(id, after)
	if err != nil {
		return nil, fmt.Errorf("header of shard %d: %w: %w", id, ErrCorrupt, err)
	}
	if h.TextFile == nil {
		b.putOperations([]operation{quarantineOperation{id, &shard.Quarantine{
			Since: time.Now().UTC(), Reason: "it was damaged in the data directory that was imported",
		}}})
	}
	old := &shard.Header{}
	if json.Unmarshal(before, old) != nil {
		old = nil // it is not there, or damaged
	}
	return a.lacked(old, h), nil
}
