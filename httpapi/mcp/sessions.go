package mcp

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trawlsearch/trawl/httpapi/auth"
)

const (
	// defaultSessions is how many sessions may be open, sessionsOfOne how many of
	// them one owner may have.
	defaultSessions = 1_000
	sessionsOfOne   = 50
	// sessionTimeout is how long a session may be idle.
	sessionTimeout = 30 * time.Minute
)

// sessions are those of clients that speak a version of the protocol with sessions. They
// keep nothing that answers depend on, so who gets none is answered as well without.
type sessions struct {
	most    int
	server  *mcp.Server
	handler http.Handler

	mu sync.Mutex // guards all below
	// owners are those of open sessions, by ID. reserved counts those about to open.
	owners   map[string]string
	reserved int
}

// reserve reports whether an owner may open a session. opened must be called then.
func (s *sessions) reserve(owner string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.owners)+s.reserved >= s.most {
		return false
	}
	own := 0
	for _, o := range s.owners {
		if o == owner {
			own++
		}
	}
	if own >= sessionsOfOne {
		return false
	}
	s.reserved++
	return true
}

// opened follows a session that the request of ctx may have opened: it ends with the
// credential of its owner.
func (s *sessions) opened(ctx context.Context, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reserved--
	for session := range s.server.Sessions() {
		if id == "" || session.ID() != id {
			continue
		}
		s.owners[id] = owner(auth.From(ctx))
		lasting, release := auth.Outlive(ctx)
		stop := context.AfterFunc(lasting, func() { _ = session.Close() }) // it is gone either way
		go func() {
			_ = session.Wait() // why it ended does not matter
			stop()
			release()
			s.mu.Lock()
			defer s.mu.Unlock()
			delete(s.owners, id)
		}()
	}
}

// open is how many sessions are open.
func (s *sessions) open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.owners)
}

// Close ends all sessions.
func (e *Endpoint) Close() {
	e.once.Do(e.prepare)
	for session := range e.sessions.server.Sessions() {
		_ = session.Close() // it is gone either way
	}
}
