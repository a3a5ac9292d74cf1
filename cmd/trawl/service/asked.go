package service

import (
	"context"
	"sync"
)

// asked are the repositories to sync out of turn, as users asked.
type asked struct {
	// signal holds a token when there is one.
	signal chan struct{}

	mu    sync.Mutex // guards names
	names []string
}

func (a *asked) add(name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, n := range a.names {
		if n == name {
			return
		}
	}
	a.names = append(a.names, name)
	select {
	case a.signal <- struct{}{}:
	default:
	}
}

func (a *asked) take() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	names := a.names
	a.names = nil
	return names
}

// Refresh has a repository synced by the Syncer before any other that it has not
// begun with.
func (s *Service) Refresh(name string) { s.asked.add(name) }

// RunJobs runs search jobs until ctx ends.
func (s *Service) RunJobs(ctx context.Context) { s.jobs.Run(ctx) }

func (a *asked) len() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.names)
}
