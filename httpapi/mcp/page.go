package mcp

import (
	"errors"
	"fmt"
	"strings"
)

// The budget of an answer in bytes. Four bytes are about one token.
const (
	defaultBytes = 16_000
	minBytes     = 1_000
	maxBytes     = 64_000
	// noteBytes is what the notes below an answer may take of it.
	noteBytes = 2_400
	// lineBytes is the longest part of a line that is shown.
	lineBytes = 300
	// errorBytes is the longest text of an error.
	errorBytes = 2_000
)

// internalError is all that a client learns of an error that is not its own.
const internalError = "internal error: the server's log tells why. Try once more, then ask in another way."

// instruction is an error that tells the client what to do instead.
type instruction struct{ text string }

func (e *instruction) Error() string { return e.text }

func instruct(format string, args ...any) error {
	return &instruction{shorten(fmt.Sprintf(format, args...), errorBytes)}
}

// page is the text of an answer, kept within a budget: what was found, and below it notes
// on what is missing.
type page struct {
	text, notes strings.Builder
	// left is what the text may still take, and spare what the notes may.
	left, spare int
	// full says that something did not fit.
	full bool
}

// newPage returns a page of so many bytes, the default for 0.
func newPage(size int) *page {
	if size == 0 {
		size = defaultBytes
	}
	size = min(max(size, minBytes), maxBytes)
	spare := min(noteBytes, size/3)
	return &page{left: size - spare, spare: spare}
}

// line adds a line, and reports false if there is no room for it. After that there is none
// for any other, so that what is shown has no holes.
func (p *page) line(format string, args ...any) bool {
	return p.add(fmt.Sprintf(format, args...))
}

func (p *page) add(line string) bool {
	if p.full || len(line)+1 > p.left {
		p.full = true
		return false
	}
	p.left -= len(line) + 1
	p.text.WriteString(line)
	p.text.WriteByte('\n')
	return true
}

// note adds a line that stands below the text, as far as there is room for notes.
func (p *page) note(format string, args ...any) {
	line := shorten(oneLine(fmt.Sprintf(format, args...)), 600)
	if len(line)+1 > p.spare {
		return
	}
	p.spare -= len(line) + 1
	p.notes.WriteString(line)
	p.notes.WriteByte('\n')
}

func (p *page) String() string {
	text, notes := strings.TrimRight(p.text.String(), "\n"), strings.TrimRight(p.notes.String(), "\n")
	if text == "" || notes == "" {
		return text + notes
	}
	return text + "\n\n" + notes
}

// shorten cuts a text to about n bytes and says so.
func shorten(text string, n int) string {
	text = strings.ToValidUTF8(text, "�")
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "") + "…"
}

// shortenAround cuts a line to lineBytes around the byte at.
func shortenAround(line string, at int) string {
	if len(line) <= lineBytes {
		return strings.ToValidUTF8(line, "�")
	}
	start := min(max(at-lineBytes/3, 0), len(line)-lineBytes)
	cut := strings.ToValidUTF8(line[start:start+lineBytes], "")
	if start > 0 {
		cut = "…" + cut
	}
	if start+lineBytes < len(line) {
		cut += "…"
	}
	return cut
}

// oneLine makes a text one line.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// plural counts things.
func plural(n int, thing string) string {
	switch {
	case n == 1:
		return "1 " + thing
	case strings.HasSuffix(thing, "ch"):
		return fmt.Sprintf("%d %ses", n, thing)
	case strings.HasSuffix(thing, "ry"):
		return fmt.Sprintf("%d %sies", n, strings.TrimSuffix(thing, "y"))
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// isInstruction reports whether an error is for the client.
func isInstruction(err error) bool {
	var i *instruction
	return errors.As(err, &i)
}
