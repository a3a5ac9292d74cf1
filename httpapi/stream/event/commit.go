package event

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/trawlsearch/trawl/query"
)

// appendCommit appends a commit that matched by its message or its diff.
func (e *Encoder) appendCommit(dst []byte, m *query.CommitMatch) []byte {
	if e.maxTextBytes > 0 {
		m = shortCommit(m, e.maxTextBytes)
	}
	text := NewCommitText(m, e.Now())
	dst = append(dst, `{"type":"commit"`...)
	dst = appendString(append(dst, `,"label":`...), text.Label())
	dst = appendString(append(dst, `,"url":`...), text.URL)
	dst = appendString(append(dst, `,"detail":`...), text.Detail())
	dst = appendRepoID(dst, m.Repo)
	dst = appendString(append(dst, `,"oid":`...), m.OID)
	dst = appendString(append(dst, `,"message":`...), m.Message)
	dst = appendSignature(dst, "author", m.Author)
	dst = appendSignature(dst, "committer", m.Committer)
	dst = appendRepoAge(dst, m.Repo)
	dst = appendString(append(dst, `,"content":`...), text.Body)
	if m.Cut {
		dst = append(dst, `,"contentTruncated":true`...)
	}
	if m.Hidden > 0 {
		dst = strconv.AppendInt(append(dst, `,"hiddenRanges":`...), int64(m.Hidden), 10)
	}
	return append(appendHighlights(append(dst, `,"ranges":`...), Highlights(m)), '}')
}

func appendSignature(dst []byte, who string, s query.Signature) []byte {
	dst = append(append(append(dst, `,"`...), who...), `Name":`...)
	dst = appendString(dst, s.Name)
	dst = append(append(append(dst, `,"`...), who...), `Date":"`...)
	return append(wireDate(s.Date).AppendFormat(dst, time.RFC3339), '"')
}

// wireDate returns a date that clients can read: git stores dates that have no
// RFC 3339 form, as they lie before the year 0 or behind 9999.
func wireDate(t time.Time) time.Time {
	t = t.UTC()
	switch {
	case t.Year() < 0:
		return time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)
	case t.Year() > 9999:
		return time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
	}
	return t
}

func appendHighlights(dst []byte, highlights [][3]uint32) []byte {
	dst = append(dst, '[')
	for i, t := range highlights {
		if i > 0 {
			dst = append(dst, ',')
		}
		for j, n := range t {
			dst = strconv.AppendUint(append(dst, "[,,"[j]), uint64(n), 10)
		}
		dst = append(dst, ']')
	}
	return append(dst, ']')
}

// shortCommit returns m with texts that fit an event: strings and lines of the
// body are cut to limit bytes, and lines left out from where the body would
// cost too much. Ranges stay if they lie on one of the remaining lines.
func shortCommit(m *query.CommitMatch, limit int) *query.CommitMatch {
	out := *m
	out.Message = shortText(m.Message, limit)
	out.Author.Name, out.Committer.Name = shortText(m.Author.Name, limit), shortText(m.Committer.Name, limit)
	out.Body, out.Ranges = "", nil
	var body strings.Builder
	ranges, start := m.Ranges, uint32(0)
	for line := range strings.Lines(m.Body) {
		text, newline := strings.CutSuffix(line, "\n")
		text = shortText(text, limit)
		if lineCost+byteCost*(body.Len()+len(text))+rangeCost*len(out.Ranges) > maxPartBytes {
			break
		}
		last := start + uint32(len(text))
		for len(ranges) > 0 && ranges[0].Start.Offset < start+uint32(len(line)) {
			r := ranges[0]
			ranges = ranges[1:]
			if r.End.Offset <= last {
				r.Start.Offset -= start - uint32(body.Len())
				r.End.Offset -= start - uint32(body.Len())
				out.Ranges = append(out.Ranges, r)
			}
		}
		body.WriteString(text)
		if newline {
			body.WriteByte('\n')
		}
		start += uint32(len(line))
	}
	out.Body = body.String()
	out.Hidden += len(m.Ranges) - len(out.Ranges)
	out.Cut = out.Cut || len(out.Body) < len(m.Body)
	return &out
}

// shortText cuts valid UTF-8 between runes.
func shortText(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}
