package httpapi

import (
	"net/http"
	"strings"

	"github.com/gorilla/mux"
)

// Handler answers a request. An error it returns becomes the answer, so it
// must not have written by then.
type Handler func(w http.ResponseWriter, r *http.Request) error

// Route is one method and path of the surface. The path may hold variables in
// braces.
type Route struct {
	Method, Path string
	Handler      Handler
	// About says in a line what the route is for.
	About string
}

// routes is the whole surface. Beside it, OPTIONS below /.api/ is answered by
// the cross-origin layer, a path with a slash too many is redirected, a method
// that is not listed gets 405 and a path that is not listed 404.
func (s *Server) routes() []Route {
	return append([]Route{
		// search; the second path is for pages of this origin and has no CORS
		{"GET", "/.api/search/stream", s.serveStream, "search, answered as a stream of events"},
		{"GET", "/search/stream", s.serveStream, "the same, for pages of this server"},
		{"GET", "/-/trace/{id}", s.serveTrace, "what one search did; the trace field of its events links here"},

		// for whatever watches the process; alive and ready are two questions
		{"GET", "/healthz", s.serveHealth, "200 while the process lives"},
		{"HEAD", "/healthz", s.serveHealth, ""},
		{"GET", "/readyz", s.serveReady, "200 once searches can run, 503 before"},
		{"HEAD", "/readyz", s.serveReady, ""},

		// for people who open the address in a browser
		{"GET", "/", s.serveIndex, "this page"},
	}, s.Extra...)
}

// Handler returns the surface with everything around it. Open serves it; tests
// call it without a network.
func (s *Server) Handler() http.Handler {
	s.prepare()
	router := mux.NewRouter().StrictSlash(true)
	for _, route := range s.routes() {
		// The path must stand first: in another order mux forgets that it
		// matched when a later route has the method.
		router.Path(route.Path).Methods(route.Method).Handler(s.adapt(route))
	}
	router.NotFoundHandler = http.HandlerFunc(notFound)
	router.MethodNotAllowedHandler = http.HandlerFunc(methodNotAllowed)
	return s.around(router)
}

const apiPrefix = "/.api/"

func notFound(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, apiPrefix) {
		http.Error(w, "no route", http.StatusNotFound)
		return
	}
	http.Error(w, "page not found", http.StatusNotFound)
}

func methodNotAllowed(w http.ResponseWriter, _ *http.Request) {
	w.WriteHeader(http.StatusMethodNotAllowed)
}
