package navigate

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// MaxNameBytes is the length of the longest name.
const MaxNameBytes = 200

// Name is a name of code.
type Name struct {
	// Text is the last part of a qualified name, Container what stands before it.
	Text, Container string
}

// ParseName takes a name apart: Server.Close is Close in Server. ok is false for what
// is no name: it is empty, too long, or has white space or control characters.
func ParseName(text string) (n Name, ok bool) {
	text = strings.TrimSuffix(strings.TrimSpace(text), "()")
	if text == "" || len(text) > MaxNameBytes || !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return Name{}, false
	}
	n.Text = text
	for _, sep := range []string{"::", "->", "#", "."} {
		if i := strings.LastIndex(n.Text, sep); i > 0 && i+len(sep) < len(n.Text) {
			n.Container, n.Text = n.Text[:i], n.Text[i+len(sep):]
		}
	}
	return n, true
}

// Closeness is how a definition's name compares to the one that was asked for.
type Closeness string

// The kinds of closeness, the closest first.
const (
	Exact     Closeness = "exact"
	OtherCase Closeness = "case"
	Beginning Closeness = "prefix"
)

// definitionQuery is a query, of pattern type regexp, for definitions of a name.
func (n Name) definitionQuery(c Closeness) string {
	quoted := regexp.QuoteMeta(n.Text)
	switch c {
	case OtherCase:
		return "type:symbol case:no ^" + quoted + "$"
	case Beginning:
		return "type:symbol case:no ^" + quoted
	}
	return "type:symbol case:yes ^" + quoted + "$"
}

// referenceQuery is a query, of pattern type regexp, for the name as a whole word.
func (n Name) referenceQuery() string {
	out := regexp.QuoteMeta(n.Text)
	if isWordByte(n.Text[0]) {
		out = `\b` + out
	}
	if isWordByte(n.Text[len(n.Text)-1]) {
		out += `\b`
	}
	return "case:yes " + out
}

func isWordByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// Search answers a query of pattern type regexp.
type Search func(text string) (*Answer, error)

// Definitions looks for the very name, then in any case, then for names that begin
// with it. Those in the name's container come first.
func (n Name) Definitions(search Search) (*Answer, Closeness, error) {
	var a *Answer
	var err error
	for _, c := range []Closeness{Exact, OtherCase, Beginning} {
		if a, err = search(n.definitionQuery(c)); err != nil {
			return nil, c, err
		}
		if len(a.Matches) > 0 {
			a.prefer(n.Container)
			return a, c, nil
		}
	}
	return a, Beginning, nil
}

// References looks for lines that have the name as a whole word.
func (n Name) References(search Search) (*Answer, error) { return search(n.referenceQuery()) }

// Defining looks for the lines that define the very name.
func (n Name) Defining(search Search) (Lines, error) {
	a, err := search(n.definitionQuery(Exact))
	if err != nil {
		return nil, err
	}
	lines := Lines{}
	for _, m := range a.Files() {
		for _, s := range m.Symbols {
			lines[Line{m.Repo.Name, m.Path, int(s.Line)}] = true
		}
	}
	return lines, nil
}

// Line is a line of a file, counted from 1.
type Line struct {
	Repository, Path string
	Number           int
}

// Lines is a set of lines.
type Lines map[Line]bool
