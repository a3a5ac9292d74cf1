package navigate

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/code"
	"github.com/trawlsearch/trawl/query/syntax"
)

// SymbolsPath is where definitions are found by parts of their names.
const SymbolsPath = "/.api/code/symbols"

const (
	defaultSymbols = 30
	maxSymbols     = 100
	// symbolsWithin bounds each of three searches at most: a person types on meanwhile.
	symbolsWithin = 500 * time.Millisecond
)

// symbolsRequest is what is asked.
type symbolsRequest struct {
	parts nameParts
	at    Place
	limit int
}

// symbolsAnswer is what is answered. LeftOut says what was not searched, "" for nothing.
type symbolsAnswer struct {
	Results    []symbolJSON `json:"results"`
	Incomplete bool         `json:"incomplete"`
	LeftOut    string       `json:"leftOut,omitempty"`
}

// symbolJSON is a definition. Marks are the characters of its name that match, as starts
// and ends, and URL is the path of its line's page.
type symbolJSON struct {
	Name       string   `json:"name"`
	Marks      [][2]int `json:"marks"`
	Kind       string   `json:"kind"`
	Container  string   `json:"container,omitempty"`
	Repository string   `json:"repository"`
	Revision   string   `json:"revision,omitempty"`
	Commit     string   `json:"commit"`
	Path       string   `json:"path"`
	Language   string   `json:"language,omitempty"`
	Line       int      `json:"line"`
	Column     int      `json:"column"`
	URL        string   `json:"url"`
	closeness  partCloseness
}

func decodeSymbols(values url.Values) (q symbolsRequest, err error) {
	if err := checkArguments(values, "q", "repository", "revision", "limit"); err != nil {
		return q, err
	}
	text := values.Get("q")
	if strings.TrimSpace(text) == "" || len(text) > MaxNameBytes || !utf8.ValidString(text) {
		return q, wrong("q must be parts of a name, of %d bytes at most", MaxNameBytes)
	}
	q.parts = newNameParts(text)
	q.at = Place{Repository: values.Get("repository"), Revision: values.Get("revision")}
	if q.at.Revision != "" && q.at.Repository == "" {
		return q, wrong("a revision needs a repository")
	}
	if !q.at.hasOneRevision() {
		return q, wrong("%.100q is not one revision", q.at.Revision)
	}
	q.limit, err = limitOf(values, defaultSymbols, maxSymbols)
	return q, err
}

// symbols finds definitions, the best first. It looks for the very name and for names that
// begin with the parts, and for others where those are too few.
func (e *Endpoint) symbols(ctx context.Context, q symbolsRequest, trace *httpapi.RequestTrace) (any, error) {
	out := &symbolsAnswer{Results: []symbolJSON{}}
	seen := map[Line]bool{}
	for _, expression := range q.parts.expressions() {
		text := syntax.WithFilter("type:symbol case:no "+expression, "timeout", cmp.Or(e.SymbolsWithin, symbolsWithin).String())
		if q.at.Repository != "" {
			text = q.at.within(text, here)
		} else {
			text = everywhere(text)
		}
		found, err := e.Search(ctx, text, "regexp", 0, trace)
		if err == nil {
			err = out.add(ctx, found, q.parts, seen)
		}
		if err != nil {
			return nil, err
		}
		if len(out.Results) >= q.limit {
			break
		}
	}
	slices.SortStableFunc(out.Results, func(a, b symbolJSON) int { return a.closeness.compare(b.closeness) })
	out.Results = out.Results[:min(len(out.Results), q.limit)]
	return out, nil
}

// add adds the definitions of an answer that are not there yet.
func (a *symbolsAnswer) add(ctx context.Context, found *Answer, parts nameParts, seen map[Line]bool) error {
	a.LeftOut = cmp.Or(a.LeftOut, found.Report.LeftOut())
	a.Incomplete = a.Incomplete || found.Incomplete() || a.LeftOut != ""
	for _, m := range found.Files() {
		if err := ctx.Err(); err != nil {
			return err
		}
		for _, s := range m.Symbols {
			closeness, marks := parts.find(s.Name)
			at := Line{m.Repo.Name, m.Path + "\x00" + s.Name, int(s.Line)}
			if marks == nil || seen[at] {
				continue
			}
			seen[at] = true
			a.Results = append(a.Results, symbolJSON{
				Name: s.Name, Marks: marks, Kind: string(s.Kind), Container: s.Container, Line: int(s.Line), Column: int(s.Column),
				Repository: m.Repo.Name, Revision: m.Rev, Commit: m.Commit, Path: m.Path, Language: m.Language,
				URL: code.BlobURL(m.Repo.Name, m.Rev, m.Path) + "?L" + strconv.Itoa(int(s.Line)), closeness: closeness,
			})
		}
	}
	return nil
}

// nameParts are parts of a name, in their order. Case does not matter.
type nameParts struct {
	texts []string
	// each finds a part anywhere, and first the first of them where a text begins.
	each  []*regexp.Regexp
	first *regexp.Regexp
}

// newNameParts divides a text at its spaces; it has something else.
func newNameParts(text string) nameParts {
	p := nameParts{texts: strings.Fields(text)}
	for _, part := range p.texts {
		p.each = append(p.each, regexp.MustCompile("(?i)"+regexp.QuoteMeta(part)))
	}
	p.first = regexp.MustCompile("(?i)^" + regexp.QuoteMeta(p.texts[0]))
	return p
}

// expressions are regexps for names that have the parts: the very name, where there is one
// part, names that begin with them, and all others.
func (p nameParts) expressions() []string {
	all := p.expression()
	out := []string{"^" + all, all}
	if len(p.texts) == 1 {
		out = append([]string{"^" + all + "$"}, out...)
	}
	return out
}

// expression is a regexp for names that have the parts, of which no query takes the
// beginning for a filter, an operator or a quote.
func (p nameParts) expression() string {
	quoted := make([]string, len(p.texts))
	for i, part := range p.texts {
		quoted[i] = regexp.QuoteMeta(part)
	}
	r, size := utf8.DecodeRuneInString(p.texts[0])
	quoted[0] = fmt.Sprintf(`\x{%x}`, r) + regexp.QuoteMeta(p.texts[0][size:])
	return strings.Join(quoted, ".*?")
}

// partCloseness is how well a name has parts: their place, and the length of the name.
type partCloseness struct {
	place partPlace
	bytes int
}

func (c partCloseness) compare(d partCloseness) int {
	return cmp.Or(cmp.Compare(c.place, d.place), cmp.Compare(c.bytes, d.bytes))
}

// partPlace is where parts begin in a name.
type partPlace int

// The places of parts, the best first.
const (
	wholeName partPlace = iota
	atBeginning
	atWord
	inWord
)

// find returns how well a name has the parts, and the characters that match, as starts
// and ends; nil if it has not.
func (p nameParts) find(name string) (partCloseness, [][2]int) {
	for i := range name {
		if !beginsWord(name, i) {
			continue
		}
		first := p.first.FindStringIndex(name[i:])
		if first == nil {
			continue
		}
		spans := p.behind(name, [2]int{i, i + first[1]})
		if spans == nil {
			break // and none behind a later place
		}
		place := atWord
		switch {
		case i == 0 && first[1] == len(name):
			place = wholeName
		case i == 0:
			place = atBeginning
		}
		return partCloseness{place, len(name)}, charactersOf(name, spans)
	}
	first := p.each[0].FindStringIndex(name)
	if first == nil {
		return partCloseness{}, nil
	}
	spans := p.behind(name, [2]int(first))
	if spans == nil {
		return partCloseness{}, nil
	}
	return partCloseness{inWord, len(name)}, charactersOf(name, spans)
}

// behind returns where the parts are of which the first is at a place, nil if the others
// are not behind it.
func (p nameParts) behind(name string, first [2]int) [][2]int {
	spans := [][2]int{first}
	for _, part := range p.each[1:] {
		from := spans[len(spans)-1][1]
		at := part.FindStringIndex(name[from:])
		if at == nil {
			return nil
		}
		spans = append(spans, [2]int{from + at[0], from + at[1]})
	}
	return spans
}

// beginsWord reports whether a word of a name begins at a byte: as in fireKiln, fire_kiln
// and HTTPServer.
func beginsWord(name string, i int) bool {
	before, _ := utf8.DecodeLastRuneInString(name[:i])
	at, size := utf8.DecodeRuneInString(name[i:])
	behind, _ := utf8.DecodeRuneInString(name[i+size:])
	switch {
	case i == 0, !unicode.IsLetter(before) && !unicode.IsDigit(before):
		return true
	case unicode.IsUpper(at):
		return !unicode.IsUpper(before) || unicode.IsLower(behind)
	}
	return unicode.IsDigit(at) != unicode.IsDigit(before)
}

// charactersOf turns spans of bytes into spans of characters, and joins those that touch.
func charactersOf(name string, spans [][2]int) (out [][2]int) {
	for _, span := range spans {
		start := utf8.RuneCountInString(name[:span[0]])
		end := start + utf8.RuneCountInString(name[span[0]:span[1]])
		if last := len(out) - 1; last >= 0 && out[last][1] == start {
			out[last][1] = end
			continue
		}
		out = append(out, [2]int{start, end})
	}
	return out
}
