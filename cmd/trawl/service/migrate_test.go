package service

import (
	"context"
	"testing"

	"github.com/trawlsearch/trawl/query/search/admission"
)

// TestYield: a rewrite goes on at once when no search runs, and in the end also
// when searches always run; it does not outlast its context.
func TestYield(t *testing.T) {
	s := &Service{searches: admission.NewQueue(1, 2)}
	s.yield(t.Context())
	ticket, err := s.searches.Enter(t.Context(), "", false)
	if err != nil {
		t.Fatal(err)
	}
	defer ticket.Leave()
	s.yield(t.Context())
	if n := s.searches.Working(); n != 1 {
		t.Errorf("%d searches are at work behind yield, want the one", n)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	s.yield(ended)
}
