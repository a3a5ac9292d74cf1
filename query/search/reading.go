package search

import (
	"context"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/query/search/admission"
	"github.com/trawlsearch/trawl/store"
)

// reading is what one goroutine reads posting lists with, shard after shard. A
// shard in memory has no lists, and needs none.
type reading struct {
	searcher *Searcher
	lists    *store.ListReader
	scratch  *postings.Scratch
	// at is the slot of the goroutine; nil if it needs none.
	at *admission.Slot
}

func (s *Searcher) newReading(snap *store.Snapshot) *reading {
	scratch, ok := s.scratches.Get().(*postings.Scratch)
	if !ok {
		scratch = &postings.Scratch{}
	}
	return &reading{searcher: s, lists: snap.ListReader(), scratch: scratch}
}

// close ends the reading; plans that were made by means of it read no more. What
// could not be read was reported when it was asked for.
func (in *reading) close() {
	in.searcher.scratches.Put(in.scratch)
	_ = in.lists.Close()
}

// yield lets others have the slot if that is their due, and returns why ctx
// has ended, if it has.
func (in *reading) yield(ctx context.Context) error {
	if in == nil || in.at == nil {
		return ctx.Err()
	}
	return in.at.Acquire(ctx)
}

func (in *reading) content(v store.View) *postings.Evaluator {
	return in.evaluator(v, store.FieldContent, v.DocOf())
}

// paths returns an evaluator of path lists, in which a block is a document.
func (in *reading) paths(v store.View, docs *store.Documents) *postings.Evaluator {
	return in.evaluator(v, store.FieldPath, identity[:docs.Len()])
}

func (in *reading) evaluator(v store.View, f store.Field, docOf []uint16) *postings.Evaluator {
	if in == nil {
		return &postings.Evaluator{}
	}
	return &postings.Evaluator{Reader: v.Lists(f, in.lists), DocOf: docOf, Scratch: in.scratch}
}

// symbols returns an evaluator of the lists of symbol names.
func (in *reading) symbols(v store.View) (*postings.Evaluator, error) {
	lists, err := v.SymbolLists(in.lists)
	if err != nil {
		return nil, err
	}
	return &postings.Evaluator{Reader: lists, DocOf: v.DocOf(), Scratch: in.scratch}, nil
}
