package httpapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/stream"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/git"
	"github.com/trawlsearch/trawl/store/identity"
)

// middleware is what stands between the requests of a server and its handlers.
type middleware struct{ *Server }

// around is the chain that every request passes, outermost first.
func (s middleware) around(h http.Handler) http.Handler {
	h = s.preflight(h)
	h = timeBodies(s.BodyTimeout, h)
	h = securityHeaders(h)
	h = s.recoverPanics(h)
	h = s.logRequests(h)
	return h
}

// record is the part of a request's log line that the outermost layer cannot
// see. It is filled in by the goroutine that serves the request.
type record struct {
	route string
	// actor is the key of the request's actor, as auth.Actor.Key has it; "" for
	// a refused request.
	actor string
	// search is set by requests that search only.
	search stream.Summary
	// server is the one that serves the request; nil is none.
	server *Server
}

type recordKey struct{}

// recordOf returns the record of a request, or an unused one if there is none.
func recordOf(ctx context.Context) *record {
	if rec, ok := ctx.Value(recordKey{}).(*record); ok {
		return rec
	}
	return &record{}
}

// watched is a request that is being answered: its context, with its record and
// the logger of the server, and its status.
type watched struct {
	context.Context
	// logger has the logger of the server.
	logger context.Context
	record record
	status statusWriter
}

// Value implements context.Context.
func (w *watched) Value(key any) any {
	if key == (recordKey{}) {
		return &w.record
	}
	if v := w.Context.Value(key); v != nil {
		return v
	}
	return w.logger.Value(key)
}

// logRequests writes one line per request, at its end.
func (s middleware) logRequests(next http.Handler) http.Handler {
	logger := s.Log.WithContext(context.Background())
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began, ctx := s.now(), r.Context()
		if s.Observer != nil {
			ctx = s.Observer.Begin(r)
		}
		all := &watched{ctx, logger, record{route: noRoute, server: s.Server}, statusWriter{ResponseWriter: w}}
		defer func() {
			took, status := s.now().Sub(began), all.status.code()
			s.logRequest(r, &all.record, status, took)
			s.observe(ctx, r.Method, &all.record, status, took)
		}()
		next.ServeHTTP(&all.status, r.WithContext(all))
	})
}

func (s middleware) logRequest(r *http.Request, rec *record, status int, took time.Duration) {
	line := s.Log.WithLevel(s.requestLevel(rec.route, status))
	line.Str("method", r.Method).Str("route", rec.route).Int("status", status).Int64("took_ms", took.Milliseconds())
	if rec.actor != "" {
		line.Str("actor", rec.actor)
	}
	if sum := rec.search; sum.Outcome != "" {
		line.Str("query_id", sum.TraceID).Str("outcome", sum.Outcome).Int("matches", sum.Matches).Int("most_held", sum.MostHeld)
	}
	line.Msg("request")
}

func (s middleware) requestLevel(route string, status int) zerolog.Level {
	switch {
	case route == "/healthz" || route == "/readyz":
		return zerolog.DebugLevel // probes ask every few seconds
	case status >= 500:
		return zerolog.WarnLevel
	case s.QuietRequests:
		return zerolog.DebugLevel
	}
	return zerolog.InfoLevel
}

// recoverPanics keeps a broken invariant in one request from ending others. An
// answer that has begun is cut off, so that no client takes it for whole.
func (s middleware) recoverPanics(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			v := recover()
			if v == nil {
				return
			}
			if v == http.ErrAbortHandler {
				panic(v)
			}
			s.Log.Error().Err(fmt.Errorf("panic: %v\n%s", v, debug.Stack())).Msg("serve request")
			if sw, ok := w.(*statusWriter); ok && sw.status != 0 {
				panic(http.ErrAbortHandler)
			}
			s.sendError(w, r, internalError, http.StatusInternalServerError, nil)
		}()
		next.ServeHTTP(w, r)
	})
}

// The values of headers that every answer has. All answers share them: what sets or
// adds to a header leaves its old value as it is.
var (
	noSniffing = []string{"nosniff"}
	blockXSS   = []string{"1; mode=block"}
	denyFrames = []string{"DENY"}
	noCaching  = []string{"no-cache, max-age=0"}
)

func securityHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h["X-Content-Type-Options"] = noSniffing
		h["X-Xss-Protection"] = blockXSS
		h["X-Frame-Options"] = denyFrames
		h["Cache-Control"] = noCaching
		next.ServeHTTP(w, r)
	})
}

// preflight answers what browsers ask before they let a page of another origin
// call what is below /.api/.
func (s middleware) preflight(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodOptions || !strings.HasPrefix(r.URL.Path, apiPrefix) {
			next.ServeHTTP(w, r)
			return
		}
		recordOf(r.Context()).route = apiPrefix
		if err := s.Gate.CheckHost(r); err != nil {
			s.answerError(w, r, Route{Path: apiPrefix}, err)
			return
		}
		s.Gate.Preflight(w, r)
	})
}

// adapt lets in whom the route is for, and answers with the error that its
// handler returns.
func (s middleware) adapt(route Route) http.Handler {
	name, handler := route.Template(), route.Handler
	if route.Holds > 0 {
		handler = s.admitted(route.Holds, handler)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := recordOf(r.Context())
		rec.route = name
		in, release, err := s.Gate.Admit(w, r, route.Access)
		if err == nil {
			defer release()
			r = in
			rec.actor = auth.From(r.Context()).Key()
			out := newRevocableWriter(r.Context(), w)
			defer out.release()
			w = out
			err = handler(w, r)
		}
		if err != nil {
			s.answerError(w, r, route, err)
		}
	})
}

// answerError answers with an error, or leads a user who has to sign in to the
// sign-in page.
func (s middleware) answerError(w http.ResponseWriter, r *http.Request, route Route, err error) {
	status, message := statusOf(err)
	// An answer whose client has left ends with the error of its context.
	ended := errors.Is(err, context.Canceled) && r.Context().Err() != nil
	coming := errors.Is(err, store.ErrFetching)
	gone := status == http.StatusServiceUnavailable && errors.Is(err, git.ErrNotRepository) && !coming
	if (status == http.StatusInternalServerError || gone) && !ended {
		zerolog.Ctx(r.Context()).Error().Err(err).Str("route", route.Template()).Msg("serve request")
	}
	switch {
	case errors.Is(err, git.ErrBusy) || coming:
		w.Header().Set("Retry-After", RetryAfter)
	case errors.Is(err, store.ErrAway):
		w.Header().Set("Retry-After", "1")
	case errors.Is(err, stream.ErrTooMany):
		w.Header().Set("Retry-After", "5")
	}
	if errors.Is(err, ErrSignIn) && r.Method == http.MethodGet {
		http.Redirect(w, r, s.signInURL(r), http.StatusFound)
		return
	}
	var denied *auth.Denied
	if errors.As(err, &denied) {
		if denied.NeedsSignIn() && isPage(r) {
			http.Redirect(w, r, s.signInURL(r), http.StatusFound)
			return
		}
		maps.Copy(w.Header(), denied.Header)
		if denied.Status == http.StatusUnauthorized && route.Metadata != "" {
			challenge(w.Header(), s.baseURL(r)+route.Metadata, route.Access)
		}
	}
	var known *Error
	var near []Near
	if errors.As(err, &known) {
		near = known.Near
	}
	s.sendError(w, r, message, status, near)
}

// challenge adds to the challenge of a 401 where its client learns how to get in.
func challenge(h http.Header, metadata string, access auth.Access) {
	const name = "Www-Authenticate"
	given := cmp.Or(h.Get(name), `Bearer error="invalid_token"`)
	if given != "Bearer" {
		given += ","
	}
	given = fmt.Sprintf("%s resource_metadata=%q", given, metadata)
	if access == auth.ForAgents {
		given += fmt.Sprintf(", scope=%q", identity.ScopeMCP)
	}
	h.Set(name, given)
}

// programPaths are what only programs ask for, who can do nothing with a page
// to sign in.
var programPaths = []string{apiPrefix, "/.well-known/", "/.auth/", "/metrics"}

// isPage reports whether a person looks at the answer.
func isPage(r *http.Request) bool {
	if r.Method != http.MethodGet && r.Method != http.MethodHead || strings.Contains(r.URL.Path, "/-/raw") {
		return false
	}
	return !slices.ContainsFunc(programPaths, func(prefix string) bool { return strings.HasPrefix(r.URL.Path, prefix) })
}

// statusWriter remembers the status that was sent.
type statusWriter struct {
	http.ResponseWriter
	status int // 0 until the header is written
}

func (w *statusWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *statusWriter) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController reach what it wraps.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// code is the status that the client saw: net/http sends 200 for a handler
// that writes nothing.
func (w *statusWriter) code() int {
	if w.status == 0 {
		return http.StatusOK
	}
	return w.status
}
