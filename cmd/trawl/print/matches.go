package print

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/trawlsearch/trawl/httpapi/client"
)

// Options say how matches are written.
type Options struct {
	// JSON writes each match as the object the server sent, one per line.
	JSON bool
	// Color marks paths, line numbers and matches.
	Color bool
	// Terminal says that a terminal will read it: characters that would
	// control one are spelled out.
	Terminal bool
	// Context separates the runs of lines of a document, as grep does when it
	// shows lines around matches.
	Context bool
}

// Matches writes matches to one writer. It is not safe for concurrent use.
type Matches struct {
	opts  Options
	w     *bufio.Writer
	count int
	// apart says that the next run of lines needs a separator before it.
	apart bool
}

// NewMatches returns a writer of matches.
func NewMatches(w io.Writer, o Options) *Matches {
	return &Matches{opts: o, w: bufio.NewWriterSize(w, 64<<10)}
}

// Count returns how many matches were written.
func (p *Matches) Count() int { return p.count }

// Write writes matches, all of which have left when it returns.
func (p *Matches) Write(matches []client.Match) error {
	for _, m := range matches {
		p.count++
		switch {
		case p.opts.JSON:
			p.w.Write(m.Raw)
			p.w.WriteByte('\n')
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
	// The writer remembers the first error.
	if err := p.w.Flush(); err != nil {
		return fmt.Errorf("write matches: %w", err)
	}
	return nil
}

// name writes a match that has no content: a path or a repository.
func (p *Matches) name(m client.Match) {
	p.write(p.repository(m, m.RepositoryMatches))
	if m.Path != "" {
		p.write([]piece{{"/", stylePath}})
		p.write(marked(m.Path, columns(m.PathMatches), stylePath))
	}
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
	var path []piece
	path = append(path, p.repository(m, nil)...)
	path = append(path, piece{"/" + m.Path, stylePath})
	for _, c := range chunks {
		if p.opts.Context && p.apart {
			p.write([]piece{{"--", styleSeparator}})
			p.w.WriteByte('\n')
		}
		p.apart = true
		for _, l := range linesOf(c) {
			p.line(path, l)
		}
	}
}

// symbols writes a line for each symbol: its name, what it is, and where.
func (p *Matches) symbols(m client.Match) {
	path := append(p.repository(m, nil), piece{"/" + m.Path, stylePath})
	separator := piece{":", styleSeparator}
	for _, s := range m.Symbols {
		about := " " + strings.ToLower(s.Kind)
		if s.ContainerName != "" {
			about += " in " + s.ContainerName
		}
		p.write(path)
		p.write([]piece{separator, {strconv.Itoa(s.Line), styleNumber}, separator, {s.Name, styleHit}, {about, stylePlain}})
		p.w.WriteByte('\n')
	}
}

func (p *Matches) line(path []piece, l line) {
	separator := piece{":", styleSeparator}
	if p.opts.Terminal { // a foreign line end is no news
		l.text = strings.TrimSuffix(l.text, "\r")
	}
	if len(l.hits) == 0 && !l.hit {
		separator.text = "-"
	}
	p.write(path)
	p.write([]piece{separator, {strconv.Itoa(l.number), styleNumber}, separator})
	p.write(p.matched(l.text, l.hits, stylePlain))
	p.w.WriteByte('\n')
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
