package mcp

import (
	"bytes"
	"fmt"
	"sort"
	"strings"

	"github.com/trawlsearch/trawl/query"
)

// linesPerFile is how many lines of one file are shown, those around matches included.
const linesPerFile = 40

// matchesOf is how many lines with a match are shown of a file, by its place in the
// order.
func matchesOf(place, files int) int {
	switch {
	case files == 1:
		return linesPerFile
	case place == 0:
		return 12
	case place < 3:
		return 8
	}
	return 5
}

// show adds the first files and commits to a page and returns how many.
func (f *found) show(p *page, limit int) (shown int) {
	for _, m := range f.Matches {
		if shown == limit {
			break
		}
		ok := false
		switch m := m.(type) {
		case *query.FileMatch:
			ok = showFile(p, m, matchesOf(shown, len(f.Matches)), f.context)
		case *query.CommitMatch:
			ok = showCommit(p, m)
		case *query.RepoMatch:
			ok = p.line("## %s %s", m.Repo.Name, shorten(oneLine(m.Repo.Description), 120))
		default:
			continue
		}
		if !ok {
			break
		}
		shown++
	}
	return shown
}

// finish adds what is missing, and puts the numbers above it all.
func (f *found) finish(p *page, shown int) string {
	total := f.Total
	f.tell(p, shown < total || f.Report.LimitHit())
	if total == 0 {
		p.note("Try fewer or other words, another spelling, no path or language, or list_repositories to see what is searched. Query: %s", f.Query)
		return "Nothing was found.\n" + p.String()
	}
	head := fmt.Sprintf("%s in %s", f.counted(), plural(total, f.thing()))
	switch {
	case shown < total && p.full:
		head += fmt.Sprintf(", the first %d shown; more do not fit: narrow the search, or set max_bytes up to %d", shown, maxBytes)
	case shown < total:
		head += fmt.Sprintf(", the first %d shown: narrow the search, or raise limit", shown)
	}
	return head + ".\n" + p.String()
}

// thing names what the matches are.
func (f *found) thing() string {
	switch f.Matches[0].(type) {
	case *query.CommitMatch:
		return "commit"
	case *query.RepoMatch:
		return "repository"
	}
	return "file"
}

// title names a file as citations do.
func title(m *query.FileMatch) string {
	repo := m.Repo.Name
	if m.Rev != "" {
		repo += "@" + m.Rev
	}
	return fmt.Sprintf("## %s %s", repo, shorten(m.Path, lineBytes))
}

// showFile adds a file with some of its lines. It is false if none of them fit.
func showFile(p *page, m *query.FileMatch, each, context int) bool {
	lines, left := matchLines(m, each, context)
	if len(lines) == 0 { // found by its path
		return p.line("%s", title(m))
	}
	if !p.add(title(m) + "\n" + lines[0]) {
		return false
	}
	for i, line := range lines[1:] {
		if !p.add(line) {
			left += len(lines) - 1 - i
			break
		}
	}
	if left > 0 {
		p.line("(%s more in this file)", plural(left, "line"))
	}
	return true
}

// matchLines returns lines with their numbers, a colon behind those that match, and how
// many that match are left out: those that say less than the others. Context is how many
// lines around matches m has.
func matchLines(m *query.FileMatch, each, context int) (lines []string, left int) {
	for _, s := range m.Symbols {
		if len(lines) == each {
			left++
			continue
		}
		lines = append(lines, symbolLine(s))
	}
	chosen, last := bestLines(m, each), 0
	for line := range chosen {
		last = max(last, line)
	}
	for _, c := range m.Chunks {
		// near reports whether the next line with a match in a direction is shown.
		near := func(line, step int) bool {
			for range context {
				line += step
				if _, matched := firstIn(c, line); matched {
					return chosen[line]
				}
			}
			return false
		}
		left += linesOf(c)
		line := int(c.Start.Line) - 1
		for text := range bytes.Lines(c.Content) {
			if line++; line > last+context {
				break
			}
			at, matched := firstIn(c, line)
			mark := ":"
			switch {
			case matched && !chosen[line], !matched && (len(lines) >= linesPerFile || !near(line, -1) && !near(line, 1)):
				continue
			case matched:
				left--
			default:
				mark = "-"
			}
			lines = append(lines, fmt.Sprintf("%d%s %s", line+1, mark, shortenAround(strings.TrimRight(string(text), "\r\n"), at)))
		}
	}
	return lines, left
}

// linesOf counts the lines of a chunk with a match.
func linesOf(c query.Chunk) (n int) {
	next := uint32(0) // the first line that is not counted yet
	for _, r := range c.Ranges {
		n += int(r.End.Line + 1 - max(r.Start.Line, next))
		next = r.End.Line + 1
	}
	return n
}

// firstIn returns where in a line the first match begins.
func firstIn(c query.Chunk, line int) (column int, ok bool) {
	i := sort.Search(len(c.Ranges), func(i int) bool { return int(c.Ranges[i].End.Line) >= line })
	switch {
	case i == len(c.Ranges) || int(c.Ranges[i].Start.Line) > line:
		return 0, false
	case int(c.Ranges[i].Start.Line) < line:
		return 0, true
	}
	return int(c.Ranges[i].Start.Column), true
}

func symbolLine(s query.Symbol) string {
	out := fmt.Sprintf("%d: %s %s", s.Line, s.Kind, shorten(s.Name, 200))
	if s.Container != "" {
		out += " in " + shorten(s.Container, 100)
	}
	return out
}

// commitLines is how many lines of a diff are shown of one commit.
const commitLines = 30

// showCommit adds a commit, and of a diff what was found in it.
func showCommit(p *page, m *query.CommitMatch) bool {
	subject, rest, _ := strings.Cut(m.Message, "\n")
	out := fmt.Sprintf("## %s %.12s %s %s: %s", m.Repo.Name, m.OID, m.Author.Date.Format("2006-01-02"), shorten(m.Author.Name, 60), shorten(subject, 160))
	if body := strings.TrimSpace(rest); body != "" && !m.IsDiff {
		out += "\n" + shorten(oneLine(body), 300)
	}
	if m.IsDiff {
		lines := strings.Split(strings.TrimRight(m.Body, "\n"), "\n")
		for _, line := range lines[:min(len(lines), commitLines)] {
			out += "\n" + shorten(line, lineBytes)
		}
		if more := len(lines) - commitLines; more > 0 || m.Cut {
			out += "\n(more of this diff left out: compare_revisions shows it)"
		}
	}
	return p.add(out)
}
