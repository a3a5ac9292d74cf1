package budget

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/graph-gophers/graphql-go"

	"github.com/trawlsearch/trawl/httpapi"
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
	// MaxCalls is how many searches and git commands may run by default.
	MaxCalls = 2000
	// fieldsOfPlace is how many fields each place of a match is shown with.
	fieldsOfPlace = 4
	// longList is the length from which a list has to say how many fields its
	// entries will have.
	longList = 100
	// PlaceBytes is about what a place in a text takes in an answer.
	PlaceBytes = 20
	// maxMapped is how many documents the maps of one answer may hold, each with
	// about so many bytes.
	maxMapped   = 1 << 20
	mappedBytes = 100
)

// Budget is what is left for one answer. It is safe for concurrent use.
type Budget struct {
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
	// Aliases is how many fields of the document below the first level have
	// other names.
	Aliases int
	// Stop ends the answer.
	Stop context.CancelCauseFunc
}

// New returns what a document may take that may ask for askable fields, of
// a request that was admitted.
func New(admitted *httpapi.Work, askable, maxCalls int) *Budget {
	maxFields := fieldsPerLimit * askable
	b := &Budget{maxFields: maxFields, maxCalls: maxCalls, maxText: maxAnswerText}
	b.admitted, b.since = admitted, time.Now()
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
	return b
}

// TakeField takes one field. Without it the answer ends.
func (b *Budget) TakeField() {
	if b.fields.Add(-1) < 0 {
		b.Stop(b.FieldsError())
	}
	_ = b.Hold(fieldBytes) // which ends the answer
}

// TakeMap reports whether n documents may be put into a map, and takes what they
// hold.
func (b *Budget) TakeMap(n int) bool {
	return b.mapped.Add(int64(n)) <= maxMapped && b.take(n*mappedBytes)
}

// FieldsError is a list, or a whole answer, that is too large.
func (b *Budget) FieldsError() error {
	return &fieldsError{wire.Refusal{Message: fmt.Sprintf("the answer has more than %d fields: ask for less, page by page", b.maxFields)}}
}

// fieldsError is why an answer that has grown too large is given up.
type fieldsError struct{ wire.Refusal }

// Unwrap makes it a *wire.Refusal.
func (e *fieldsError) Unwrap() error { return &e.Refusal }

// Read takes n bytes of what may be read.
func (b *Budget) Read(n int) error {
	if b.content.Add(int64(-n)) < 0 {
		return wire.Refuse("the files of this answer have more than %d MiB: ask for fewer of them", b.maxText>>20)
	}
	return b.Hold(n)
}

// Show takes what text takes of what may be shown.
func (b *Budget) Show(text []byte) error { return b.ShowBytes(JSONBytes(text)) }

// ShowBytes is show for n bytes of JSON.
func (b *Budget) ShowBytes(n int) error {
	if err := b.TakeShown(n); err != nil {
		return err
	}
	return b.Hold(shownCopies * n)
}

// TakeShown takes n bytes of what may be shown, and no memory.
func (b *Budget) TakeShown(n int) error {
	if b.shown.Add(int64(-n)) < 0 {
		return wire.Refuse("the text of this answer has more than %d MiB: ask for fewer files, or for some of their lines", b.maxText>>20)
	}
	return nil
}

// ShowParts is showBytes for text of a value, and places in it, whose fields hold
// it: a document can ask for them as often as it has aliases.
func (b *Budget) ShowParts(text []byte, places int) error {
	return b.ShowBytes((JSONBytes(text) + PlaceBytes*places) * (1 + b.Aliases))
}

// longName is the length from which names and paths count as text. Those of
// strangers may have megabytes.
const longName = 200

// ShowName is show for a name that the fields of a value hold or begin with.
func (b *Budget) ShowName(ctx context.Context, names ...string) error {
	n := 0
	for _, name := range names {
		n += len(name)
	}
	if n <= longName {
		return nil
	}
	return b.ShowBytes(n * b.Width(ctx))
}

// JSONBytes is how long text is in JSON as it stands in answers.
func JSONBytes(text []byte) int {
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

// Call takes one search or git command.
func (b *Budget) Call() error {
	if b.calls.Add(-1) < 0 {
		return wire.Refuse("the answer takes more than %d searches and git commands: ask for less, page by page", b.maxCalls)
	}
	return nil
}

// Width is about how many fields the selection of a field asks for. It errs
// upwards: the library tells names, and not how often they are asked for.
func (b *Budget) Width(ctx context.Context) int {
	return 1 + len(graphql.SelectedFieldNames(ctx)) + b.Aliases
}

// Full reports whether lists have announced more than there is room for.
func (b *Budget) Full() bool { return b.reserved.Load() < 0 }

// Reserve makes a resolver fail before it returns a list whose n entries would
// become too many fields.
func (b *Budget) Reserve(ctx context.Context, n int) error {
	if n > longList && b.reserved.Add(-int64(n)*int64(b.Width(ctx))) < 0 {
		return b.FieldsError()
	}
	return nil
}

// Keep takes n bytes of the matches that may be held, and the fields that one
// match is shown with. As many are kept as half of the memory of an answer shows:
// the others are counted, where an answer that is too large would not be one.
func (b *Budget) Keep(n, places, width int) bool {
	if most := b.admitted.Most(); most > 0 {
		shown := (1+shownCopies)*n + fieldBytes*(width+places*min(width, fieldsOfPlace))
		if b.promised.Add(int64(shown)) > most/2 {
			return false
		}
	}
	return b.reserved.Add(int64(-width)) >= 0 && b.kept.Add(int64(-n)) >= 0 && b.take(n)
}

// TooLarge returns why an answer was given up, nil if it was not.
func TooLarge(ctx context.Context) (err *fieldsError) {
	errors.As(context.Cause(ctx), &err)
	return err
}
