package browse

import (
	"bytes"
	"context"
	"strings"
	"time"

	"github.com/alecthomas/chroma/v2"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/query/search/lru"
)

// The limits of colouring. Lexers are backtracking regexps, and texts can be
// written against them: beyond any of these limits the rest of a text stays
// plain.
const (
	maxPaintedBytes = 512 << 10
	maxPaintedLine  = 4 << 10
	// maxSpanBytes is the markup of one page that colours add.
	maxSpanBytes = 1 << 20
	paintWithin  = 400 * time.Millisecond
)

// painter colours texts.
type painter struct {
	within time.Duration
	known  *lru.Cache[fileColours, spans]
}

func newPainter(within time.Duration) *painter {
	if within == 0 {
		within = paintWithin
	}
	return &painter{within, lru.New[fileColours, spans](maxKnownBytes)}
}

// lines returns the lines of a window of the text of a blob as HTML, coloured if its
// language is known and as far as the limits allow. A text is coloured from its beginning,
// since what a line means depends on those before it. No text becomes markup.
func (p *painter) lines(ctx context.Context, of fileColours, name, language string, text []byte, win window) []codeLine {
	if lexer := lexerOf(name, language); lexer != nil && paintable(text) {
		w, whole := newLineWriter(1, win), string(text)
		w.write("", whole[p.paintBlob(ctx, w, of, lexer, whole, win.end):])
		return w.end()
	}
	w := newLineWriter(win.first, win)
	w.write("", string(text[win.start:win.end]))
	return w.end()
}

func paintable(text []byte) bool {
	if len(text) > maxPaintedBytes {
		return false
	}
	for line := range bytes.Lines(text) {
		if len(line) > maxPaintedLine {
			return false
		}
	}
	return true
}

// yieldEvery is how long a text is coloured before other clients may go first.
const yieldEvery = 10 * time.Millisecond

// maxRun is how much text is put into one span.
const maxRun = 8 << 10

// paintTime is the time of an answer's colours: when they end, and when other clients
// may go first. Both move on while it waits for those.
type paintTime struct{ end, yield time.Time }

// begin begins the colours of an answer, which end within a time.
func begin(within time.Duration) *paintTime {
	now := time.Now()
	return &paintTime{now.Add(within), now.Add(yieldEvery)}
}

func (t *paintTime) over() bool { return !time.Now().Before(t.end) }

// wait lets others go first if it is time to, and reports whether there is time left.
func (t *paintTime) wait(ctx context.Context) bool {
	now := time.Now()
	if !now.Before(t.end) {
		return false
	}
	if now.After(t.yield) {
		if httpapi.WorkOf(ctx).Yield(ctx) != nil {
			return false
		}
		waited := time.Since(now)
		t.end, t.yield = t.end.Add(waited), now.Add(waited+yieldEvery)
	}
	return true
}

// painted takes the parts of a text with their classes, in order.
type painted interface {
	write(class, text string)
	// enough reports whether no more is wanted.
	enough() bool
}

// paint writes as much of a text as it can in a time and returns how many bytes that is.
// It gives up on a lexer that fails, or whose tokens are not the text. One token
// takes a quarter of a second at most for each rule that fails; chroma.Coalesce
// would take thousands of them as one.
func (p *painter) paint(ctx context.Context, w painted, lexer chroma.Lexer, text string, t *paintTime) (done int) {
	defer func() { _ = recover() }() // of the lexer; all that was written is whole
	next, err := lexer.Tokenise(&chroma.TokeniseOptions{State: "root"}, text)
	if err != nil {
		return 0
	}
	// The text from done to end has a class, and that from end to read is space. Neither is
	// written yet.
	class, end, read := "", 0, 0
	write := func() {
		w.write(class, text[done:end])
		w.write("", text[end:read])
		done, end = read, read
	}
	for ctx.Err() == nil && !w.enough() && t.wait(ctx) {
		token := next()
		if token == chroma.EOF || !strings.HasPrefix(text[read:], token.Value) {
			break
		}
		space := isSpace(token.Value)
		if c := classOf(token.Type); c != class && !space || read-done >= maxRun {
			write()
			class = c
		}
		if read += len(token.Value); !space {
			end = read
		}
	}
	write()
	return done
}

// isSpace reports whether a token is space within a line. It looks the same in every class:
// that of words on both sides saves the page an element.
func isSpace(token string) bool { return strings.Trim(token, " \t") == "" }

// classOf is the class that code.css knows a kind of token by, "" for none.
func classOf(t chroma.TokenType) string {
	switch {
	case t == chroma.CommentPreproc || t == chroma.CommentPreprocFile:
		return "p"
	case t.InCategory(chroma.Comment):
		return "c"
	case t == chroma.KeywordType || t == chroma.NameClass || t == chroma.NameBuiltin:
		return "t"
	case t.InCategory(chroma.Keyword) || t == chroma.NameTag || t == chroma.OperatorWord:
		return "k"
	case t.InSubCategory(chroma.LiteralString):
		return "s"
	case t.InSubCategory(chroma.LiteralNumber):
		return "n"
	case t == chroma.NameFunction || t == chroma.NameFunctionMagic || t == chroma.NameDecorator || t == chroma.NameAttribute:
		return "f"
	case t == chroma.GenericHeading || t == chroma.GenericSubheading || t == chroma.GenericStrong:
		return "h"
	}
	return ""
}
