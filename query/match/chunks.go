package match

import (
	"bytes"
	"unicode/utf8"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/query"
)

// Chunker cuts the lines of matches out of documents. Its results stay valid;
// it belongs to one goroutine.
type Chunker struct {
	content slab[byte]
	ranges  slab[query.Range]
	chunks  slab[query.Chunk]
	// made are the chunks of the document at hand and found their ranges, both
	// used again.
	made  []query.Chunk
	found []query.Range
}

// Chunks returns the lines that spans touch, with context lines around them,
// as chunks of neighbouring lines. Spans are sorted and disjoint. A span that
// ends with a newline ends on the line of that newline, one column behind its
// last character.
//
// Line numbers come from the table of newlines per block, so that a match far
// inside a large document does not cost reading what stands before it.
func (c *Chunker) Chunks(t *Text, spans []Span, context int) ([]query.Chunk, error) {
	if len(spans) == 0 {
		return nil, nil
	}
	c.made, c.found = c.made[:0], c.found[:0]
	b := chunker{Chunker: c, t: t, context: context, lineEnd: -1}
	for _, s := range spans {
		if err := b.add(s); err != nil {
			return nil, err
		}
	}
	if err := b.flush(); err != nil {
		return nil, err
	}
	return c.chunks.clone(c.made), nil
}

// chunker makes the chunks of one document.
type chunker struct {
	*Chunker
	t       *Text
	context int

	// at is an offset whose line number is known to be atLine.
	at     int
	atLine uint32

	// The line looked at last: its number, where it starts, and where it ends,
	// which is behind its newline or the end of the text. lineEnd -1 is none.
	line               uint32
	lineStart, lineEnd int
	// column is the number of runes between lineStart and columnAt.
	columnAt int
	column   uint32

	// The chunk being built, without context: lines first to last.
	open        bool
	first, last uint32
	start, end  int
}

// add appends one span to the chunk at hand or begins a new one.
func (b *chunker) add(s Span) error {
	start, err := b.locate(int(s.Start), int(s.Start))
	if err != nil {
		return err
	}
	firstStart := b.lineStart
	end, err := b.locate(int(s.End), int(s.End)-1)
	if err != nil {
		return err
	}
	if b.open && int64(b.last)+int64(b.context) < int64(start.Line)-int64(b.context) {
		if err := b.flush(); err != nil {
			return err
		}
	}
	if !b.open {
		b.open, b.first, b.start = true, start.Line, firstStart
	}
	b.last, b.end = end.Line, b.lineEnd
	b.found = append(b.found, query.Range{Start: start, End: end})
	return nil
}

// locate returns the location of offset, counted on the line that holds the
// byte at on.
func (b *chunker) locate(offset, on int) (query.Location, error) {
	if b.lineEnd < 0 || on >= b.lineEnd {
		if err := b.seek(on); err != nil {
			return query.Location{}, err
		}
	}
	if offset < b.columnAt {
		b.columnAt, b.column = b.lineStart, 0
	}
	if offset > b.columnAt {
		text, err := b.t.Bytes(b.columnAt, offset)
		if err != nil {
			return query.Location{}, err
		}
		b.column += uint32(utf8.RuneCount(text))
		b.columnAt = offset
	}
	return query.Location{Offset: uint32(offset), Line: b.line, Column: b.column}, nil
}

// seek makes the line of the byte at on the one at hand.
func (b *chunker) seek(on int) error {
	start, err := lineStart(b.t, on)
	if err != nil {
		return err
	}
	end, err := lineEnd(b.t, on)
	if err != nil {
		return err
	}
	if b.line, err = b.number(start); err != nil {
		return err
	}
	b.lineStart, b.lineEnd = start, min(end+1, b.t.Len())
	b.columnAt, b.column = start, 0
	return nil
}

// number returns how many newlines stand before offset, which is not before
// the last one asked for.
func (b *chunker) number(offset int) (uint32, error) {
	for block := b.at / postings.BlockBytes; block < offset/postings.BlockBytes; block++ {
		next := (block + 1) * postings.BlockBytes
		if b.at%postings.BlockBytes == 0 {
			b.atLine += uint32(b.t.newlines[block])
		} else if err := b.count(next); err != nil {
			return 0, err
		}
		b.at = next
	}
	if err := b.count(offset); err != nil {
		return 0, err
	}
	b.at = offset
	return b.atLine, nil
}

func (b *chunker) count(to int) error {
	text, err := b.t.Bytes(b.at, to)
	if err != nil {
		return err
	}
	b.atLine += uint32(bytes.Count(text, []byte{'\n'}))
	return nil
}

// flush completes the chunk at hand with its context lines.
func (b *chunker) flush() error {
	if !b.open {
		return nil
	}
	start, line := b.start, b.first
	for range b.context {
		if start == 0 {
			break
		}
		var err error
		if start, err = lineStart(b.t, start-1); err != nil {
			return err
		}
		line--
	}
	end := b.end
	for range b.context {
		if end >= b.t.Len() {
			break
		}
		e, err := lineEnd(b.t, end)
		if err != nil {
			return err
		}
		end = min(e+1, b.t.Len())
	}
	text, err := b.t.Bytes(start, end)
	if err != nil {
		return err
	}
	b.made = append(b.made, query.Chunk{
		Content: b.content.clone(text),
		Start:   query.Location{Offset: uint32(start), Line: line},
		Ranges:  b.ranges.clone(b.found),
	})
	b.open, b.found = false, b.found[:0]
	return nil
}

// ShortRanges turns spans of a short text, such as a path, into ranges.
func ShortRanges(dst []query.Range, text string, spans []Span) []query.Range {
	for _, s := range spans {
		dst = append(dst, query.Range{Start: shortLocation(text, int(s.Start)), End: shortLocation(text, int(s.End))})
	}
	return dst
}

func shortLocation(text string, offset int) query.Location {
	before := text[:offset]
	line, start := 0, 0
	for i := range len(before) {
		if before[i] == '\n' {
			line, start = line+1, i+1
		}
	}
	return query.Location{
		Offset: uint32(offset), Line: uint32(line), Column: uint32(utf8.RuneCountInString(before[start:])),
	}
}
