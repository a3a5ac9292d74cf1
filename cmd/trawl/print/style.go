package print

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// style is how a piece of text looks: the sequence that switches it on.
type style string

// The colours are those that grep, ripgrep and git have by default.
const (
	stylePlain     style = ""
	stylePath      style = "\x1b[35m"
	styleNumber    style = "\x1b[32m"
	styleSeparator style = "\x1b[36m"
	styleHit       style = "\x1b[1;31m"
	styleAdded     style = "\x1b[32m"
	styleRemoved   style = "\x1b[31m"
	styleReset           = "\x1b[0m"
)

// piece is a text in one style.
type piece struct {
	text  string
	style style
}

// visible returns text with newlines spelled out and, for a terminal, with
// every character that would control it or hide the order of others.
func visible(text string, terminal bool) string {
	hidden := func(r rune) bool { return r == '\n' || terminal && controls(r) }
	if !strings.ContainsFunc(text, hidden) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case !hidden(r):
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// controls reports whether r is a control character other than a tab, or
// changes the direction of the text around it.
func controls(r rune) bool {
	return unicode.IsControl(r) && r != '\t' || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// Line returns text as one line that does nothing to a terminal.
func Line(text string) string { return visible(text, true) }

// HarmlessJSON returns a JSON value whose texts do nothing to a terminal: JSON lets
// most of what controls one stand as it is. The value stays the same.
func HarmlessJSON(raw []byte) []byte {
	if !bytes.ContainsFunc(raw, controls) {
		return raw
	}
	var out []byte
	for _, r := range string(raw) {
		switch {
		case r == '\n' || !controls(r):
			out = utf8.AppendRune(out, r)
		case r == '\r':
			out = append(out, ' ') // outside of texts
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return out
}
