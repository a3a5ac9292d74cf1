package browse

import (
	"html/template"
	"strings"
	"unicode/utf8"
)

// maxShownLine is how many bytes of a line are shown together.
const maxShownLine = 10 << 10

// codeLine is a line of text as HTML, or a part of it. Before and Left are how many bytes
// before and behind the part are not shown.
type codeLine struct {
	HTML         template.HTML
	Before, Left int
	// Chars is how many characters stand before the part, and Next the column of the first
	// behind it, from one, 0 if there is none.
	Chars, Next int
}

// lacks reports whether a column is behind what is shown.
func (l *codeLine) lacks(column int) bool { return l.Next > 0 && column >= l.Next }

// lineWriter cuts text into lines of HTML and keeps those of a window.
type lineWriter struct {
	window window
	// n is the number of the line at hand, from 1.
	n int
	// spans is how many bytes the markup of colours takes, most how many it may take.
	spans, most int
	done        []codeLine
	line        strings.Builder
	// shown and left are the bytes of the line at hand that are shown and not, chars the
	// characters that are shown.
	shown, left, chars int
	open               bool // there is a line that has not ended
	// returned says that the text so far ends with a carriage return, which is the end of
	// the line if a newline follows.
	returned bool
}

// newLineWriter returns a writer of a text that begins at line n.
func newLineWriter(n int, win window) *lineWriter {
	return &lineWriter{n: n, window: win, most: maxSpanBytes}
}

// full reports whether all lines of the window are there.
func (w *lineWriter) full() bool { return w.n > w.window.last }

// enough reports whether no more colours are wanted.
func (w *lineWriter) enough() bool { return w.full() || w.spans >= w.most }

func (w *lineWriter) write(class, text string) {
	for part := range strings.Lines(text) {
		if w.full() {
			return
		}
		plain, whole := strings.CutSuffix(part, "\n")
		plain, returns := strings.CutSuffix(plain, "\r")
		w.open = true
		if w.n >= w.window.first {
			if w.returned && part != "\n" {
				w.add("", "\r")
			}
			w.add(class, plain)
		}
		w.returned = returns && !whole
		if whole {
			w.cut()
		}
	}
}

func (w *lineWriter) add(class, text string) {
	kept := beginning(text, maxShownLine-w.shown)
	w.shown += len(kept)
	w.left += len(text) - len(kept)
	if w.left > 0 {
		w.shown = maxShownLine // nothing behind a gap is shown
	}
	if kept == "" {
		return
	}
	w.chars += utf8.RuneCountInString(kept)
	if class == "" {
		escapeInto(&w.line, kept)
		return
	}
	open := `<span class="` + class + `">`
	w.line.WriteString(open)
	escapeInto(&w.line, kept)
	w.line.WriteString("</span>")
	w.spans += len(open) + len("</span>")
}

// beginning returns the beginning of a text, of n bytes at most, that ends with a
// whole character.
func beginning(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:max(n, 0)]
}

func (w *lineWriter) cut() {
	if w.n >= w.window.first {
		line := codeLine{HTML: template.HTML(w.line.String()), Left: w.left}
		if w.left > 0 {
			line.Next = w.chars + 1
		}
		w.done = append(w.done, line)
	}
	w.line.Reset()
	w.n, w.shown, w.left, w.chars, w.open = w.n+1, 0, 0, 0, false
}

func (w *lineWriter) end() []codeLine {
	if w.open && !w.full() {
		w.cut()
	}
	return w.done
}

// escapeInto writes text as HTML. Characters that would not be seen, or that
// show text in another order than it has, are shown by their numbers.
func escapeInto(b *strings.Builder, text string) {
	for i, r := range text {
		if s := escaped(r); s != "" {
			b.WriteString(s)
			continue
		}
		switch {
		case deceptive(r):
			b.WriteString(`<span class="odd" data-c="` + codePoint(r) + `"></span>`)
		case r == utf8.RuneError:
			b.WriteString("\uFFFD")
		default:
			b.WriteString(text[i : i+utf8.RuneLen(r)])
		}
	}
}

// oddBytes is what a deceptive character takes in HTML.
const oddBytes = len(`<span class="odd" data-c="U+202E"></span>`)

// escapedBytes is how many bytes escapeInto makes of a text.
func escapedBytes(text []byte) (n int) {
	for i := 0; i < len(text); {
		if c := text[i]; c < utf8.RuneSelf {
			n, i = n+int(asciiBytes[c]), i+1
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		n, i = n+runeBytes(r), i+size
	}
	return n
}

// asciiBytes has runeBytes of the characters of ASCII: lines that are skipped are counted
// by it, too.
var asciiBytes = func() (all [utf8.RuneSelf]uint8) {
	for c := range all {
		all[c] = uint8(runeBytes(rune(c)))
	}
	return all
}()

// runeBytes is how many bytes escapeInto makes of a character.
func runeBytes(r rune) int {
	if s := escaped(r); s != "" {
		return len(s)
	}
	if deceptive(r) {
		return oddBytes
	}
	return utf8.RuneLen(r)
}

// escaped is the entity of a character that has a meaning in HTML, "" for any
// other.
func escaped(r rune) string {
	switch r {
	case '<':
		return "&lt;"
	case '>':
		return "&gt;"
	case '&':
		return "&amp;"
	case '"':
		return "&#34;"
	case '\'':
		return "&#39;"
	}
	return ""
}

// deceptive reports control characters other than the tab, marks that turn the
// direction of text, and characters without width.
func deceptive(r rune) bool {
	switch {
	case r == '\t':
		return false
	case r < 0x20, r >= 0x7f && r < 0xa0, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
		return true
	}
	return r == 0x200b || r == 0x200e || r == 0x200f || r == 0x061c || r == 0x2028 || r == 0x2029 || r == 0xfeff
}
