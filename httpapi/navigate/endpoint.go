package navigate

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/code"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/git"
)

// The paths of the endpoint.
const (
	DefinitionsPath = "/.api/code/definitions"
	ReferencesPath  = "/.api/code/references"
	HoverPath       = "/.api/code/hover"
)

const (
	// holds is what an answer takes while it is made: the matches that are kept of
	// four searches, and one file.
	holds = 8 << 20
	// answerWithin is how long an answer may take.
	answerWithin = 20 * time.Second
	defaultLimit = 100
	maxLimit     = 400
	maxArgument  = 4 << 10
)

// Endpoint answers what pages and programs ask about names. Its fields are set before
// Routes and not changed afterwards.
type Endpoint struct {
	Finder
	// Store returns nil until the data directory is open.
	Store func() *store.Store
	// Git returns what git's processes share; nil, or one that returns nil, is nothing.
	Git func() *git.Budget
	// SymbolsWithin is how long each search for parts of names takes at most; 0 is half a
	// second.
	SymbolsWithin time.Duration
}

// Routes returns the routes of the endpoint.
func (e *Endpoint) Routes() []httpapi.Route {
	return []httpapi.Route{
		{Method: "GET", Path: DefinitionsPath, Handler: e.lines(e.definitions), Holds: holds, About: "where a name is defined, nearest first"},
		{Method: "GET", Path: ReferencesPath, Handler: e.lines(e.references), Holds: holds, About: "the lines that have a name, nearest first"},
		{Method: "GET", Path: SymbolsPath, Handler: serve(e, decodeSymbols, e.symbols), Holds: holds, About: "definitions by parts of their names, the best first"},
		{Method: "GET", Path: HoverPath, Handler: e.lines(e.hover), Holds: holds, About: "the nearest definition of a name, and its comment"},
	}
}

// request is what is asked.
type request struct {
	name  Name
	at    Place
	limit int
}

// answer is what is answered. Precise is false: names are compared.
type answer struct {
	Name       string       `json:"name"`
	Precise    bool         `json:"precise"`
	Closeness  Closeness    `json:"closeness"`
	Incomplete bool         `json:"incomplete"`
	Total      int          `json:"total"`
	Results    []resultJSON `json:"results"`
}

// resultJSON is a line. URL is the path of its page.
type resultJSON struct {
	Repository string `json:"repository"`
	Revision   string `json:"revision,omitempty"`
	Commit     string `json:"commit"`
	Path       string `json:"path"`
	Language   string `json:"language,omitempty"`
	URL        string `json:"url"`
	Line       int    `json:"line"`
	Column     int    `json:"column"`
	Text       string `json:"text"`
	TextColumn int    `json:"textColumn"`
	Definition bool   `json:"definition,omitempty"`
	Kind       string `json:"kind,omitempty"`
	Container  string `json:"container,omitempty"`
	Comment    string `json:"comment,omitempty"`
}

// serve returns a handler that decodes a request, and answers with what find finds.
func serve[Q any](e *Endpoint, decode func(url.Values) (Q, error), find func(context.Context, Q, *httpapi.RequestTrace) (any, error)) httpapi.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if e.Store() == nil {
			w.Header().Set("Retry-After", "1")
			return &httpapi.Error{Status: http.StatusServiceUnavailable, Message: "opening data directory"}
		}
		q, err := decode(r.URL.Query())
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(r.Context(), answerWithin)
		defer cancel()
		trace := httpapi.StartTrace(w, r, "navigate")
		defer func() { trace.End(r.Context(), "answered") }()
		found, err := find(ctx, q, trace)
		switch {
		case errors.Is(err, ErrBusy), err != nil && ctx.Err() != nil && r.Context().Err() == nil:
			return httpapi.Busy(w, err)
		case err != nil:
			return err
		}
		return httpapi.ServeJSON(w, r, found)
	}
}

// lines returns a handler that answers with the lines that find finds.
func (e *Endpoint) lines(find func(context.Context, request, *httpapi.RequestTrace) (*Results, error)) httpapi.Handler {
	return serve(e, decode, func(ctx context.Context, q request, trace *httpapi.RequestTrace) (any, error) {
		found, err := find(ctx, q, trace)
		if err != nil {
			return nil, err
		}
		return newAnswer(q, found), nil
	})
}

func wrong(format string, args ...any) error {
	return &httpapi.Error{Status: http.StatusBadRequest, Message: fmt.Sprintf(format, args...)}
}

// decode reads the parameters of a request.
func decode(values url.Values) (q request, err error) {
	if err := checkArguments(values, "name", "repository", "revision", "path", "language", "limit"); err != nil {
		return q, err
	}
	var ok bool
	if q.name, ok = ParseName(values.Get("name")); !ok {
		return q, wrong("name must be one name without spaces, of %d bytes at most", MaxNameBytes)
	}
	q.at = Place{values.Get("repository"), values.Get("revision"), values.Get("path"), values.Get("language")}
	q.limit, err = limitOf(values, defaultLimit, maxLimit)
	return q, err
}

// checkArguments refuses parameters that are too long, or have a line break.
func checkArguments(values url.Values, names ...string) error {
	for _, name := range names {
		if v := values.Get(name); len(v) > maxArgument || strings.ContainsAny(v, "\x00\n") {
			return wrong("%s is longer than %d bytes, or has a line break", name, maxArgument)
		}
	}
	return nil
}

// limitOf is the limit that a request names, or the usual one.
func limitOf(values url.Values, usual, most int) (int, error) {
	given := values.Get("limit")
	if given == "" {
		return usual, nil
	}
	n, err := strconv.Atoi(given)
	if err != nil || n < 1 || n > most {
		return 0, wrong("limit must be a number from 1 to %d", most)
	}
	return n, nil
}

func (e *Endpoint) definitions(ctx context.Context, q request, trace *httpapi.RequestTrace) (*Results, error) {
	found, err := e.Definitions(ctx, q.name, q.at, trace)
	if err != nil {
		return nil, err
	}
	return found, e.texts().fill(ctx, found.Lines[:min(len(found.Lines), q.limit)], false)
}

func (e *Endpoint) references(ctx context.Context, q request, trace *httpapi.RequestTrace) (*Results, error) {
	return e.References(ctx, q.name, q.at, trace)
}

func (e *Endpoint) hover(ctx context.Context, q request, trace *httpapi.RequestTrace) (*Results, error) {
	found, err := e.Nearest(ctx, q.name, q.at, trace)
	if err != nil {
		return nil, err
	}
	found.Lines = found.Lines[:min(len(found.Lines), 1)]
	return found, e.texts().fill(ctx, found.Lines, true)
}

func (e *Endpoint) texts() *texts {
	t := &texts{st: e.Store(), left: maxTextsBytes}
	if e.Git != nil {
		t.budget = e.Git()
	}
	return t
}

func newAnswer(q request, found *Results) answer {
	a := answer{Name: q.name.Text, Closeness: found.Closeness, Incomplete: found.Incomplete, Total: len(found.Lines), Results: []resultJSON{}}
	for _, r := range found.Lines[:min(len(found.Lines), q.limit)] {
		text, column := cutAround(r.Text, r.Column)
		a.Results = append(a.Results, resultJSON{
			Repository: r.Repository, Revision: r.Revision, Commit: r.Commit, Path: r.Path, Language: r.Language,
			URL: code.BlobURL(r.Repository, r.Revision, r.Path) + "?L" + strconv.Itoa(r.Line), Line: r.Line, Column: r.Column,
			Text: text, TextColumn: column, Definition: r.Definition, Kind: r.Kind, Container: r.Container, Comment: r.Comment,
		})
	}
	return a
}
