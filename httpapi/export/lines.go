package export

import (
	"strings"
	"unicode/utf8"

	"github.com/trawlsearch/trawl/query"
)

// maxRunes is how much text a row has, and leadRunes how much of that stands
// before the result where the text is longer. A line of megabytes may have a
// result every few bytes, and each row repeats it.
const (
	maxRunes  = 1000
	leadRunes = 100
)

// cutMark stands where a text was cut.
const cutMark = "…"

// cursor walks forward through the text of a chunk, so that all its places take
// one pass. A place behind the cursor, which no server of ours sends, starts it
// over.
type cursor struct {
	text string
	// first is the number of the first line of text. line, column and offset are
	// where the cursor is.
	first, line, column uint32
	offset              int
}

// moveTo moves the cursor to a place, or to the end of its line or of the text.
func (c *cursor) moveTo(to query.Location) {
	if to.Line < c.line || to.Line == c.line && to.Column < c.column {
		c.line, c.column, c.offset = c.first, 0, 0
	}
	for c.line < to.Line {
		i := strings.IndexByte(c.text[c.offset:], '\n')
		if i < 0 {
			c.offset = len(c.text)
			return
		}
		c.offset += i + 1
		c.line++
		c.column = 0
	}
	for c.column < to.Column && c.offset < len(c.text) && c.text[c.offset] != '\n' {
		_, size := utf8.DecodeRuneInString(c.text[c.offset:])
		c.offset += size
		c.column++
	}
}

// lines returns the lines that a range touches, without the last line's end, and
// cut if they are long.
func (c *cursor) lines(r query.Range) string {
	c.moveTo(r.Start)
	newlines := int(r.End.Line) - int(r.Start.Line)
	if r.End.Column == 0 {
		newlines-- // a range that ends before the first column of a line is not in it
	}
	from, before := back(c.text, c.offset)
	to, behind := forward(c.text, c.offset, newlines)
	if before+behind <= maxRunes {
		return strings.TrimSuffix(c.text[from:to], "\r")
	}
	return cut(c.text, c.offset, from, to)
}

// back returns where the line that holds an offset begins and how many runes lie
// between, or the offset maxRunes+1 runes before.
func back(text string, at int) (from, runes int) {
	for from = at; from > 0 && text[from-1] != '\n' && runes <= maxRunes; runes++ {
		_, size := utf8.DecodeLastRuneInString(text[:from])
		from -= size
	}
	return from, runes
}

// forward returns where the line ends that lies so many newlines behind at, and
// how many runes lie between, or the offset maxRunes+1 runes behind.
func forward(text string, at, newlines int) (to, runes int) {
	for to = at; to < len(text) && runes <= maxRunes; runes++ {
		if text[to] == '\n' {
			if newlines <= 0 {
				break
			}
			newlines--
		}
		_, size := utf8.DecodeRuneInString(text[to:])
		to += size
	}
	return to, runes
}

// cut returns the part of text[from:to] around start.
func cut(text string, start, from, to int) string {
	lead := start
	for n := 0; n < leadRunes && lead > from; n++ {
		_, size := utf8.DecodeLastRuneInString(text[:lead])
		lead -= size
	}
	if lead > from {
		return cutMark + short(text[lead:to])
	}
	return short(text[lead:to])
}

// short returns the first maxRunes runes of a text.
func short(text string) string {
	if len(text) <= maxRunes {
		return text
	}
	n := 0
	for i := range text {
		if n == maxRunes {
			return text[:i] + cutMark
		}
		n++
	}
	return text
}
