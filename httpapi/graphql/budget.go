package graphql

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/graph-gophers/graphql-go"
	gqlerrors "github.com/graph-gophers/graphql-go/errors"
	"github.com/graph-gophers/graphql-go/introspection"
	"github.com/graph-gophers/graphql-go/trace/tracer"
)

// What one answer may take. A document is judged by what it asks for before it
// runs, but only some lists say there how long they may become, and a name of
// its own gets any text once more.
const (
	// maxContentBytes is how much text of files and diffs may be read,
	// maxShownBytes how much of it may be shown: an answer is made in memory,
	// whole.
	maxContentBytes = 64 << 20
	maxShownBytes   = 64 << 20
	// maxKeptBytes is how much text the matches of all its searches may hold;
	// those behind it are counted and not shown, as if there were a display
	// limit.
	maxKeptBytes = 32 << 20
	// fieldsPerLimit is how many fields may be answered for each that a document
	// may ask for. By default that is 4,000,000; clients that are known get
	// some 20,000.
	fieldsPerLimit = 8
	// maxCalls is how many searches and git commands may run by default.
	maxCalls = 2000
	// longList is the length from which a list has to say how many fields its
	// entries will have.
	longList = 100
)

// budget is what is left for one answer. It is safe for concurrent use.
type budget struct {
	content, shown, kept, calls atomic.Int64
	// fields counts those that are answered, reserved those that lists have
	// announced.
	fields, reserved atomic.Int64
	// mapped counts the documents in maps.
	mapped atomic.Int64
	// maxFields and maxCalls are what there was.
	maxFields, maxCalls int
	// aliases is how many fields of the document below the first level have
	// other names.
	aliases int
	// stop ends the answer.
	stop context.CancelCauseFunc
}

func (b *budget) fill(maxFields, maxCalls int) {
	b.maxFields, b.maxCalls = maxFields, maxCalls
	b.content.Store(maxContentBytes)
	b.shown.Store(maxShownBytes)
	b.kept.Store(maxKeptBytes)
	b.calls.Store(int64(maxCalls))
	b.fields.Store(int64(maxFields))
	b.reserved.Store(int64(maxFields))
}

// errFields is a list, or a whole answer, that is too large.
func (b *budget) errFields() error {
	return &fieldsError{Refusal{fmt.Sprintf("the answer has more than %d fields: ask for less, page by page", b.maxFields)}}
}

// fieldsError is why an answer that has grown too large is given up.
type fieldsError struct{ Refusal }

// Unwrap makes it a *Refusal.
func (e *fieldsError) Unwrap() error { return &e.Refusal }

// read takes n bytes of what may be read.
func (b *budget) read(n int) error {
	if b.content.Add(int64(-n)) < 0 {
		return refuse("the files of this answer have more than %d MiB: ask for fewer of them", maxContentBytes>>20)
	}
	return nil
}

// show takes n bytes of what may be shown.
func (b *budget) show(n int) error {
	if b.shown.Add(int64(-n)) < 0 {
		return refuse("the text of this answer has more than %d MiB: ask for fewer files, or for some of their lines", maxShownBytes>>20)
	}
	return nil
}

// showParts is show for n bytes of a value whose fields hold them, so that a
// document can ask for them as often as it has aliases.
func (b *budget) showParts(n int) error { return b.show(n * (1 + b.aliases)) }

// call takes one search or git command.
func (b *budget) call() error {
	if b.calls.Add(-1) < 0 {
		return refuse("the answer takes more than %d searches and git commands: ask for less, page by page", b.maxCalls)
	}
	return nil
}

// width is about how many fields the selection of a field asks for. It errs
// upwards: the library tells names, and not how often they are asked for.
func (b *budget) width(ctx context.Context) int {
	return 1 + len(graphql.SelectedFieldNames(ctx)) + b.aliases
}

// full reports whether lists have announced more than there is room for.
func (b *budget) full() bool { return b.reserved.Load() < 0 }

// room makes a resolver fail before it returns a list whose n entries would
// become too many fields.
func (b *budget) room(ctx context.Context, n int) error {
	if n > longList && b.reserved.Add(-int64(n)*int64(b.width(ctx))) < 0 {
		return b.errFields()
	}
	return nil
}

// keep takes n bytes of the matches that may be held, and the fields that one
// match is shown with.
func (b *budget) keep(n, width int) bool {
	return b.reserved.Add(int64(-width)) >= 0 && b.kept.Add(int64(-n)) >= 0
}

// watcher counts the fields of answers, and ends one with too many or whose
// credential has ended.
type watcher struct{}

// TraceQuery is for those who trace.
func (watcher) TraceQuery(ctx context.Context, _, _ string, _ map[string]any, _ map[string]*introspection.Type) (context.Context, tracer.QueryFinishFunc) {
	return ctx, func([]*gqlerrors.QueryError) {}
}

// TraceField is called for every field.
func (watcher) TraceField(ctx context.Context, _, typeName, _ string, _ bool, _ map[string]any) (context.Context, tracer.FieldFinishFunc) {
	s := sessionOf(ctx)
	if typeName == "Mutation" {
		s.begin()
	}
	if s.fields.Add(-1) < 0 {
		s.stop(s.errFields())
	}
	return ctx, finished
}

func finished(*gqlerrors.QueryError) {}

// tooLarge returns why an answer was given up, nil if it was not.
func tooLarge(ctx context.Context) (err *fieldsError) {
	errors.As(context.Cause(ctx), &err)
	return err
}
