package service

import (
	"context"
	"encoding/binary"
	"slices"
	"sync"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/redact"
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
	if !slices.Contains(a.names, name) {
		a.names = append(a.names, name)
	}
	a.wake()
}

// wake has the Syncer look.
func (a *asked) wake() {
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

func (a *asked) len() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.names)
}

// Refresh has a repository synced, by the node whose work it is, before any other
// that this has not begun with.
func (s *Service) Refresh(name string) {
	r := s.record(name)
	if r == nil || s.mine(r.ID) {
		s.asked.add(name)
		return
	}
	if !r.Indexed() && r.LastError == "" {
		return // it is new, which the other node heard with its record
	}
	var c store.Records
	c.Put(store.RecordAsked, binary.BigEndian.AppendUint32(nil, r.ID), nil)
	if err := s.store.CommitRecords(&c); err != nil {
		s.opts.Log.Warn().Str("repo", name).Str("err", redact.Text(err.Error())).Msg("ask another node to sync")
	}
}

// applied has what other nodes ask for synced, and what they have added, if it is the
// work of this one.
func (s *Service) applied(a store.Applied) {
	for _, c := range a.Repositories {
		if c.After != nil && c.Before == nil && s.mine(c.After.ID) {
			s.asked.add(c.After.Name)
		}
	}
	if a.Has(store.RecordAsked) {
		s.asked.wake()
	}
}

// takeAsked returns what was asked for here, and through other nodes.
func (s *Service) takeAsked() []string {
	names := s.asked.take()
	if s.node == nil {
		return names
	}
	elsewhere, err := s.takeAskedElsewhere()
	if err != nil {
		s.opts.Log.Warn().Str("err", redact.Text(err.Error())).Msg("read what other nodes ask for")
	}
	return append(names, elsewhere...)
}

// takeAskedElsewhere takes the records of RecordAsked that are for this node.
func (s *Service) takeAskedElsewhere() (names []string, err error) {
	var done store.Records
	sn := s.store.Snapshot()
	defer sn.Close()
	err = s.store.EachRecord(store.RecordRange{Kind: store.RecordAsked}, func(id, _ []byte) (bool, error) {
		if len(id) != 4 {
			done.Delete(store.RecordAsked, slices.Clone(id))
			return true, nil
		}
		number := binary.BigEndian.Uint32(id)
		if !s.mine(number) {
			return true, nil
		}
		done.Delete(store.RecordAsked, slices.Clone(id))
		if r := sn.RepositoryByID(number); r != nil {
			names = append(names, r.Name)
		}
		return true, nil
	})
	if err == nil && !done.Empty() {
		err = s.store.CommitRecords(&done)
	}
	return names, err
}

// RunJobs runs search jobs until ctx ends.
func (s *Service) RunJobs(ctx context.Context) { s.jobs.Run(ctx) }
