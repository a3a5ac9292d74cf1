package event

import (
	"bytes"
	"strconv"

	"github.com/trawlsearch/trawl/query"
)

func (e *Encoder) appendChunks(dst []byte, chunks []query.Chunk) []byte {
	dst = append(dst, `,"chunkMatches":[`...)
	for i, c := range chunks {
		if i > 0 {
			dst = append(dst, ',')
		}
		if e.AroundMatches && e.MaxLineBytes > 0 {
			dst = appendAround(dst, c, e.MaxLineBytes)
			continue
		}
		content, cut := cutLines(c.Content, e.MaxLineBytes)
		dst = appendString(append(dst, `{"content":`...), content)
		dst = appendLocation(append(dst, `,"contentStart":`...), c.Start)
		dst = appendRanges(append(dst, `,"ranges":`...), c.Ranges)
		if cut {
			dst = append(dst, `,"contentTruncated":true`...)
		}
		dst = append(dst, '}')
	}
	return append(dst, ']')
}

// appendLines leaves the member out when no line has a piece of a match, as
// when all matches are empty.
func (e *Encoder) appendLines(dst []byte, chunks []query.Chunk) []byte {
	e.lines = e.lines[:0]
	for _, c := range chunks {
		e.lines = appendLines(e.lines, c)
	}
	if len(e.lines) == 0 {
		return dst
	}
	dst = append(dst, `,"lineMatches":[`...)
	for i, l := range e.lines {
		if i > 0 {
			dst = append(dst, ',')
		}
		text := l.Text
		if e.maxTextBytes > 0 {
			text = text[:min(len(text), e.maxTextBytes)]
		}
		dst = appendString(append(dst, `{"line":`...), text)
		dst = strconv.AppendUint(append(dst, `,"lineNumber":`...), uint64(l.Number), 10)
		dst = append(dst, `,"offsetAndLengths":[`...)
		for j, p := range l.Pieces {
			if j > 0 {
				dst = append(dst, ',')
			}
			dst = strconv.AppendUint(append(dst, '['), uint64(p.Column), 10)
			dst = strconv.AppendUint(append(dst, ','), uint64(p.Runes), 10)
			dst = append(dst, ']')
		}
		dst = append(dst, `]}`...)
	}
	return append(dst, ']')
}

const cutMark = "...truncated"

// cutLines returns content with every line of more than limit bytes cut to
// limit, the mark at its end included, and whether any was. A cut may fall
// inside a character. A limit below 1 cuts nothing.
func cutLines(content []byte, limit int) ([]byte, bool) {
	if limit <= 0 || longestLine(content) <= limit {
		return content, false
	}
	var out []byte
	for len(content) > 0 {
		line, newline := content, []byte(nil)
		if i := bytes.IndexByte(content, '\n'); i >= 0 {
			line, newline = content[:i], content[i:i+1]
		}
		content = content[len(line)+len(newline):]
		switch {
		case len(line) <= limit:
			out = append(out, line...)
		case limit < len(cutMark):
			out = append(out, line[:limit]...)
		default:
			out = append(append(out, line[:limit-len(cutMark)]...), cutMark...)
		}
		out = append(out, newline...)
	}
	return out, true
}

func longestLine(content []byte) int {
	longest := 0
	for {
		i := bytes.IndexByte(content, '\n')
		if i < 0 {
			return max(longest, len(content))
		}
		longest = max(longest, i)
		content = content[i+1:]
	}
}
