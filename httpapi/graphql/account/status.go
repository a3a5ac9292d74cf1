package account

import (
	"context"
	"fmt"
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
func (*Root) StatusMessages(ctx context.Context) ([]*statusMessage, error) {
	s := Of(ctx)
	out := s.statusMessages()
	if !s.Actor.SiteAdmin() {
		return out, nil
	}
	services, err := s.Book.Services.All()
	for _, v := range services {
		if v.LastError != "" {
			e := &externalService{s, v}
			out = append(out, &statusMessage{&serviceError{*e.LastSyncError(), e}})
		}
	}
	return out, err
}

func (s *Session) statusMessages() []*statusMessage {
	out := []*statusMessage{}
	add := func(v any) { out = append(out, &statusMessage{v}) }
	if s.Notice != nil {
		if what := s.Notice(); what != "" {
			add(&diskThreshold{what + "; what is indexed can be searched"})
		}
	}
	n := s.CountRepositories()
	if n.Total == 0 {
		add(&noRepositories{"There are no repositories yet: add some with `trawl repo add`."})
		return out
	}
	if n.Cloning > 0 {
		add(&cloningProgress{fmt.Sprintf("%d of %d repositories have not been fetched yet", n.Cloning, n.Total)})
	}
	if n.FailedFetch > 0 {
		add(&syncError{fmt.Sprintf("%d of %d repositories could not be fetched the last time", n.FailedFetch, n.Total)})
	}
	if n.Indexed < n.Total {
		add(&indexingProgress{NotIndexed: n.Total - n.Indexed, Indexed: n.Indexed})
	}
	return out
}

// Counts are numbers of repositories.
type Counts struct {
	Total, Cloned, Cloning, NotCloned, FailedFetch, Indexed, Corrupted, Embedded int32
}

// CountRepositories counts those that the client may see.
func (s *Session) CountRepositories() Counts {
	var n Counts
	for _, r := range s.VisibleRepositories() {
		n.Total++
		switch CloneStatusOf(r) {
		case Cloned:
			n.Cloned++
		case Cloning:
			n.Cloning++
		default:
			n.NotCloned++
		}
		if r.LastError != "" {
			n.FailedFetch++
		}
		if len(s.Damage(r)) > 0 {
			n.Corrupted++
		}
		if r.Indexed() {
			n.Indexed++
		}
	}
	return n
}
