package graphql

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/graph-gophers/graphql-go"
	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/graphql/budget"
	"github.com/trawlsearch/trawl/httpapi/graphql/cost"
	"github.com/trawlsearch/trawl/httpapi/graphql/jobs"
	"github.com/trawlsearch/trawl/httpapi/manage"
	"github.com/trawlsearch/trawl/httpapi/web"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/git"
	"github.com/trawlsearch/trawl/store/identity"
	"github.com/trawlsearch/trawl/store/saved"
)

// Path is where requests go.
const Path = "/.api/graphql"

const (
	// maxSelections is how many fields a document may come to once fragments
	// are filled in, those of lists counted once. Tools that ask for the whole
	// schema need some hundreds.
	maxSelections = 20_000
	// minPairs bounds the work of looking for fields that contradict each other, in
	// pairs of fields of one name. More are allowed if one field may stand so often
	// that it has more by itself. A pair takes some 100 bytes and 300 ns.
	minPairs = 300_000
	maxPairs = 2_000_000
	// mutationsPerDocument is how many fields a mutation may have, and
	// mutationsPerMinute how many a user may send who is no site admin: a tenth of
	// it at once, which is more than one document has.
	mutationsPerDocument = 50
	mutationsPerMinute   = 600
	// readWithin is how long a body may take to arrive, answerWithin how long
	// the answer may take to be made, writeWithin how long a piece may take to
	// leave.
	readWithin   = 30 * time.Second
	answerWithin = 2 * time.Minute
	writeWithin  = time.Minute
)

// Data is an open data directory.
type Data struct {
	Store    *store.Store
	Book     *saved.Book
	Registry *identity.Registry
	// Repositories changes what is mirrored and known.
	Repositories manage.Repositories
	// Services asks the external services of Book.
	Services manage.ServiceHosts
	// Git is what git's processes share with those that others start; nil is
	// nothing.
	Git *git.Budget
	// Jobs runs the search jobs of Book.
	Jobs *jobs.Runner
	// Notice says why nothing is indexed for now, in words that anybody may
	// read, "" if that is not so. nil is never.
	Notice func() string
}

// Endpoint answers GraphQL requests. Its fields are set before Routes and not
// changed afterwards.
type Endpoint struct {
	// Data returns nil until the data directory is open.
	Data     func() *Data
	Searcher httpapi.Searcher
	// Limits are those of cost now; nil is the defaults.
	Limits *cost.Current
	// Site is the configuration of the server.
	Site manage.Site
	// MaxCalls is how many searches and git commands one answer may take; 0 is
	// 2000.
	MaxCalls int
	// ExternalURL is how clients reach the server; empty takes it from each
	// request.
	ExternalURL string
	// WriteWithin is how long so much of an answer may take to leave as the largest
	// page has; 0 is a minute.
	WriteWithin time.Duration
	// Nodes returns how many nodes are alive and divide what a user may change; nil is
	// one.
	Nodes func() int
	// Now is the clock; nil is time.Now.
	Now func() time.Time

	once   sync.Once
	parsed atomic.Pointer[schemaFor]
	// mutations are those of each user lately.
	mutations *auth.Limiter
}

// Routes returns the routes of the endpoint.
func (e *Endpoint) Routes() []httpapi.Route {
	e.prepare()
	return []httpapi.Route{
		{Method: "POST", Path: Path, Handler: e.serve, Holds: budget.AnswerBytes, About: "GraphQL, for tools and for finding things out"},
		{Method: "GET", Path: Path + "/schema.graphql", Handler: e.serveSchema, About: "the schema of it"},
		{Method: "GET", Path: exportPath + "{file}", Handler: e.serveExport, About: "what a search job found, for who made it"},
	}
}

// prepare fills in defaults and reads the schema, once.
func (e *Endpoint) prepare() {
	e.once.Do(func() {
		e.WriteWithin = cmp.Or(e.WriteWithin, writeWithin)
		e.MaxCalls = cmp.Or(e.MaxCalls, budget.MaxCalls)
		if e.Now == nil {
			e.Now = time.Now
		}
		e.mutations = auth.NewLimiter(mutationsPerMinute, e.Nodes)
		e.schema(e.Limits.Load())
	})
}

// schemaFor is the schema with what a document may be in it.
type schemaFor struct {
	limits cost.Limits
	schema *graphql.Schema
}

// schema returns the schema for limits. It is read again when they have changed.
func (e *Endpoint) schema(limits cost.Limits) *graphql.Schema {
	if p := e.parsed.Load(); p != nil && p.limits == limits {
		return p.schema
	}
	pairs := min(max(minPairs, limits.DuplicateFields*limits.DuplicateFields/2), maxPairs)
	p := &schemaFor{limits, graphql.MustParseSchema(SDL(), &resolver{e: e},
		graphql.UseStringDescriptions(), graphql.UseFieldResolvers(), graphql.MaxDepth(limits.Depth),
		graphql.MaxQueryLength(cost.MaxDocumentBytes), graphql.OverlapValidationLimit(pairs),
		graphql.MaxSelections(maxSelections), graphql.Logger(panicLog{}), graphql.Tracer(watcher{}),
		graphql.MaxParallelism(1))}
	e.parsed.Store(p)
	return p.schema
}

func (e *Endpoint) serveSchema(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	return httpapi.WriteBody(w, r, http.StatusOK, []byte(SDL()))
}

// serve answers a request. Whatever is wrong with the document or went wrong
// in a resolver is part of an answer with status 200.
func (e *Endpoint) serve(w http.ResponseWriter, r *http.Request) error {
	data := e.Data()
	if data == nil {
		w.Header().Set("Retry-After", "1")
		return &httpapi.Error{Status: http.StatusServiceUnavailable, Message: "opening data directory"}
	}
	control, work := http.NewResponseController(w), httpapi.WorkOf(r.Context())
	_ = control.SetReadDeadline(time.Now().Add(readWithin)) // of a server that can
	if r.ContentLength < 0 || r.ContentLength > budget.AnswerBytes/4 || r.Header.Get("Content-Encoding") != "" {
		if !work.Grow(2 * maxBodyBytes) {
			return httpapi.Busy(w, budget.ErrBusy)
		}
	}
	req, err := readRequest(r)
	if err != nil {
		return err
	}
	work.Shrink(budget.AnswerBytes)
	_ = control.SetReadDeadline(time.Time{})
	zerolog.Ctx(r.Context()).Debug().Str("name", requestName(r.URL.RawQuery)).Str("operation", requestName(req.OperationName)).Msg("graphql")
	name := cmp.Or(req.OperationName, r.URL.RawQuery)
	trace := httpapi.StartTrace(w, r, "GraphQL, "+requestName(name))
	defer trace.End(r.Context(), "failed") // if there is no answer
	answer, status, err := e.answer(r.Context(), data, req, trace, auth.BaseURL(e.ExternalURL, r))
	trace.End(r.Context(), outcome(answer, err))
	if errors.Is(err, budget.ErrBusy) {
		return httpapi.Busy(w, err)
	}
	if err != nil {
		return err
	}
	body, err := encode(answer)
	if err != nil {
		return err
	}
	work.Shrink(int64(budget.AnswerBytes + cap(answer.Data)))
	h := w.Header()
	h.Set("Cache-Control", "no-cache, max-age=0")
	h.Add("Vary", "Cookie, Authorization, X-Requested-With")
	h.Set("Content-Type", "application/json")
	return httpapi.WriteBody(&slowWriter{w, control, e.WriteWithin}, r, status, body...)
}

// slowWriter lets each piece of an answer take its time, but not for ever.
type slowWriter struct {
	http.ResponseWriter
	control *http.ResponseController
	within  time.Duration
}

func (w *slowWriter) Write(p []byte) (n int, err error) {
	for piece := range slices.Chunk(p, web.MaxPageBytes) {
		_ = w.control.SetWriteDeadline(time.Now().Add(w.within)) // of a server that can
		written, err := w.ResponseWriter.Write(piece)
		if n += written; err != nil {
			return n, err
		}
	}
	return n, nil
}

// answer counts and runs a document. An error is for a client that is to come again
// later.
func (e *Endpoint) answer(ctx context.Context, data *Data, req request, trace *httpapi.RequestTrace, base string) (*graphql.Response, int, error) {
	s := newSession(e, data, auth.From(ctx), base, httpapi.WorkOf(ctx))
	s.trace = trace
	defer s.Close(ctx)
	ctx, release := s.outlive(ctx)
	defer release()
	if err := s.Hold(budget.DocumentCopies*min(len(req.Query), cost.MaxDocumentBytes) + budget.VariableCopies*req.variableBytes); err == budget.ErrBusy {
		return nil, 0, err
	} else if err != nil {
		return failed(err.Error(), 0, 0), http.StatusOK, nil
	}
	counted, err := cost.Estimate(req.Query, req.Variables)
	if v := s.Limits.Check(counted); len(v) > 0 {
		return overLimit(v, base+"/help/api/graphql#cost-limits"), http.StatusBadRequest, nil
	}
	if err != nil {
		return refused(err), http.StatusOK, nil
	}
	if err := cost.CheckVariables(req.Query, req.OperationName, req.Variables); err != nil {
		return refused(err), http.StatusOK, nil
	}
	if counted.Mutations > mutationsPerDocument {
		return failed(fmt.Sprintf("a document has at most %d mutations, and this one has %d: send several", mutationsPerDocument, counted.Mutations), 0, 0), http.StatusOK, nil
	}
	if wait := e.mayMutate(s.Actor, counted.Mutations); wait > 0 {
		return nil, 0, auth.TooMany(wait)
	}
	s.Aliases = counted.InnerAliases
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	out := e.schema(s.Limits).Exec(withSession(ctx, s), req.Query, req.OperationName, req.Variables)
	if repeats(out) {
		return failed("this document names the same fields too often, by itself or through its fragments: name each once, or send several documents", 0, 0), http.StatusOK, nil
	}
	if err := budget.TooLarge(ctx); err != nil {
		return failed(err.Error(), 0, 0), http.StatusOK, nil
	}
	if errors.Is(context.Cause(ctx), budget.ErrBusy) {
		if s.changing.Load() {
			return failed(busyAfterwards, 0, 0), http.StatusOK, nil
		}
		return nil, 0, budget.ErrBusy
	}
	// The context tells of an end a little later than it is known.
	if s.ended() && !s.changing.Load() {
		return failed(cutShort, 0, 0), http.StatusOK, nil
	}
	conceal(ctx, out)
	return out, http.StatusOK, nil
}

// outcome says in a word how a request ended.
func outcome(answer *graphql.Response, err error) string {
	switch {
	case err != nil:
		return "refused"
	case len(answer.Errors) > 0:
		return "answered with errors"
	}
	return "answered"
}

// repeats reports whether a document was refused for the pairs of equal fields in
// it.
func repeats(out *graphql.Response) bool {
	return len(out.Errors) > 0 && out.Errors[0].Rule == "OverlapValidationLimitExceeded"
}

// mayMutate counts the mutations of an actor and returns how long to wait if they
// are too many; 0 is not at all.
func (e *Endpoint) mayMutate(actor *auth.Actor, n int) time.Duration {
	if n == 0 || actor.SiteAdmin() {
		return 0
	}
	return e.mutations.WaitFor(actor.Payer(), n, e.Now())
}

// refused answers a document that could not be counted, or variables of another
// type. Nothing of it runs,
// whether or not the parser that would run it takes it: it may see more in it
// than was counted.
func refused(err error) *graphql.Response {
	var syntax *cost.SyntaxError
	var variable *cost.VariableError
	switch {
	case errors.As(err, &syntax):
		return failed(syntax.Error(), syntax.Line, syntax.Column)
	case errors.As(err, &variable):
		return failed(variable.Error(), variable.Line, variable.Column)
	}
	return failed(err.Error(), 0, 0)
}

func stack() []byte { return debug.Stack() }
