package gitobject

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/trawlsearch/trawl/httpapi/code"
	"github.com/trawlsearch/trawl/httpapi/graphql/account"
	"github.com/trawlsearch/trawl/httpapi/graphql/budget"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/search/answer"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/git"
)

// Search runs a query for the client of the request.
type Search func(ctx context.Context, q *query.Query, o search.Options, sink answer.Sink) search.Outcome

// Session is what the git objects of one request share. It is safe for concurrent
// use.
type Session struct {
	*account.Session
	git    *git.Budget
	search Search

	mu    sync.Mutex // guards all below
	trees map[uint32]*code.Reader
	// recent are the readers that may have a process, the last used last.
	recent    []*code.Reader
	documents map[*store.Repository]*documents
}

// New shares the processes of git with others; search runs the queries for
// symbols.
func New(of *account.Session, git *git.Budget, search Search) *Session {
	return &Session{Session: of, git: git, search: search, trees: map[uint32]*code.Reader{}, documents: map[*store.Repository]*documents{}}
}

// Close releases everything.
func (s *Session) Close(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.trees {
		t.Close()
	}
	s.Session.Close(ctx)
}

// maxReaders is how many repositories one answer reads at the same time: each
// has a git process. The others open again when they are read.
const maxReaders = 4

// gitOf returns the git side of a repository. What is wrong with it is told by
// whatever is read.
func (s *Session) gitOf(r *store.Repository) *code.Reader {
	t, idle := s.reader(r)
	if idle != nil {
		idle.Close()
		s.Give(budget.ReaderBytes)
	}
	return t
}

// reader returns the reader of a repository, and one that was not used for
// longest if there are too many with a process.
func (s *Session) reader(r *store.Repository) (t, idle *code.Reader) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t = s.trees[r.ID]; t == nil {
		_ = s.Hold(budget.ReaderBytes) // which ends the answer
		t = code.NewReader(s.git, s.Store, r)
		s.trees[r.ID] = t
	}
	s.recent = append(slices.DeleteFunc(s.recent, func(other *code.Reader) bool { return other == t }), t)
	if len(s.recent) > maxReaders {
		idle, s.recent = s.recent[0], s.recent[1:]
		// What it has read goes with it.
		maps.DeleteFunc(s.trees, func(_ uint32, other *code.Reader) bool { return other == idle })
	}
	return t, idle
}

// Repository returns the resolver of a record.
func (s *Session) Repository(r *store.Repository) *Repository { return &Repository{s: s, rec: r} }
