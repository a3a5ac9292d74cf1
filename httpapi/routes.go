package httpapi

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gorilla/mux"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/web"
)

// Handler answers a request. An error it returns becomes the answer, so it
// must not have written by then.
type Handler func(w http.ResponseWriter, r *http.Request) error

// Route is one method and path of the surface. The path may hold variables in
// braces.
type Route struct {
	Method, Path string
	Handler      Handler
	// Access says which clients the route answers; the zero value is those that
	// may search.
	Access auth.Access
	// Holds is about how many bytes an answer holds while it is made in memory.
	// The handler runs under admission for so many; 0 runs it at once, for answers
	// that hold nothing or that ask for admission themselves.
	Holds int64
	// Metadata is the path of a document that tells programs how they get in (RFC 9728),
	// "" for none. The 401 of the route names it.
	Metadata string
	// Asks says that a request needs parameters behind the path.
	Asks bool
	// About says in a line what the route is for.
	About string
}

// Template is the path with the names of its variables only.
func (r Route) Template() string {
	var b strings.Builder
	deep, hidden := 0, false
	for _, c := range r.Path {
		switch {
		case c == '{':
			deep++
		case c == '}':
			deep--
			hidden = hidden && deep > 0
		case c == ':' && deep == 1:
			hidden = true
		}
		if !hidden {
			b.WriteRune(c)
		}
	}
	return b.String()
}

// Routes returns all routes, to describe them.
func (s *Server) Routes() []Route {
	s.prepare()
	return s.routes()
}

// routes is the whole surface. Beside it, OPTIONS below /.api/ is answered by
// the gate, a path with a slash too many is redirected, a method
// that is not listed gets 405 and a path that is not listed 404.
func (s *Server) routes() []Route {
	searches, site := searchRoutes{s}, sitePages{s}
	all := append([]Route{
		// search; the second path is for pages of this origin and has no CORS
		{Method: "GET", Path: "/.api/search/stream", Handler: searches.serveStream, About: "search, answered as a stream of events"},
		{Method: "GET", Path: "/search/stream", Handler: searches.servePageStream, About: "the same, for pages of this server"},
		{Method: "GET", Path: exportPath, Handler: searches.serveExport, Asks: true, About: "the answer to a search as a file"},
		{Method: "GET", Path: groupsPath, Handler: searches.serveGroups, Holds: groupsHolds, Asks: true, About: "how many results of a search have the same repository, file, author or capture"},
		{Method: "GET", Path: "/-/trace/{id}", Handler: searches.serveTrace, Holds: traceHolds, About: "what one search did; the trace field of its events links here"},

		// for whatever watches the process; alive and ready are two questions
		{Method: "GET", Path: "/healthz", Handler: site.serveHealth, Access: auth.ForProbes, About: "200 while the process lives"},
		{Method: "HEAD", Path: "/healthz", Handler: site.serveHealth, Access: auth.ForProbes},
		{Method: "GET", Path: "/readyz", Handler: site.serveReady, Access: auth.ForProbes, About: "200 once searches can run, 503 before"},
		{Method: "HEAD", Path: "/readyz", Handler: site.serveReady, Access: auth.ForProbes},

		// for people who open the address in a browser
		{Method: "GET", Path: "/", Handler: site.serveHome},
		{Method: "GET", Path: searchPath, Handler: site.serveSearch, Holds: PageHolds, About: "search, for people"},
		{Method: "GET", Path: listPath, Handler: searches.serveList, Holds: listHolds, Asks: true, About: "the answer to a search, page by page and without scripts"},
		{Method: "GET", Path: helpPath, Handler: site.serveIndex, Holds: PageHolds, About: "this page"},
		{Method: "GET", Path: web.AssetPath + "{version}/{name:.+}", Handler: site.serveAsset, Access: auth.ForProbes},
	}, site.clientRoutes()...)
	if s.Gate.Registry != nil {
		all = append(all, signInPages{s}.routes()...)
	}
	all = append(all, s.Extra...)
	// A repository may be called almost anything: its routes take the paths
	// that no other route does, in whatever order they are added.
	slices.SortStableFunc(all, func(a, b Route) int { return rank(a) - rank(b) })
	return all
}

func rank(r Route) int {
	if strings.HasPrefix(r.Path, "/{") {
		return 1
	}
	return 0
}

// Handler returns the surface with everything around it. Open serves it; tests
// call it without a network.
func (s *Server) Handler() http.Handler {
	s.prepare()
	m, router, plain := middleware{s}, mux.NewRouter().StrictSlash(true), plainRoutes{}
	for _, route := range s.routes() {
		// The path must stand first: in another order mux forgets that it
		// matched when a later route has the method.
		added := router.Path(route.Path).Methods(route.Method).Handler(m.adapt(route))
		plain.add(route, router, added)
	}
	// Who may not search does not learn what there is.
	router.NotFoundHandler = m.adapt(Route{Path: noRoute, Handler: m.notFound})
	router.MethodNotAllowedHandler = m.adapt(Route{Path: noRoute, Handler: methodNotAllowed})
	return m.around(plain.before(router))
}

// plainRoutes are the handlers of routes without variables, which need no more
// than a look-up where mux tries one regexp after the other.
type plainRoutes map[methodPath]http.Handler

type methodPath struct{ method, path string }

// add adds a route if mux chooses it for its path, too.
func (p plainRoutes) add(route Route, router *mux.Router, added *mux.Route) {
	if strings.Contains(route.Path, "{") {
		return
	}
	var chosen mux.RouteMatch
	r := &http.Request{Method: route.Method, URL: &url.URL{Path: route.Path}}
	if router.Match(r, &chosen) && chosen.MatchErr == nil && chosen.Route == added {
		p[methodPath{route.Method, route.Path}] = chosen.Handler
	}
}

// before answers what is here and leaves the rest to next.
func (p plainRoutes) before(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := p[methodPath{r.Method, r.URL.Path}]
		if h == nil {
			h = next
		}
		h.ServeHTTP(w, r)
	})
}

const (
	apiPrefix = "/.api/"
	// noRoute is what logs call the path of a request that no route answers.
	noRoute = "none"
)

// notFound answers a request for a path that no route has.
func (s middleware) notFound(_ http.ResponseWriter, r *http.Request) error {
	err := errNotFound(r)
	if s.Near != nil && WantsPage(r) {
		err.Near = s.Near(r)
	}
	return err
}

func errNotFound(r *http.Request) *Error {
	if strings.HasPrefix(r.URL.Path, apiPrefix) {
		return &Error{Status: http.StatusNotFound, Message: "no route"}
	}
	return &Error{Status: http.StatusNotFound, Message: "page not found"}
}

func methodNotAllowed(w http.ResponseWriter, r *http.Request) error {
	if WantsPage(r) {
		return &Error{Status: http.StatusMethodNotAllowed, Message: "this address does not take " + r.Method + " requests"}
	}
	w.WriteHeader(http.StatusMethodNotAllowed)
	return nil
}
