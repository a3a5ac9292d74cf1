package mcp

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/trawlsearch/trawl/query"
)

// linesPerFile is how many lines of one file are shown, those around matches included.
const linesPerFile = 40

// matchesPerFile is how many lines with a match are shown of one file where several
// files were found.
const matchesPerFile = 6

// show adds the first files and commits to a page and returns how many.
func (f *found) show(p *page, limit int) (shown int) {
	each := matchesPerFile
	if len(f.Matches) == 1 {
		each = linesPerFile
	}
	for _, m := range f.Matches {
		if shown == limit {
			break
		}
		ok := false
		switch m := m.(type) {
		case *query.FileMatch:
			ok = showFile(p, m, each)
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
func showFile(p *page, m *query.FileMatch, each int) bool {
	lines, left := matchLines(m, each)
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
// many that match are left out.
func matchLines(m *query.FileMatch, each int) (lines []string, left int) {
	for _, s := range m.Symbols {
		if len(lines) == each {
			left++
			continue
		}
		lines = append(lines, symbolLine(s))
	}
	matched := 0
	for _, c := range m.Chunks {
		for i, text := range bytes.Split(bytes.TrimSuffix(c.Content, []byte("\n")), []byte("\n")) {
			at, hit := firstIn(c, int(c.Start.Line)+i)
			switch {
			case hit && matched == each:
				left++
				continue
			case hit:
				matched++
			case matched == each && left > 0, len(lines) >= linesPerFile:
				continue
			}
			mark := "-"
			if hit {
				mark = ":"
			}
			lines = append(lines, fmt.Sprintf("%d%s %s", int(c.Start.Line)+i+1, mark, shortenAround(strings.TrimRight(string(text), "\r"), at)))
		}
	}
	return lines, left
}

// firstIn returns where in a line the first match begins.
func firstIn(c query.Chunk, line int) (column int, ok bool) {
	for _, r := range c.Ranges {
		if int(r.Start.Line) <= line && line <= int(r.End.Line) {
			if int(r.Start.Line) < line {
				return 0, true
			}
			return int(r.Start.Column), true
		}
	}
	return 0, false
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
