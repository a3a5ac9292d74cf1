package browse

import (
	"context"
	"html/template"
	"path"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
)

// What is coloured. Lexers are backtracking regexps, which text can be written
// against: beyond any of these the rest stays plain.
const (
	maxPaintedBytes = 512 << 10
	maxPaintedLine  = 4 << 10
	paintWithin     = 400 * time.Millisecond
)

// painter colours texts. At most cap(turns) are at work at once; who finds none
// free does without.
type painter struct {
	turns  chan struct{}
	within time.Duration
}

func newPainter(within time.Duration) *painter {
	if within == 0 {
		within = paintWithin
	}
	return &painter{turns: make(chan struct{}, 2), within: within}
}

// lines returns the lines of a text as HTML, coloured as its language has it
// if that is known and within the budget. Nothing in it can be markup.
func (p *painter) lines(ctx context.Context, name, language, text string) []template.HTML {
	w := &lineWriter{}
	rest := text
	if lexer := lexerOf(name, language); lexer != nil && paintable(text) {
		select {
		case p.turns <- struct{}{}:
			rest = text[p.paint(ctx, w, lexer, text):]
			<-p.turns
		default:
		}
	}
	w.write("", rest)
	return w.end()
}

func lexerOf(name, language string) chroma.Lexer {
	if language != "" {
		if l := lexers.Get(language); l != nil {
			return l
		}
	}
	return lexers.Match(path.Base(name))
}

func paintable(text string) bool {
	if len(text) > maxPaintedBytes {
		return false
	}
	for line := range strings.Lines(text) {
		if len(line) > maxPaintedLine {
			return false
		}
	}
	return true
}

// paint writes as much of a text as it can and returns how many bytes that is.
// A lexer that fails, or tells another text than it was given, is left.
func (p *painter) paint(ctx context.Context, w *lineWriter, lexer chroma.Lexer, text string) (done int) {
	defer func() { _ = recover() }() // of a lexer; what it did is whole
	end := time.Now().Add(p.within)
	next, err := chroma.Coalesce(lexer).Tokenise(&chroma.TokeniseOptions{State: "root"}, text)
	if err != nil {
		return 0
	}
	for ctx.Err() == nil && time.Now().Before(end) {
		t := next()
		if t == chroma.EOF || !strings.HasPrefix(text[done:], t.Value) {
			return done
		}
		w.write(classOf(t.Type), t.Value)
		done += len(t.Value)
	}
	return done
}

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

// lineWriter cuts text into lines of HTML.
type lineWriter struct {
	done []template.HTML
	line strings.Builder
	open bool // there is a line that has not ended
}

func (w *lineWriter) write(class, text string) {
	for part := range strings.Lines(text) {
		plain, whole := strings.CutSuffix(part, "\n")
		w.open = true
		w.add(class, strings.TrimSuffix(plain, "\r"))
		if whole {
			w.cut()
		}
	}
}

func (w *lineWriter) add(class, text string) {
	if text == "" {
		return
	}
	if class == "" {
		escapeInto(&w.line, text)
		return
	}
	w.line.WriteString(`<span class="` + class + `">`)
	escapeInto(&w.line, text)
	w.line.WriteString("</span>")
}

func (w *lineWriter) cut() {
	w.done = append(w.done, template.HTML(w.line.String()))
	w.line.Reset()
	w.open = false
}

func (w *lineWriter) end() []template.HTML {
	if w.open {
		w.cut()
	}
	return w.done
}

// escapeInto writes text as HTML. Characters that would not be seen, or that
// show text in another order than it has, are shown by their numbers.
func escapeInto(b *strings.Builder, text string) {
	for i, r := range text {
		switch {
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case r == '&':
			b.WriteString("&amp;")
		case r == '"':
			b.WriteString("&#34;")
		case r == '\'':
			b.WriteString("&#39;")
		case deceptive(r):
			b.WriteString(`<span class="odd" data-c="` + codePoint(r) + `"></span>`)
		case r == utf8.RuneError:
			b.WriteString("\uFFFD")
		default:
			b.WriteString(text[i : i+utf8.RuneLen(r)])
		}
	}
}

// deceptive tells of control characters but the tab, of the marks that turn
// the direction of text, and of characters without width.
func deceptive(r rune) bool {
	switch {
	case r == '\t':
		return false
	case r < 0x20, r >= 0x7f && r < 0xa0, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
		return true
	}
	return r == 0x200b || r == 0x200e || r == 0x200f || r == 0x061c || r == 0x2028 || r == 0x2029 || r == 0xfeff
}
