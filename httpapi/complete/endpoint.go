package complete

import (
	"cmp"
	"context"
	"net/http"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/code"
	"github.com/trawlsearch/trawl/httpapi/navigate"
	"github.com/trawlsearch/trawl/query/syntax"
	"github.com/trawlsearch/trawl/store"
)

// Path is where queries are completed. /.api/completions is another product's.
const Path = "/.api/search/completions"

// maxQueryBytes bounds the text that is completed; a person writes less.
const maxQueryBytes = 16 << 10

// holds is how many bytes an answer takes while it is made, with the matches of a search.
const holds = 2 << 20

// readingHolds is how many bytes a reading takes: thousands of marks of a text of parentheses.
const readingHolds = 1 << 20

// Endpoint completes queries. Its fields are set before Routes and not changed
// afterwards.
type Endpoint struct {
	// Store returns nil until the data directory is open.
	Store func() *store.Store
	// Languages counts the languages of repositories; nil counts none.
	Languages *code.Languages
	// Finder looks for files, definitions and people. Without a searcher none are
	// proposed.
	Finder navigate.Finder
	// refsTime bounds reading names of branches and tags; 0 is refsTime.
	refsTime time.Duration
}

// Routes returns the routes of the endpoint.
func (e *Endpoint) Routes() []httpapi.Route {
	return []httpapi.Route{
		{Method: "GET", Path: Path, Handler: e.serve, Holds: holds, About: "what may be written at a place in a query"},
		{Method: "GET", Path: ParsePath, Handler: e.serveParse, Holds: readingHolds, About: "how a query is read"},
	}
}

// Answer says which characters of the query an item takes the place of. Incomplete says
// that there may be more files, definitions or people than were looked at.
type Answer struct {
	From       int    `json:"from"`
	To         int    `json:"to"`
	Items      []Item `json:"items"`
	Incomplete bool   `json:"incomplete,omitempty"`
}

func (e *Endpoint) serve(w http.ResponseWriter, r *http.Request) error {
	text, at, err := decode(r)
	if err != nil {
		return err
	}
	st := e.Store()
	if st == nil {
		w.Header().Set("Retry-After", "1")
		return &httpapi.Error{Status: http.StatusServiceUnavailable, Message: "opening data directory"}
	}
	snapshot := st.Snapshot()
	defer snapshot.Close()
	var find finding
	if e.Finder.Searcher != nil {
		find = func(ctx context.Context, text string) (*navigate.Answer, error) {
			return e.Finder.Search(ctx, text, "regexp", 0, nil)
		}
	}
	seen := names{all: snapshot.Listed(), visible: auth.From(r.Context()).CanSee, refs: refsWithin(r.Context(), cmp.Or(e.refsTime, refsTime), st.GitDirs())}
	if e.Languages != nil {
		seen.languages = countWithin(e.Languages, snapshot)
	}
	a := complete(r.Context(), text, at, seen, find)
	if err := r.Context().Err(); err != nil {
		return err
	}
	return httpapi.ServeJSON(w, r, a)
}

// Offline completes a query at its end where no repository is known.
func Offline(text string) Answer {
	none := names{all: func(func(*store.Repository) bool) {}, visible: func(*store.Repository) bool { return false }}
	return complete(context.Background(), text, len(text), none, nil)
}

// complete lists what is known first where a word may be anything, and what a search
// finds where it is a value.
func complete(ctx context.Context, text string, at int, n names, find finding) Answer {
	word := syntax.WordAt(text, at)
	around := text[:word.Span.Start] + " " + text[word.Span.End:]
	known := items(word, around, n)
	found, incomplete := lookFor(ctx, find, word, around)
	if word.Field != "" {
		known, found = found, known
	}
	all := append(append([]Item{}, known...), found...)
	return Answer{
		From: utf8.RuneCountInString(text[:word.Span.Start]), To: utf8.RuneCountInString(text[:word.Span.End]),
		Items: all[:min(len(all), mostItems)], Incomplete: incomplete,
	}
}

// decode reads the query and where its cursor is, in bytes. The parameter counts
// characters; without it the cursor is at the end.
func decode(r *http.Request) (text string, at int, err error) {
	values := r.URL.Query()
	text = values.Get("q")
	if len(text) > maxQueryBytes {
		return "", 0, &httpapi.Error{Status: http.StatusBadRequest, Message: "the query is longer than " + strconv.Itoa(maxQueryBytes) + " bytes"}
	}
	at = len(text)
	if given := values.Get("cursor"); given != "" {
		n, err := strconv.Atoi(given)
		if err != nil || n < 0 {
			return "", 0, &httpapi.Error{Status: http.StatusBadRequest, Message: "cursor must be a number of characters"}
		}
		at = byteOf(text, n)
	}
	return text, at, nil
}

// byteOf is where the character n begins, the end for one behind all.
func byteOf(text string, n int) int {
	for i := range text {
		if n--; n < 0 {
			return i
		}
	}
	return len(text)
}
