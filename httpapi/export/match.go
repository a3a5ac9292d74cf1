package export

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/trawlsearch/trawl/query"
)

// WriteMatch writes the rows of a match: one for each place in a text, each
// symbol, and each other match.
func (t *Table) WriteMatch(m query.Match) error {
	switch m := m.(type) {
	case *query.FileMatch:
		return t.file(m)
	case *query.CommitMatch:
		subject, _, _ := strings.Cut(m.Message, "\n")
		return t.Write(Row{Type: "commit", Repository: m.Repo.Name, Commit: m.OID, Author: m.Author.Name, Date: m.Author.Date, Text: short(strings.TrimSpace(subject))})
	case *query.RepoMatch:
		return t.Write(Row{Type: "repo", Repository: m.Repo.Name, Revision: m.Rev, Text: short(m.Repo.Description)})
	case *query.OwnerMatch:
		return t.Write(owner(m))
	}
	panic(fmt.Sprintf("export: no rows for a match of type %T", m))
}

// owner leaves out the repository: the stream does not tell which one it is.
func owner(m *query.OwnerMatch) Row {
	row := Row{Type: "person", Text: m.Email}
	if m.IsTeam {
		row.Type = "team"
	}
	if m.Handle != "" {
		// An @ before it would make a formula of the cell.
		row.Text = m.Handle
	}
	return row
}

func (t *Table) file(m *query.FileMatch) error {
	row := Row{Repository: m.Repo.Name, Revision: m.Rev, Commit: m.Commit, Path: m.Path}
	switch {
	case len(m.Symbols) > 0:
		row.Type = "symbol"
		for _, s := range m.Symbols {
			row.Line, row.Text = int(s.Line), short(s.Name)
			row.Column, row.EndLine = int(s.Column)+1, row.Line
			row.EndColumn = row.Column + utf8.RuneCountInString(s.Name)
			if err := t.Write(row); err != nil {
				return err
			}
		}
		return nil
	case len(m.Chunks) > 0:
		row.Type = "content"
		for _, c := range m.Chunks {
			if err := t.chunk(row, c); err != nil {
				return err
			}
		}
		return nil
	}
	row.Type = "path"
	return t.Write(row)
}

// chunk writes a row for each place in a chunk.
func (t *Table) chunk(row Row, c query.Chunk) error {
	at := cursor{text: valid(string(c.Content)), line: c.Start.Line, first: c.Start.Line}
	for _, r := range c.Ranges {
		row.Line, row.Column = int(r.Start.Line)+1, int(r.Start.Column)+1
		row.EndLine, row.EndColumn = int(r.End.Line)+1, int(r.End.Column)+1
		row.Text = at.lines(r)
		if err := t.Write(row); err != nil {
			return err
		}
	}
	return nil
}
