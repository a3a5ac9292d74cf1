package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/trawlsearch/trawl/store/object"
	"github.com/trawlsearch/trawl/store/shard"
)

// Runs has the runs of shards for all nodes that share a log. Runs of package
// cluster/runs are some.
type Runs interface {
	RunsOwner
	// Put stores a run, which survives a power failure then.
	Put(ctx context.Context, f shard.File, from io.ReaderAt) (name string, err error)
	// Fetch calls take with each wanted run, for several at a time; fill writes the run.
	// Its error has an *object.DamagedError for each that is missing or damaged.
	Fetch(ctx context.Context, wanted []shard.File, take func(ctx context.Context, f shard.File, fill func(io.Writer) error) error) error
	// Sweep deletes runs that named, which is called once all runs were listed, does not
	// return, and has not returned for a while.
	Sweep(ctx context.Context, named func(context.Context) ([]shard.File, error)) (objects int, bytes int64, err error)
	// Ask asks other nodes to store a run again, Asked returns what was asked for, without
	// sizes, and Answered says that it was done.
	Ask(ctx context.Context, f shard.File) error
	Asked(ctx context.Context) ([]shard.File, error)
	Answered(ctx context.Context, f shard.File) error
}

// RunsOwner tells whose runs there are.
type RunsOwner interface {
	// Belong fails with object.ErrNotOwned unless the runs are those of a cluster. Where
	// nobody's are stored, it makes them those of one that has stored none.
	Belong(ctx context.Context, cluster []byte, storedNone bool) error
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

// clear removes what is there of a shard that consists of files, but for symbols whose
// header is not committed: those that this node writes, none of which come meanwhile,
// or ahead.
func (o *ownRuns) clear(ctx context.Context, to shard.Destination, id uint32, files []shard.File, ahead, seen bool) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	_, own := o.files[runKey{id, shard.PartSymbols}]
	named := slices.ContainsFunc(files, func(f shard.File) bool { return f.Part == shard.PartSymbols })
	return to.Clear(ctx, id, (own || ahead) && !named, seen)
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

// exchange stores the runs that this node writes, fetches those that others wrote, and
// stores again what others ask for. It knows which runs are here ahead of their headers.
type exchange struct {
	s    *Store
	runs Runs
	own  ownRuns
	// arrivals are runs of other nodes.
	arrivals *arrivals
}

func newExchange(s *Store) *exchange {
	return &exchange{s: s, runs: s.options.Runs, own: ownRuns{files: map[runKey]object.Content{}}, arrivals: newArrivals()}
}

// applied forgets the runs whose headers were.
func (x *exchange) applied(ops []operation) {
	x.own.committed(ops)
	x.arrivals.applied(ops)
}

// written stores a run that this node has written and not yet taken in.
func (x *exchange) written(ctx context.Context, f shard.LocalFile) (err error) {
	in, err := x.s.fs.Open(f.Path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	if _, err := x.runs.Put(ctx, f.File, in); err != nil {
		return fmt.Errorf("store the %v of shard %d for other nodes: %w", f.Part, f.Shard, err)
	}
	x.own.put(f.File)
	return nil
}

// lacked are the runs of a shard that are to be fetched, if the directory has those of
// the header before.
func (x *exchange) lacked(in *database, before, h *shard.Header) (out []shard.File) {
	for _, f := range h.Files() {
		if own := x.own.get(f.Shard, f.Part); own != nil && *own == f.Content || x.arrivals.nothingToFetch(f, in) {
			continue
		}
		if before == nil || !slices.Contains(before.Files(), f) {
			out = append(out, f)
		}
	}
	return out
}

// lackedBy are the runs that are to be fetched before ops are applied.
func (x *exchange) lackedBy(ops []operation) (out []shard.File) {
	c, in := x.s.committer.current()
	for _, op := range ops {
		op, ok := op.(headerOperation)
		if !ok || op.header == nil {
			continue
		}
		var before *shard.Header
		if sh := c.shard(op.shard); sh != nil {
			before = &sh.Header
		}
		out = append(out, x.lacked(in, before, op.header)...)
	}
	return out
}

// ahead are the runs that the first of some changes lacks, and some of the others with
// them. There are none if the first one lacks none.
func (x *exchange) ahead(changes []change) (out []shard.File) {
	size := int64(0)
	for i, c := range changes {
		lacked := x.lackedBy(c.ops)
		for _, f := range lacked {
			if !slices.Contains(out, f) {
				out = append(out, f)
				size += f.Size
			}
		}
		if i == 0 && len(lacked) == 0 || size >= aheadBytes {
			break
		}
	}
	return out
}

// quarantines returns what quarantines the shards among ops whose objects are missing
// or damaged, or were not there to be imported.
func (x *exchange) quarantines(ops []operation) (out []operation) {
	for _, op := range ops {
		op, ok := op.(headerOperation)
		if !ok || op.header == nil {
			continue
		}
		if op.header.TextFile == nil {
			out = append(out, quarantineOperation{op.shard, &shard.Quarantine{
				Since: time.Now().UTC(), Reason: "it was damaged in the data directory that was imported",
			}})
		} else if why := x.arrivals.missing(op.header.Files()); why != nil {
			out = append(out, x.unfetched(op.shard, why))
		}
	}
	return out
}

// unfetched quarantines a shard of which a run cannot be fetched.
func (x *exchange) unfetched(id uint32, why error) operation {
	x.s.options.Event("a shard is set aside until its run can be fetched", why)
	return quarantineOperation{id, &shard.Quarantine{Since: time.Now().UTC(), Reason: fmt.Sprintf("it cannot be fetched: %v", why)}}
}

// lackedRecord is lacked of two records of a header, the first nil if there is none. It
// returns the second one's header as well.
func (x *exchange) lackedRecord(in *database, id uint32, before, after []byte) ([]shard.File, *shard.Header, error) {
	h, err := decodeHeader(id, after)
	if err != nil {
		return nil, nil, fmt.Errorf("header of shard %d: %w: %w", id, ErrCorrupt, err)
	}
	old := &shard.Header{}
	if json.Unmarshal(before, old) != nil {
		old = nil // it is not there, or damaged
	}
	return x.lacked(in, old, h), h, nil
}
