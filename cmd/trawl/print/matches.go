package print

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/trawlsearch/trawl/httpapi/client"
	"github.com/trawlsearch/trawl/httpapi/code"
	"github.com/trawlsearch/trawl/httpapi/export"
)

// Form is what is written of matches.
type Form int

// The forms.
const (
	// Lines are those of grep.
	Lines Form = iota
	// JSON is each match as the object the server sent, one per line.
	JSON
	// CSV is a table with a row for each result.
	CSV
	// Files is a line for each document, repository or commit.
	Files
	// Counts is the same with the number of results behind it.
	Counts
)

// Options say how matches are written.
type Options struct {
	Form Form
	// Color marks paths, line numbers and matches.
	Color bool
	// Terminal says that a terminal will read it: characters that would
	// control one are spelled out.
	Terminal bool
	// Heading writes the name of a document once, above its lines.
	Heading bool
	// Links is the address of the server whose pages names lead to on a terminal
	// that can follow them; empty for none.
	Links string
	// Before and After are how many lines around each match are shown. Runs of
	// lines are then separated, as grep does.
	Before, After int
}

// Matches writes matches to one writer. It is not safe for concurrent use.
type Matches struct {
	opts  Options
	w     *bufio.Writer
	table *export.Table
	count int
	place place
	// begun says that something has been written for people.
	begun bool
}

// place is what was written last.
type place struct {
	// key is of the document, or of what else a match is about.
	key string
	// name and results are the line of a count that has not been written yet: a
	// document may come in several parts.
	name    []piece
	address string
	results int
	// line is the number of the last line of the document, and first says that
	// there is none from which the next one needs a separator. block says that
	// lines below a heading came last.
	line         int
	first, block bool
}

// NewMatches returns a writer of matches. Close it at the end.
func NewMatches(w io.Writer, o Options) *Matches {
	p := &Matches{opts: o, w: bufio.NewWriterSize(w, 64<<10)}
	if o.Form == CSV {
		var clean func(string) string
		if o.Terminal {
			clean = Line
		}
		p.table = export.NewTable(p.w, clean)
	}
	return p
}

// Count returns how many matches were written.
func (p *Matches) Count() int { return p.count }

// Write writes matches, all of which have left when it returns, but for the count
// of the last document.
func (p *Matches) Write(matches []client.Match) error {
	for _, m := range matches {
		p.count++
		switch p.opts.Form {
		case JSON:
			p.w.Write(p.object(m.Raw))
			p.w.WriteByte('\n')
		case CSV:
			if err := p.table.WriteMatch(export.FromClient(m)); err != nil {
				return fmt.Errorf("write matches: %w", err)
			}
		case Files, Counts:
			p.summary(m)
		default:
			p.match(m)
		}
	}
	return p.flush()
}

// Close writes what is left. It does not close the writer.
func (p *Matches) Close() error {
	p.endCount()
	return p.flush()
}

func (p *Matches) flush() error {
	if p.table != nil {
		if err := p.table.Flush(); err != nil {
			return fmt.Errorf("write matches: %w", err)
		}
	}
	// The writer remembers the first error.
	if err := p.w.Flush(); err != nil {
		return fmt.Errorf("write matches: %w", err)
	}
	return nil
}

// object returns a match as the server sent it. JSON lets most characters that
// control a terminal stand in texts.
func (p *Matches) object(raw []byte) []byte {
	if !p.opts.Terminal {
		return raw
	}
	return HarmlessJSON(raw)
}

// match writes a match for people.
func (p *Matches) match(m client.Match) {
	lines := len(m.Symbols) > 0 || len(m.ChunkMatches) > 0
	if m.Type == "commit" || !lines {
		if p.place.block {
			p.w.WriteByte('\n')
		}
		p.place, p.begun = place{}, true
	}
	switch {
	case m.Type == "commit":
		p.commit(m)
	case m.Type == "person" || m.Type == "team":
		p.owner(m)
	case len(m.Symbols) > 0:
		p.symbols(m)
	case len(m.ChunkMatches) > 0:
		p.content(m)
	default:
		p.name(m)
	}
}

// document begins the lines of a document, and returns what stands before each.
func (p *Matches) document(m client.Match) (before []piece) {
	name := append(p.repository(m, nil), piece{"/" + m.Path, stylePath})
	if key := keyOf(m); key != p.place.key {
		p.place = place{key: key, line: -1, first: !p.begun || p.opts.Heading, block: p.opts.Heading}
		if p.opts.Heading {
			p.heading(m, name)
		}
	}
	p.begun = true
	if p.opts.Heading {
		return nil
	}
	return append(name, piece{":", styleSeparator})
}

func (p *Matches) heading(m client.Match, name []piece) {
	if p.begun {
		p.w.WriteByte('\n')
	}
	p.linked(address(m), name)
	p.w.WriteByte('\n')
}

// keyOf tells documents, and other matches, apart.
func keyOf(m client.Match) string {
	return strings.Join(append([]string{m.Repository, m.Path, m.OID, m.Handle, m.Email}, m.Branches...), "\x00")
}

// address is the page of what a match is about, without a host.
func address(m client.Match) string {
	rev := ""
	if len(m.Branches) > 0 {
		rev = m.Branches[0]
	}
	switch {
	case m.OID != "":
		return code.CommitURL(m.Repository, m.OID)
	case m.Path != "":
		return code.BlobURL(m.Repository, rev, m.Path)
	case m.Repository != "":
		return code.RepositoryURL(m.Repository, rev)
	}
	return ""
}

// name writes a match that has no content: a path or a repository.
func (p *Matches) name(m client.Match) {
	name := p.repository(m, m.RepositoryMatches)
	if m.Path != "" {
		name = append(name, piece{"/", stylePath})
		name = append(name, marked(m.Path, columns(m.PathMatches), stylePath)...)
	}
	p.linked(address(m), name)
	p.w.WriteByte('\n')
}

func (p *Matches) repository(m client.Match, hits []client.Range) []piece {
	pieces := marked(m.Repository, columns(hits), stylePath)
	if len(m.Branches) > 0 && m.Branches[0] != "" {
		pieces = append(pieces, piece{"@" + m.Branches[0], stylePath})
	}
	return pieces
}

// content writes the lines of a document, by number.
func (p *Matches) content(m client.Match) {
	chunks := slices.Clone(m.ChunkMatches)
	slices.SortStableFunc(chunks, func(a, b client.ChunkMatch) int { return a.ContentStart.Line - b.ContentStart.Line })
	before := p.document(m)
	for _, c := range chunks {
		for _, l := range p.opts.around(linesOf(c)) {
			p.separate(l.number)
			p.line(m, before, l)
		}
	}
}

// around returns the lines that are to be shown: those that a match touches and
// what is asked for before and after.
func (o Options) around(lines []line) []line {
	if o.Before == o.After {
		return lines // the server sends no others
	}
	shown := make([]bool, len(lines))
	for i, l := range lines {
		if len(l.hits) == 0 && !l.hit {
			continue
		}
		for j := max(i-o.Before, 0); j <= min(i+o.After, len(lines)-1); j++ {
			shown[j] = true
		}
	}
	var out []line
	for i, l := range lines {
		if shown[i] {
			out = append(out, l)
		}
	}
	return out
}

// separate writes what stands between runs of lines, before the line of a number.
func (p *Matches) separate(number int) {
	if (p.opts.Before > 0 || p.opts.After > 0) && !p.place.first && p.place.line != number-1 {
		p.write([]piece{{"--", styleSeparator}})
		p.w.WriteByte('\n')
	}
	p.place.line, p.place.first = number, false
}

// symbols writes a line for each symbol: its name, what it is, and where.
func (p *Matches) symbols(m client.Match) {
	before := p.document(m)
	for _, s := range m.Symbols {
		about := " " + strings.ToLower(s.Kind)
		if s.ContainerName != "" {
			about += " in " + s.ContainerName
		}
		p.number(m, before, s.Line, ":")
		p.write([]piece{{s.Name, styleHit}, {about, stylePlain}})
		p.w.WriteByte('\n')
	}
}

func (p *Matches) line(m client.Match, before []piece, l line) {
	separator := ":"
	if p.opts.Terminal { // a foreign line end is no news
		l.text = strings.TrimSuffix(l.text, "\r")
	}
	if len(l.hits) == 0 && !l.hit {
		separator = "-"
	}
	p.number(m, before, l.number, separator)
	p.write(p.matched(l.text, l.hits, stylePlain))
	p.w.WriteByte('\n')
}

// number writes where a line stands, as a link to it.
func (p *Matches) number(m client.Match, before []piece, number int, separator string) {
	if len(before) > 0 {
		before = slices.Clone(before)
		before[len(before)-1].text = separator
	}
	text := strconv.Itoa(number)
	p.linked(address(m)+"?L"+text, append(before, piece{text, styleNumber}))
	p.write([]piece{{separator, styleSeparator}})
}

// summary writes the name of what a match is about once, or begins the count of
// its results.
func (p *Matches) summary(m client.Match) {
	if key := keyOf(m); key != p.place.key {
		p.endCount()
		p.place = place{key: key, name: p.nameOf(m), address: address(m)}
		if p.opts.Form == Files {
			p.linked(p.place.address, p.place.name)
			p.w.WriteByte('\n')
		}
	}
	p.place.results += resultsOf(m)
}

// nameOf is a match without what was found in it.
func (p *Matches) nameOf(m client.Match) []piece {
	switch {
	case m.OID != "":
		return append(p.repository(m, nil), piece{" ", stylePlain}, piece{m.OID, styleNumber})
	case m.Type == "person" || m.Type == "team":
		return ownerName(m)
	case m.Path != "":
		return append(p.repository(m, nil), piece{"/" + m.Path, stylePath})
	}
	return p.repository(m, nil)
}

// resultsOf counts as the server does.
func resultsOf(m client.Match) int {
	n := len(m.Symbols) + len(m.CommitDetails.Ranges) + m.HiddenRanges
	for _, c := range m.ChunkMatches {
		n += len(c.Ranges)
	}
	return max(n, 1)
}

// endCount writes the count of the last document.
func (p *Matches) endCount() {
	if p.opts.Form != Counts || p.place.key == "" {
		return
	}
	p.linked(p.place.address, p.place.name)
	p.write([]piece{{":", styleSeparator}, {strconv.Itoa(p.place.results), styleNumber}})
	p.w.WriteByte('\n')
	p.place = place{}
}

// linked writes pieces that lead to a page of the server, by the sequence that
// https://gist.github.com/egmontkob/eb114294efbcd5adb1944c9f3cb5feda describes.
// The address has no character that could end it: paths are escaped.
func (p *Matches) linked(address string, pieces []piece) {
	if p.opts.Links == "" || address == "" {
		p.write(pieces)
		return
	}
	p.w.WriteString("\x1b]8;;" + Line(strings.TrimSuffix(p.opts.Links, "/")) + address + "\x1b\\")
	p.write(pieces)
	p.w.WriteString("\x1b]8;;\x1b\\")
}

// write writes pieces, whose text is made harmless for a terminal. A newline
// would make two lines of one for any reader.
func (p *Matches) write(pieces []piece) {
	for _, s := range pieces {
		if s.text == "" {
			continue
		}
		text := visible(s.text, p.opts.Terminal)
		if p.opts.Color && s.style != stylePlain {
			p.w.WriteString(string(s.style) + text + styleReset)
			continue
		}
		p.w.WriteString(text)
	}
}
