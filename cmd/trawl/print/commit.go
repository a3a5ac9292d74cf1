package print

import (
	"strings"
	"unicode/utf8"

	"github.com/trawlsearch/trawl/httpapi/client"
	"github.com/trawlsearch/trawl/query/diff"
)

// indent stands before the lines of a commit.
const indent = "    "

// shortOID is how many digits of a commit's id are shown.
const shortOID = 10

// commit writes a line about a commit and below it what was found: the preview
// of its diff, or lines of its message.
func (p *Matches) commit(m client.Match) {
	body, isDiff := unfence(m.Content)
	if p.opts.Terminal { // a foreign line end is no news
		body = strings.ReplaceAll(body, "\r\n", "\n")
	}
	lines := strings.Split(body, "\n")
	hits := make([][]columnRange, len(lines))
	for _, r := range m.Ranges {
		if i := r[0] - 1; i >= 0 && i < len(hits) {
			hits[i] = append(hits[i], columnRange{r[1], r[1] + r[2]})
		}
	}
	subject, _, _ := strings.Cut(m.Message, "\n")
	subject = strings.TrimSpace(subject)
	p.linked(address(m), append(p.repository(m, nil), piece{" ", stylePlain}, piece{m.OID[:min(shortOID, len(m.OID))], styleNumber}))
	pieces := []piece{{" " + m.AuthorName + ", " + age(m.Detail), stylePlain}, {": ", styleSeparator}}
	if isDiff {
		p.write(append(pieces, p.matched(subject, nil, stylePlain)...))
		p.w.WriteByte('\n')
		p.preview(body, hits)
		return
	}
	p.write(append(pieces, p.matched(lines[0], hits[0], stylePlain)...))
	p.w.WriteByte('\n')
	for i, line := range lines[1:] {
		if len(hits[i+1]) > 0 {
			p.indented(p.matched(line, hits[i+1], stylePlain))
		}
	}
}

// unfence takes the body out of a block of Markdown.
func unfence(content string) (body string, isDiff bool) {
	fence, body, _ := strings.Cut(content, "\n")
	body = strings.TrimSuffix(body, "\n```")
	return body, fence == "```diff"
}

// age takes the second half from a link such as [`5f1c0e7` 3 days ago](/url).
func age(detail string) string {
	_, words, _ := strings.Cut(detail, "` ")
	words, _, _ = strings.Cut(words, "](")
	return words
}

// preview writes the lines of a diff.
func (p *Matches) preview(body string, hits [][]columnRange) {
	i := 0
	for lines := diff.ReadBody(body); lines.Next(); i++ {
		var style style
		switch lines.Kind {
		case diff.FileHeader:
			style = stylePath
			moveHits(hits[i], diff.OldPath(lines.Text))
		case diff.HunkHeader:
			style = styleSeparator
		case diff.Added:
			style = styleAdded
		case diff.Removed:
			style = styleRemoved
		}
		p.indented(p.matched(lines.Text, hits[i], style))
	}
}

// moveHits turns columns in the header of a file into runes: up to the second
// path they count bytes.
func moveHits(hits []columnRange, oldPath string) {
	more := len(oldPath) - utf8.RuneCountInString(oldPath)
	for i, h := range hits {
		if h.from > len(oldPath) {
			hits[i] = columnRange{h.from - more, h.to - more}
		}
	}
}

func (p *Matches) indented(pieces []piece) {
	p.w.WriteString(indent)
	p.write(pieces)
	p.w.WriteByte('\n')
}

// owner writes who owns documents that matched.
func (p *Matches) owner(m client.Match) {
	p.write(ownerName(m))
	p.w.WriteByte('\n')
}

func ownerName(m client.Match) []piece {
	if m.Handle != "" {
		return []piece{{"@" + m.Handle, stylePath}}
	}
	return []piece{{m.Email, stylePath}}
}
