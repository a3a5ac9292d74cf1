package export

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Row is one result.
type Row struct {
	// Type is that of the match, in the stream's words: content, path, symbol,
	// commit, repo, person or team.
	Type string
	// Repository, Revision and Commit say where it was found. Revision is as
	// typed, empty for the default branch.
	Repository, Revision, Commit, Path string
	// Line and Column are where the result begins, EndLine and EndColumn are just
	// behind its end. All count from one, columns in runes; zero is unknown.
	Line, Column, EndLine, EndColumn int
	// Author and Date are of a commit.
	Author string
	Date   time.Time
	// Text is the line or lines with the result, the name of a symbol or owner,
	// the subject of a commit, or the description of a repository.
	Text string
}

// Header names the columns, in their order.
var Header = []string{"type", "repository", "revision", "commit", "path", "line", "column", "end_line", "end_column", "author", "date", "text"}

// Table writes rows of comma-separated values (RFC 4180, lines end with a
// newline). It is not safe for concurrent use.
type Table struct {
	w     *csv.Writer
	clean func(string) string
	cells []string
	begun bool
}

// NewTable returns a table that is written to w. If clean is not nil, every text
// goes through it, as a terminal needs.
func NewTable(w io.Writer, clean func(string) string) *Table {
	if clean == nil {
		clean = func(text string) string { return text }
	}
	return &Table{w: csv.NewWriter(w), clean: clean, cells: make([]string, 0, len(Header))}
}

// Write writes a row, and the header before the first one. What it wrote may
// stay in memory until Flush.
func (t *Table) Write(r Row) error {
	if err := t.begin(); err != nil {
		return err
	}
	date := ""
	if !r.Date.IsZero() {
		date = r.Date.UTC().Format(time.RFC3339)
	}
	t.cells = append(t.cells[:0], t.text(r.Type), t.text(r.Repository), t.text(r.Revision), t.text(r.Commit), t.text(r.Path),
		number(r.Line), number(r.Column), number(r.EndLine), number(r.EndColumn), t.text(r.Author), date, t.text(r.Text))
	return t.w.Write(t.cells)
}

// Flush writes what is in memory. A table without a row gets its header.
func (t *Table) Flush() error {
	if err := t.begin(); err != nil {
		return err
	}
	t.w.Flush()
	return t.w.Error()
}

func (t *Table) begin() error {
	if t.begun {
		return nil
	}
	t.begun = true
	return t.w.Write(Header)
}

// number leaves unknown places empty.
func number(n int) string {
	if n <= 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// text returns the cell of a text that strangers may have written.
func (t *Table) text(s string) string { return t.clean(harmless(valid(s))) }

// valid replaces each byte that is not UTF-8, as JSON does.
func valid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}

// formulas are the characters that make spreadsheets run a cell, with their wide
// forms: https://owasp.org/www-community/attacks/CSV_Injection.
const formulas = "=+-@＝＋－＠"

// harmless returns a cell that spreadsheets show and do not run. As GitLab and
// others do, it puts an apostrophe before what might be a formula, which may be
// behind white space.
func harmless(s string) string {
	rest := strings.TrimLeftFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) || r == '\ufeff' })
	if r, _ := utf8.DecodeRuneInString(rest); rest == "" || !strings.ContainsRune(formulas, r) {
		return s
	}
	return "'" + s
}
