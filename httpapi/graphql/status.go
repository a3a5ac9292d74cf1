package graphql

import (
	"context"
	"fmt"

	"github.com/trawlsearch/trawl/httpapi/graphql/wire"
)

// statusMessage is the union StatusMessage.
type statusMessage struct{ result any }

// What the union may hold. Those that this server never has reason for are
// known all the same: clients select them.
type (
	gitUpdatesDisabled struct{ Message string }
	noRepositories     struct{ Message string }
	cloningProgress    struct{ Message string }
	serviceError       struct {
		Message         string
		ExternalService *externalService
	}
	syncError        struct{ Message string }
	indexingProgress struct{ NotIndexed, Indexed int32 }
	diskThreshold    struct{ Message string }
)

func (m *statusMessage) ToGitUpdatesDisabled() (*gitUpdatesDisabled, bool) {
	v, ok := m.result.(*gitUpdatesDisabled)
	return v, ok
}

func (m *statusMessage) ToNoRepositoriesDetected() (*noRepositories, bool) {
	v, ok := m.result.(*noRepositories)
	return v, ok
}

func (m *statusMessage) ToCloningProgress() (*cloningProgress, bool) {
	v, ok := m.result.(*cloningProgress)
	return v, ok
}

func (m *statusMessage) ToExternalServiceSyncError() (*serviceError, bool) {
	v, ok := m.result.(*serviceError)
	return v, ok
}

func (m *statusMessage) ToSyncError() (*syncError, bool) {
	v, ok := m.result.(*syncError)
	return v, ok
}

func (m *statusMessage) ToIndexingProgress() (*indexingProgress, bool) {
	v, ok := m.result.(*indexingProgress)
	return v, ok
}

func (m *statusMessage) ToGitserverDiskThresholdReached() (*diskThreshold, bool) {
	v, ok := m.result.(*diskThreshold)
	return v, ok
}

// StatusMessages tells about the state of the repositories.
func (*resolver) StatusMessages(ctx context.Context) ([]*statusMessage, error) {
	s := sessionOf(ctx)
	out := s.statusMessages()
	if !s.actor.SiteAdmin() {
		return out, nil
	}
	services, err := s.Book.Services()
	for _, v := range services {
		if v.LastError != "" {
			e := &externalService{s, v}
			out = append(out, &statusMessage{&serviceError{*e.LastSyncError(), e}})
		}
	}
	return out, err
}

func (s *session) statusMessages() []*statusMessage {
	out := []*statusMessage{}
	add := func(v any) { out = append(out, &statusMessage{v}) }
	if s.Notice != nil {
		if what := s.Notice(); what != "" {
			add(&diskThreshold{what + "; what is indexed can be searched"})
		}
	}
	n := s.count()
	if n.total == 0 {
		add(&noRepositories{"There are no repositories yet: add some with `trawl repo add`."})
		return out
	}
	if n.cloning > 0 {
		add(&cloningProgress{fmt.Sprintf("%d of %d repositories have not been fetched yet", n.cloning, n.total)})
	}
	if n.failed > 0 {
		add(&syncError{fmt.Sprintf("%d of %d repositories could not be fetched the last time", n.failed, n.total)})
	}
	if n.indexed < n.total {
		add(&indexingProgress{NotIndexed: wire.Int32(n.total - n.indexed), Indexed: wire.Int32(n.indexed)})
	}
	return out
}

// counts are numbers of repositories.
type counts struct{ total, cloned, cloning, notCloned, failed, indexed, corrupted int }

func (s *session) count() counts {
	var n counts
	for _, r := range s.repositories() {
		n.total++
		switch cloneStatusOf(r) {
		case cloned:
			n.cloned++
		case cloning:
			n.cloning++
		default:
			n.notCloned++
		}
		if r.LastError != "" {
			n.failed++
		}
		if len(s.damage(r)) > 0 {
			n.corrupted++
		}
		if r.Indexed() {
			n.indexed++
		}
	}
	return n
}

// repositoryStats is the type RepositoryStats.
type repositoryStats struct {
	s *session
	n counts
}

// RepositoryStats counts what can be seen.
func (*resolver) RepositoryStats(ctx context.Context) *repositoryStats {
	s := sessionOf(ctx)
	return &repositoryStats{s, s.count()}
}

func (r *repositoryStats) Total() int32       { return wire.Int32(r.n.total) }
func (r *repositoryStats) Cloned() int32      { return wire.Int32(r.n.cloned) }
func (r *repositoryStats) Cloning() int32     { return wire.Int32(r.n.cloning) }
func (r *repositoryStats) NotCloned() int32   { return wire.Int32(r.n.notCloned) }
func (r *repositoryStats) FailedFetch() int32 { return wire.Int32(r.n.failed) }
func (r *repositoryStats) Indexed() int32     { return wire.Int32(r.n.indexed) }
func (r *repositoryStats) Corrupted() int32   { return wire.Int32(r.n.corrupted) }
func (r *repositoryStats) Embedded() int32    { return 0 }

// GitDirBytes sums the sizes of the files.
func (r *repositoryStats) GitDirBytes() (wire.BigInt, error) {
	var sum wire.BigInt
	for _, rec := range r.s.repositories() {
		n, err := r.s.fileBytes(rec)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

// IndexedLinesCount sums the lines of the documents.
func (r *repositoryStats) IndexedLinesCount() (wire.BigInt, error) {
	var sum wire.BigInt
	for _, rec := range r.s.repositories() {
		n, err := r.s.countLines(rec)
		if err != nil {
			return 0, err
		}
		sum += wire.BigInt(n)
	}
	return sum, nil
}
