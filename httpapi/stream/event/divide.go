package event

import (
	"bytes"
	"unicode/utf8"

	"github.com/trawlsearch/trawl/query"
)

// The limit of a part of a divided match, and the most bytes that its pieces
// take as JSON: an escaped byte of text, the frame of a line match with one
// piece, a range with its three numbers twice.
const (
	maxPartBytes = 4 << 20
	byteCost     = 6
	lineCost     = 100
	rangeCost    = 200
)

// maxPartLineBytes and maxPathRanges bound, in a divided match only, the text
// of a line and the highlights of the path.
const (
	maxPartLineBytes = 64 << 10
	maxPathRanges    = 1000
)

// Divide returns m, a match too large for one event, as matches that are not.
// Only documents with content or symbols come as several; from others, what is long and
// not needed to find them is left out.
func Divide(m query.Match) []query.Match {
	switch m := m.(type) {
	case *query.CommitMatch, *query.OwnerMatch:
		return []query.Match{m} // appendPart cuts them
	case *query.RepoMatch:
		bare := *m.Repo
		bare.Description, bare.Topics, bare.Metadata = "", nil, nil
		return []query.Match{&query.RepoMatch{Repo: &bare, Rev: m.Rev, HasRev: m.HasRev}}
	case *query.FileMatch:
		if len(m.Symbols) > 0 {
			return divideSymbols(m)
		}
		if len(m.Chunks) > 0 {
			return divideContent(m)
		}
		bare := *m
		bare.Debug = ""
		bare.PathRanges = m.PathRanges[:min(len(m.PathRanges), maxPathRanges)]
		return []query.Match{&bare}
	}
	return nil
}

// divideContent returns m as several matches of the same document. Together
// they hold every range once; a range over lines that fall into two parts ends
// with the first. The encoder of the parts must cut lines to maxPartLineBytes.
func divideContent(m *query.FileMatch) []query.Match {
	var parts []query.Match
	var last *query.FileMatch
	room := 0
	for _, whole := range m.Chunks {
		for _, c := range divideChunk(whole) {
			cost := chunkCost(c)
			if cost > room {
				part := *m
				part.Chunks, part.PathRanges = nil, nil
				if last == nil {
					part.PathRanges = m.PathRanges[:min(len(m.PathRanges), maxPathRanges)]
				}
				last = &part
				parts = append(parts, last)
				room = maxPartBytes
			}
			last.Chunks = append(last.Chunks, c)
			room -= cost
		}
	}
	return parts
}

// divideChunk cuts a chunk between lines into chunks that fit a part, each
// with the ranges that start in it. Lines between that no range starts in are
// left out where a part would hold nothing else.
func divideChunk(c query.Chunk) []query.Chunk {
	var out []query.Chunk
	part := query.Chunk{Start: c.Start}
	cost, at := 0, c.Start
	flush := func() {
		if len(part.Ranges) > 0 {
			out = append(out, divideRanges(part)...)
		}
		part = query.Chunk{Start: at}
		cost = 0
	}
	// Both slices of part are windows of c's that grow by a line at a time.
	text, ranges := c.Content, c.Ranges
	for len(text) > 0 {
		line, n := firstLine(text), startIn(ranges, at.Line)
		more := lineBytesCost(line) + rangeCost*n
		if cost > 0 && cost+more > maxPartBytes {
			flush()
		}
		if cost == 0 {
			part.Content, part.Ranges = text[:0], ranges[:0]
		}
		part.Content = part.Content[:len(part.Content)+len(line)]
		part.Ranges = part.Ranges[:len(part.Ranges)+n]
		cost += more
		at.Offset += uint32(len(line))
		at.Line++
		text, ranges = text[len(line):], ranges[n:]
	}
	flush()
	return out
}

// divideRanges repeats a chunk's text as often as its ranges need to fit; only
// a single line can hold more of them than fit a part.
func divideRanges(c query.Chunk) []query.Chunk {
	const most = (maxPartBytes - byteCost*maxPartLineBytes - lineCost) / rangeCost
	size := len(c.Ranges)
	if chunkCost(c) > maxPartBytes {
		size = most
	}
	var out []query.Chunk
	for ranges := clip(c); len(ranges) > 0; {
		n := min(len(ranges), size)
		out = append(out, query.Chunk{Content: c.Content, Start: c.Start, Ranges: ranges[:n:n]})
		ranges = ranges[n:]
	}
	return out
}

// clip returns the ranges of c, the last of which ends with the text at the
// latest.
func clip(c query.Chunk) []query.Range {
	last := len(c.Ranges) - 1
	end := c.Start.Offset + uint32(len(c.Content))
	if c.Ranges[last].End.Offset <= end {
		return c.Ranges
	}
	text := bytes.TrimSuffix(c.Content, []byte{'\n'})
	line := c.Content[bytes.LastIndexByte(text, '\n')+1:]
	ranges := append([]query.Range(nil), c.Ranges...)
	ranges[last].End = query.Location{
		Offset: end,
		Line:   c.Start.Line + uint32(bytes.Count(text, []byte{'\n'})),
		Column: uint32(utf8.RuneCount(line)),
	}
	return ranges
}

// chunkCost is the most that c takes as JSON with its lines cut.
func chunkCost(c query.Chunk) int {
	cost := lineCost + rangeCost*len(c.Ranges)
	for text := c.Content; len(text) > 0; {
		line := firstLine(text)
		cost += lineBytesCost(line)
		text = text[len(line):]
	}
	return cost
}

func lineBytesCost(line []byte) int {
	return lineCost + byteCost*min(len(line), maxPartLineBytes)
}

// firstLine returns the first line of text with its newline.
func firstLine(text []byte) []byte {
	if i := bytes.IndexByte(text, '\n'); i >= 0 {
		return text[:i+1]
	}
	return text
}

// startIn counts the leading ranges that start on the line or before.
func startIn(ranges []query.Range, line uint32) int {
	n := 0
	for n < len(ranges) && ranges[n].Start.Line <= line {
		n++
	}
	return n
}
