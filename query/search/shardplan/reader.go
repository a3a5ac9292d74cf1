package shardplan

import (
	"context"
	"sync"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/query/search/admission"
	"github.com/trawlsearch/trawl/query/search/task"
	"github.com/trawlsearch/trawl/store/shard"
)

// Reader reads posting lists for one goroutine, shard after shard. A shard in
// memory has no lists and needs no reader.
type Reader struct {
	scratches *sync.Pool
	lists     *shard.ListReader
	scratch   *postings.Scratch
	// content and paths are what Content and Paths have returned last.
	content, paths evaluator
	// Slot is the slot of the goroutine; nil if it needs none.
	Slot *admission.Slot
}

// NewReader returns a reader for a goroutine of t with a slot, nil if it needs
// none.
func NewReader(t *task.Task, at *admission.Slot) *Reader {
	scratch, ok := t.Scratches.Get().(*postings.Scratch)
	if !ok {
		scratch = &postings.Scratch{}
	}
	return &Reader{scratches: t.Scratches, lists: t.Snapshot.ListReader(), scratch: scratch, Slot: at}
}

// Close releases the reader; plans that were made by means of it read no more. Errors
// of reading were returned when they happened.
func (r *Reader) Close() {
	r.scratches.Put(r.scratch)
	_ = r.lists.Close()
}

// Yield gives the slot to another search whose turn it is, and takes it again. The
// error is that of ctx.
func (r *Reader) Yield(ctx context.Context) error {
	if r == nil || r.Slot == nil {
		return ctx.Err()
	}
	return r.Slot.Acquire(ctx)
}

// Content returns an evaluator of the lists of the text of a shard, to be used until the
// next call.
func (r *Reader) Content(v shard.View) *postings.Evaluator {
	if r == nil {
		return &postings.Evaluator{}
	}
	return r.content.of(r, v, shard.FieldContent)
}

// Paths returns an evaluator of path lists, in which a block is a document, to be used
// until the next call.
func (r *Reader) Paths(v shard.View) *postings.Evaluator {
	if r == nil {
		return &postings.Evaluator{}
	}
	return r.paths.of(r, v, shard.FieldPath)
}

// Evaluator returns an evaluator of the lists of a field.
func (r *Reader) Evaluator(v shard.View, f shard.Field) *postings.Evaluator {
	if r == nil {
		return &postings.Evaluator{}
	}
	return new(evaluator).of(r, v, f)
}

// evaluator is an evaluator with the lists that it reads.
type evaluator struct {
	postings.Evaluator
	lists shard.Lists
}

func (e *evaluator) of(in *Reader, v shard.View, f shard.Field) *postings.Evaluator {
	e.lists = *v.Lists(f, in.lists)
	e.Evaluator = postings.Evaluator{Reader: &e.lists, Scratch: in.scratch}
	return &e.Evaluator
}

// symbols returns an evaluator of the lists of symbol names.
func (r *Reader) symbols(v shard.View) (*postings.Evaluator, error) {
	lists, err := v.SymbolLists(r.lists)
	if err != nil {
		return nil, err
	}
	return &postings.Evaluator{Reader: lists, Scratch: r.scratch}, nil
}
