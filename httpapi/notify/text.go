package notify

import (
	"net/url"
	"strconv"
	"strings"
	"unicode"
)

const (
	// maxLineRunes bounds a title and a line of code, maxNameRunes what people or
	// programs may have to read as a whole.
	maxLineRunes = 200
	maxNameRunes = 1000
	// MaxMatches bounds the matches of a message.
	MaxMatches = 50
)

// clean returns a message whose texts are short single lines that control nothing.
func clean(m Message) Message {
	m.Title = line(m.Title, maxLineRunes)
	m.Query = line(m.Query, maxNameRunes)
	m.Repository = line(m.Repository, maxNameRunes)
	m.URL = link(m.URL)
	shown := m.Matches[:min(len(m.Matches), MaxMatches)]
	m.Matches = make([]Match, len(shown))
	for i, match := range shown {
		m.Matches[i] = Match{
			Repository: line(match.Repository, maxNameRunes), Path: line(match.Path, maxNameRunes),
			Line: max(match.Line, 0), Text: line(match.Text, maxLineRunes), URL: link(match.URL),
		}
	}
	m.Count = max(m.Count, len(shown))
	return m
}

// line returns text as one line of at most n runes.
func line(text string, n int) string {
	var out []rune
	for _, r := range strings.TrimSpace(text) {
		if len(out) == n {
			out[n-1] = '…'
			break
		}
		switch {
		case unicode.IsSpace(r):
			r = ' '
		case controls(r):
			r = unicode.ReplacementChar
		}
		out = append(out, r)
	}
	return string(out)
}

// controls reports whether r is a control character, or changes the direction of the
// text around it.
func controls(r rune) bool {
	return unicode.IsControl(r) || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// plain reports whether an address has no space and no character that controls how it
// is shown.
func plain(address string) bool {
	return !strings.ContainsFunc(address, func(r rune) bool { return unicode.IsSpace(r) || controls(r) || r == unicode.ReplacementChar })
}

// link returns an address that a message may lead to, "" for another.
func link(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" ||
		len(address) > maxAddressBytes || !plain(address) || strings.ContainsAny(address, "<>|\"") {
		return ""
	}
	return address
}

// heading says how many new matches there are of what.
func (m Message) heading() string {
	what := strconv.Itoa(m.Count) + " new matches"
	if m.Count == 1 {
		what = "1 new match"
	}
	if m.Title == "" {
		return what
	}
	return what + " of " + m.Title
}

// where says in which repositories the matches are, of which one has a name.
func (m Message) where(name string) string {
	switch {
	case name != "":
		return " in " + name
	case m.Repositories > 1:
		return " in " + strconv.Itoa(m.Repositories) + " repositories"
	}
	return ""
}

// place names the line of a match. The repository is left out where the message names it.
func (m Message) place(match Match) string {
	out := match.Path
	if match.Line > 0 {
		out += ":" + strconv.Itoa(match.Line)
	}
	if match.Repository != m.Repository {
		out = strings.TrimSpace(match.Repository + " " + out)
	}
	return out
}
