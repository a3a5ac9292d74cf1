package event

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"github.com/trawlsearch/trawl/query"
)

// cutLine is a line of which a part is sent. The part begins behind so many
// characters, and as many follow it.
type cutLine struct{ line, before, behind uint32 }

// appendAround appends a chunk whose lines of more than limit bytes are cut
// around their first match. Ranges stay those of the document; cuts says what is
// to be taken off their columns.
func appendAround(dst []byte, c query.Chunk, limit int) []byte {
	content, cuts := cutAround(c, limit)
	dst = appendString(append(dst, `{"content":`...), content)
	dst = appendLocation(append(dst, `,"contentStart":`...), c.Start)
	dst = appendRanges(append(dst, `,"ranges":`...), c.Ranges)
	if len(cuts) > 0 {
		dst = append(dst, `,"contentTruncated":true,"cuts":[`...)
		for i, cut := range cuts {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = strconv.AppendUint(append(dst, '['), uint64(cut.line), 10)
			dst = strconv.AppendUint(append(dst, ','), uint64(cut.before), 10)
			dst = strconv.AppendUint(append(dst, ','), uint64(cut.behind), 10)
			dst = append(dst, ']')
		}
		dst = append(dst, ']')
	}
	return append(dst, '}')
}

// cutAround returns the content of a chunk with every line of more than limit
// bytes cut to at most limit, between characters. Of a line with a match the part
// has the beginning of its first one, and a third of the limit before it.
func cutAround(c query.Chunk, limit int) ([]byte, []cutLine) {
	if longestLine(c.Content) <= limit {
		return c.Content, nil
	}
	var out []byte
	var cuts []cutLine
	ranges, line, offset := c.Ranges, c.Start.Line, int(c.Start.Offset)
	for text := c.Content; len(text) > 0; line++ {
		whole := firstLine(text)
		body := bytes.TrimSuffix(whole, []byte{'\n'})
		for len(ranges) > 0 && int(ranges[0].End.Offset) <= offset {
			ranges = ranges[1:]
		}
		if len(body) <= limit {
			out = append(out, body...)
		} else {
			from := 0
			if len(ranges) > 0 && int(ranges[0].Start.Offset) < offset+len(whole) {
				from = max(0, min(int(ranges[0].Start.Offset)-offset-limit/3, len(body)-limit))
			}
			from = runeStart(body, from)
			to := runeStart(body, min(len(body), from+limit))
			out = append(out, body[from:to]...)
			cuts = append(cuts, cutLine{line, uint32(utf8.RuneCount(body[:from])), uint32(utf8.RuneCount(body[to:]))})
		}
		out = append(out, whole[len(body):]...)
		offset += len(whole)
		text = text[len(whole):]
	}
	return out, cuts
}

// runeStart is where the character at i begins. Bytes that are no text have at
// most three before them that are looked at.
func runeStart(text []byte, i int) int {
	for k := i; k >= 0 && k > i-utf8.UTFMax && k < len(text); k-- {
		if utf8.RuneStart(text[k]) {
			return k
		}
	}
	return i
}
