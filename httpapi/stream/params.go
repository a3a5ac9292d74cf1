package stream

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/httpapi/stream/event"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/syntax"
)

// maxContextLines keeps sums of line numbers within 32 bits; no document has
// more lines.
const maxContextLines = 1 << 30

// Params is a decoded request for a stream.
type Params struct {
	Query string
	// Version and PatternType are v and t as given; t may be empty.
	Version, PatternType string
	// Display is the most results sent; negative is no limit.
	Display int
	// MaxLineBytes cuts lines in chunk content; 0 or negative is off.
	MaxLineBytes int
	// AroundMatches has longer lines cut around their first match, not at
	// their end.
	AroundMatches bool
	// Chunks chooses chunkMatches over lineMatches.
	Chunks bool
	// ContextLines is how many lines around a match a chunk carries.
	ContextLines int
	// Debug asks for a ranking explanation on each match.
	Debug bool
}

var errNoQuery = errors.New("no query found")

// DecodeParams reads the parameters of a stream request. They are checked in a
// fixed order, and the text of the first error is part of the interface. Other
// parameters are ignored, as is a value that is empty or not the first.
func DecodeParams(r *http.Request) (Params, error) {
	values := r.URL.Query()
	get := func(name, fallback string) string {
		if v := values.Get(name); v != "" {
			return v
		}
		return fallback
	}
	p := Params{
		Query:       get("q", ""),
		Version:     get("v", "V3"),
		PatternType: get("t", ""),
		Debug:       hasFeature(values, r.Header, "search-debug"),
	}
	if p.Query == "" {
		return p, errNoQuery
	}
	var err error
	display := get("display", "-1")
	if p.Display, err = strconv.Atoi(display); err != nil {
		return p, fmt.Errorf("display must be an integer, got %q: %w", display, err)
	}
	width := get("max-line-len", "-1")
	if p.MaxLineBytes, err = strconv.Atoi(width); err != nil {
		return p, fmt.Errorf("max-line-len must be an integer, got %q: %w", width, err)
	}
	p.AroundMatches = get("cut", "") == "match"
	chunks := get("cm", "f")
	if p.Chunks, err = strconv.ParseBool(chunks); err != nil {
		return p, fmt.Errorf("chunk matches must be parseable as a boolean, got %q: %w", chunks, err)
	}
	lines := get("cl", "1")
	n, err := strconv.ParseUint(lines, 10, 32)
	if err != nil {
		return p, fmt.Errorf("context lines must be parseable as a boolean, got %q: %w", lines, err)
	}
	p.ContextLines = int(min(n, maxContextLines))
	// The search mode is checked but changes nothing any more.
	mode := get("sm", "0")
	if _, err := strconv.Atoi(mode); err != nil {
		return p, fmt.Errorf("search mode must be integer, got %q: %w", mode, err)
	}
	return p, nil
}

// hasFeature reports whether a feature is switched on by the feat parameters
// or, where they do not name it, by the equivalent header. In a list of names,
// split by commas or spaces, the last mention counts; -name switches off.
func hasFeature(values url.Values, header http.Header, name string) bool {
	on := false
	lists := append(header["X-Sourcegraph-Override-Feature"], values["feat"]...)
	for _, list := range lists {
		for _, entry := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' }) {
			switch entry {
			case name:
				on = true
			case "-" + name:
				on = false
			}
		}
	}
	return on
}

// Parse turns the text of a request into a query.
func (p Params) Parse() (*query.Query, error) {
	pt, err := syntax.ParsePatternType(p.Version, p.PatternType)
	if err != nil {
		return nil, &requestError{err}
	}
	return syntax.Parse(p.Query, pt)
}

// encoder returns the encoder of the matches that were asked for.
func (p Params) encoder(now func() time.Time) event.Encoder {
	return event.Encoder{Chunks: p.Chunks, MaxLineBytes: p.MaxLineBytes, AroundMatches: p.AroundMatches, Now: now}
}
