package browse

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/trawlsearch/trawl/httpapi"
)

// coloursPath is where snippets are coloured.
const coloursPath = "/.api/colours"

const (
	// maxSnippetsBytes is how long a request may be, and maxSnippets how many snippets
	// it may have.
	maxSnippetsBytes = 256 << 10
	maxSnippets      = 50
	// coloursHolds is the memory of an answer: the request, and 20 bytes for each of
	// its characters at most.
	coloursHolds = 8 << 20
)

// snippet is some lines of a file.
type snippet struct {
	Path     string   `json:"path"`
	Language string   `json:"language"`
	Lines    []string `json:"lines"`
}

// colour is a part of a line: its first character, the one behind its last, and the
// class that code.css knows it by.
type colour [3]any

// serveColours answers with the colours of snippets, in their order. It reads nothing
// but the request. A snippet that begins within a comment is coloured as if it did not:
// what stands before it is not known here.
func (e *Endpoint) serveColours(w http.ResponseWriter, r *http.Request) error {
	var asked struct {
		Snippets []snippet `json:"snippets"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxSnippetsBytes)).Decode(&asked); err != nil {
		return &httpapi.Error{Status: http.StatusBadRequest, Message: "not a list of snippets in JSON: " + err.Error()}
	}
	if len(asked.Snippets) > maxSnippets {
		return &httpapi.Error{Status: http.StatusBadRequest, Message: "too many snippets"}
	}
	e.prepare()
	answer := struct {
		Snippets [][][]colour `json:"snippets"`
	}{e.painter.snippets(r.Context(), asked.Snippets)}
	return httpapi.ServeJSON(w, r, answer)
}

// snippets colours what it can in the time of one text.
func (p *painter) snippets(ctx context.Context, all []snippet) [][][]colour {
	t := begin(p.within)
	out := make([][][]colour, len(all))
	for i, s := range all {
		text := strings.Join(s.Lines, "\n") + "\n"
		c := &colourer{lines: make([][]colour, 1, len(s.Lines)+1)}
		if lexer := lexerOf(s.Path, s.Language); lexer != nil && paintable([]byte(text)) {
			p.paint(ctx, c, lexer, text, t)
		}
		for len(c.lines) < len(s.Lines) {
			c.lines = append(c.lines, nil)
		}
		out[i] = c.lines[:len(s.Lines)]
		for k, line := range out[i] {
			if line == nil {
				out[i][k] = []colour{}
			}
		}
	}
	return out
}

// colourer collects the colours of lines.
type colourer struct {
	lines [][]colour
	at    int // in the last line, in characters
}

func (c *colourer) enough() bool { return false }

func (c *colourer) write(class, text string) {
	for {
		piece, rest, more := strings.Cut(text, "\n")
		n := utf8.RuneCountInString(piece)
		if class != "" && n > 0 {
			last := len(c.lines) - 1
			c.lines[last] = append(c.lines[last], colour{c.at, c.at + n, class})
		}
		if c.at += n; !more {
			return
		}
		c.lines, c.at, text = append(c.lines, nil), 0, rest
	}
}
