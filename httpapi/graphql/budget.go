package graphql

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"unicode/utf8"

	"github.com/graph-gophers/graphql-go"
	gqlerrors "github.com/graph-gophers/graphql-go/errors"
	"github.com/graph-gophers/graphql-go/introspection"
	"github.com/graph-gophers/graphql-go/trace/tracer"

	"github.com/trawlsearch/trawl/httpapi/graphql/wire"
)

// What one answer may take. A document is judged by what it asks for before it
// runs, but only some lists say there how long they may become, and a name of
// its own gets any text once more.
const (
	// maxAnswerText is how much text of files and diffs may be read, and how much
	// of it may be shown, in bytes of JSON: an answer is made in memory, whole. It
	// is less where the server has little memory.
	maxAnswerText = 64 << 20
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
	// fieldsOfPlace is how many fields each place of a match is shown with.
	fieldsOfPlace = 4
	// longList is the length from which a list has to say how many fields its
	// entries will have.
	longList = 100
)

// budget is what is left for one answer. It is safe for concurrent use.
type budget struct {
	work
	content, shown, kept, calls atomic.Int64
	// fields counts those that are answered, reserved those that lists have
	// announced.
	fields, reserved atomic.Int64
	// promised is about what the matches that are kept take when they are shown.
	promised atomic.Int64
	// mapped counts the documents in maps.
	mapped atomic.Int64
	// maxFields, maxCalls and maxText are what there was.
	maxFields, maxCalls, maxText int
	// aliases is how many fields of the document below the first level have
	// other names.
	aliases int
	// stop ends the answer.
	stop context.CancelCauseFunc
}

func (b *budget) fill(maxFields, maxCalls int) {
	b.maxFields, b.maxCalls, b.maxText = maxFields, maxCalls, maxAnswerText
	if most := int(b.admitted.Most()); most > 0 {
		// Text is read once and shown in copies, beside all else.
		b.maxText = min(maxAnswerText, max(most/(shownCopies+2), 1<<20))
	}
	b.content.Store(int64(b.maxText))
	b.shown.Store(int64(b.maxText))
	b.kept.Store(int64(min(maxKeptBytes, b.maxText)))
	b.calls.Store(int64(maxCalls))
	b.fields.Store(int64(maxFields))
	b.reserved.Store(int64(maxFields))
}

// errFields is a list, or a whole answer, that is too large.
func (b *budget) errFields() error {
	return &fieldsError{wire.Refusal{Message: fmt.Sprintf("the answer has more than %d fields: ask for less, page by page", b.maxFields)}}
}

// fieldsError is why an answer that has grown too large is given up.
type fieldsError struct{ wire.Refusal }

// Unwrap makes it a *Refusal.
func (e *fieldsError) Unwrap() error { return &e.Refusal }

// read takes n bytes of what may be read.
func (b *budget) read(n int) error {
	if b.content.Add(int64(-n)) < 0 {
		return wire.Refuse("the files of this answer have more than %d MiB: ask for fewer of them", b.maxText>>20)
	}
	return b.hold(n)
}

// show takes what text takes of what may be shown.
func (b *budget) show(text []byte) error { return b.showBytes(jsonBytes(text)) }

// showBytes is show for n bytes of JSON.
func (b *budget) showBytes(n int) error {
	if err := b.takeShown(n); err != nil {
		return err
	}
	return b.hold(shownCopies * n)
}

func (b *budget) takeShown(n int) error {
	if b.shown.Add(int64(-n)) < 0 {
		return wire.Refuse("the text of this answer has more than %d MiB: ask for fewer files, or for some of their lines", b.maxText>>20)
	}
	return nil
}

// showParts is showBytes for text of a value, and places in it, whose fields hold
// it: a document can ask for them as often as it has aliases.
func (b *budget) showParts(text []byte, places int) error {
	return b.showBytes((jsonBytes(text) + placeBytes*places) * (1 + b.aliases))
}

// longName is the length from which names and paths count as text. Those of
// strangers may have megabytes.
const longName = 200

// showName is show for a name that the fields of a value hold or begin with.
func (b *budget) showName(ctx context.Context, names ...string) error {
	n := 0
	for _, name := range names {
		n += len(name)
	}
	if n <= longName {
		return nil
	}
	return b.showBytes(n * b.width(ctx))
}

// jsonBytes is how long text is in JSON as it stands in answers.
func jsonBytes(text []byte) int {
	n := len(text)
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRune(text[i:])
			if r == utf8.RuneError || r == '\u2028' || r == '\u2029' {
				n += len(`\u2028`) - size
			}
			i += size
			continue
		case c == '<', c == '>', c == '&', c < ' ' && c != '\n' && c != '\t' && c != '\r':
			n += len(`\u003c`) - 1
		case c == '"', c == '\\', c < ' ':
			n++
		}
		i++
	}
	return n
}

// call takes one search or git command.
func (b *budget) call() error {
	if b.calls.Add(-1) < 0 {
		return wire.Refuse("the answer takes more than %d searches and git commands: ask for less, page by page", b.maxCalls)
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
// match is shown with. As many are kept as half of the memory of an answer shows:
// the others are counted, where an answer that is too large would not be one.
func (b *budget) keep(n, places, width int) bool {
	if most := b.admitted.Most(); most > 0 {
		shown := (1+shownCopies)*n + fieldBytes*(width+places*min(width, fieldsOfPlace))
		if b.promised.Add(int64(shown)) > most/2 {
			return false
		}
	}
	return b.reserved.Add(int64(-width)) >= 0 && b.kept.Add(int64(-n)) >= 0 && b.take(n)
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
		s.rest() // many wait for what is no work of this process
		s.begin()
	} else {
		s.resume(ctx)
	}
	if s.fields.Add(-1) < 0 {
		s.stop(s.errFields())
	}
	_ = s.hold(fieldBytes) // which ends the answer
	return ctx, finished
}

func finished(*gqlerrors.QueryError) {}

// tooLarge returns why an answer was given up, nil if it was not.
func tooLarge(ctx context.Context) (err *fieldsError) {
	errors.As(context.Cause(ctx), &err)
	return err
}
