package httpapi

import (
	"io"
	"net/http"
)

// serveHealth says that the process lives.
func (s sitePages) serveHealth(w http.ResponseWriter, _ *http.Request) error {
	return serveText(w, "ok\n")
}

// serveReady says whether searches can run and find all they should, and if
// not, why. A second line names other faults.
func (s sitePages) serveReady(w http.ResponseWriter, _ *http.Request) error {
	if why := s.Unready(); why != "" {
		return &Error{Status: http.StatusServiceUnavailable, Message: why}
	}
	text := "ready\n"
	if s.Notice != nil {
		if what := s.Notice(); what != "" {
			text += what + "\n"
		}
	}
	return serveText(w, text)
}

// Unready returns why /readyz fails, "" if it does not.
func (s *Server) Unready() string {
	if s.draining.Load() {
		return "stopping"
	}
	if what := s.opening(); what != "" {
		return "opening " + what
	}
	if s.Gate != nil && !s.Gate.IsCurrent() {
		return "waiting for the database of the cluster"
	}
	if s.Ready != nil {
		if what := s.Ready(); what != "" {
			return "waiting for " + what
		}
	}
	return ""
}

func serveText(w http.ResponseWriter, text string) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = io.WriteString(w, text) // a client that is gone misses nothing
	return nil
}
