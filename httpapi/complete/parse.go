package complete

import (
	"errors"
	"net/http"
	"unicode/utf8"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/syntax"
)

// ParsePath is where programs ask how a query is read.
const ParsePath = "/.api/search/parse"

// reading is how a query is read. Places count characters from 0.
type reading struct {
	PatternType query.PatternType `json:"patternType"`
	Marks       []mark            `json:"marks"`
	// Error is why the query cannot be run, nil if it can.
	Error    *remark  `json:"error"`
	Warnings []remark `json:"warnings"`
	// Quick reports whether the query can be run while it is typed.
	Quick bool `json:"quick"`
}

// mark is a part of the query that is more than text to search for.
type mark struct {
	From int             `json:"from"`
	To   int             `json:"to"`
	Kind syntax.MarkKind `json:"kind"`
}

// remark is what there is to say of a part of the query. From and To are equal at a
// place between characters, and both 0 if it is the query as a whole.
type remark struct {
	Message string `json:"message"`
	From    int    `json:"from"`
	To      int    `json:"to"`
	Hint    string `json:"hint,omitempty"`
	// Proposed is the whole query, mended.
	Proposed string `json:"proposed,omitempty"`
}

func (e *Endpoint) serveParse(w http.ResponseWriter, r *http.Request) error {
	text, _, err := decode(r)
	if err != nil {
		return err
	}
	pt, err := syntax.ParsePatternType("V3", r.URL.Query().Get("t"))
	if err != nil {
		return &httpapi.Error{Status: http.StatusBadRequest, Message: err.Error()}
	}
	return httpapi.ServeJSON(w, r, read(text, pt))
}

// read parses a text. It knows no repository, so that it tells nothing that may
// not be seen.
func read(text string, pt query.PatternType) reading {
	chars := counter{text: text}
	out := reading{PatternType: pt, Marks: []mark{}, Warnings: []remark{}}
	for _, m := range syntax.Marks(text, pt) {
		out.Marks = append(out.Marks, mark{chars.before(m.Span.Start), chars.before(m.Span.End), m.Kind})
	}
	q, err := syntax.Parse(text, pt)
	var wrong *query.SyntaxError
	switch {
	case errors.As(err, &wrong):
		at := chars.span(wrong.Span)
		out.Error = &remark{wrong.Error(), at.Start, at.End, wrong.Hint, wrong.Proposed}
	case err != nil:
		out.Error = &remark{Message: err.Error()}
	default:
		out.PatternType, out.Quick = q.PatternType, quick(q)
		for _, warning := range q.Warnings {
			at := chars.span(warning.Span)
			out.Warnings = append(out.Warnings, remark{Message: warning.Message, From: at.Start, To: at.End, Proposed: warning.Proposed})
		}
	}
	return out
}

// counter counts the characters of a text before places that mostly grow.
type counter struct {
	text     string
	at, char int
}

func (c *counter) before(place int) int {
	place = min(place, len(c.text))
	if place < c.at {
		c.at, c.char = 0, 0
	}
	c.char += utf8.RuneCountInString(c.text[c.at:place])
	c.at = place
	return c.char
}

func (c *counter) span(s query.Span) query.Span {
	from := c.before(s.Start)
	return query.Span{Start: from, End: c.before(s.End)}
}
