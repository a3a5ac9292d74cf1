package httpapi

import (
	"net/http"

	"github.com/trawlsearch/trawl/httpapi/stream"
)

// Searcher runs queries.
type Searcher = stream.Searcher

// searchRoutes are the routes that run searches, and their traces.
type searchRoutes struct{ *Server }

// serveStream answers a search as a stream of events.
func (s searchRoutes) serveStream(w http.ResponseWriter, r *http.Request) error {
	release, err := s.admit(w, r)
	if err != nil {
		return err
	}
	defer release()
	s.stream.Serve(w, r, &recordOf(r.Context()).search)
	return nil
}

// servePageStream is serveStream for pages of this server. It says that the answer must
// not be stored, which has browsers hold back the network while a page is behind: of
// other answers Chromium keeps up to 56 MiB that the page has not read.
func (s searchRoutes) servePageStream(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Cache-Control", "no-store")
	return s.serveStream(w, r)
}

// admit counts an answer to a search that is being read until release is called, or
// refuses it.
func (s searchRoutes) admit(w http.ResponseWriter, r *http.Request) (release func(), err error) {
	if what := s.opening(); what != "" {
		w.Header().Set("Retry-After", "1")
		return nil, &Error{Status: http.StatusServiceUnavailable, Message: "opening " + what}
	}
	return s.stream.Admit(w, r)
}
