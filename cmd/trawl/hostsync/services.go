package hostsync

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/trawlsearch/trawl/httpapi/hooks"
	"github.com/trawlsearch/trawl/httpapi/hosts"
	"github.com/trawlsearch/trawl/httpapi/manage"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/redact"
	"github.com/trawlsearch/trawl/store/saved"
)

// Services has a Keeper ask external services when they are due, and when users and
// webhooks ask for it. It is safe for concurrent use.
type Services struct {
	*Keeper
	// mine reports whether a service is asked by this node when it is due.
	mine func(id uint32) bool
	// pushed has a repository synced that was pushed to.
	pushed func(r *store.Repository, at time.Time)
	// asked are those that users ask for, hooked those that webhooks do.
	asked, hooked requests
	// previewing is held while a preview is made.
	previewing sync.Mutex
}

var (
	_ manage.ServiceHosts = (*Services)(nil)
	_ hooks.Receiver      = (*Services)(nil)
)

// NewServices returns the services that a Keeper asks. Mine reports whether a service is
// asked by this node when it is due; pushed has a repository synced that was pushed to.
func NewServices(k *Keeper, mine func(id uint32) bool, pushed func(r *store.Repository, at time.Time)) *Services {
	return &Services{Keeper: k, mine: mine, pushed: pushed, asked: newRequests(), hooked: newRequests()}
}

// requests are services to ask out of turn.
type requests struct {
	// signal holds a token when there are some.
	signal chan struct{}

	mu  sync.Mutex // guards ids
	ids map[uint32]bool
}

func newRequests() requests {
	return requests{signal: make(chan struct{}, 1), ids: map[uint32]bool{}}
}

func (q *requests) add(id uint32) {
	q.mu.Lock()
	q.ids[id] = true
	q.mu.Unlock()
	select {
	case q.signal <- struct{}{}:
	default:
	}
}

// take returns those that were asked for, and forgets them.
func (q *requests) take() map[uint32]bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	taken := q.ids
	q.ids = map[uint32]bool{}
	return taken
}

// SyncService has an external service asked soon.
func (s *Services) SyncService(id uint32) { s.asked.add(id) }

// leastBetweenServices is the least time between two questions to an external
// service: its list is long, and its host counts requests.
const leastBetweenServices = 5 * time.Minute

// Follow asks the external services now, at every interval but not sooner
// than after five minutes, and on request, until ctx ends. An interval of 0 is never.
func (s *Services) Follow(ctx context.Context, interval time.Duration) {
	s.seal()
	s.asked.take() // which are among all
	s.ask(ctx, nil)
	var due <-chan time.Time
	if interval > 0 {
		ticker := time.NewTicker(max(interval, leastBetweenServices))
		defer ticker.Stop()
		due = ticker.C
	}
	var hooked <-chan time.Time
	lastHooked := time.Time{}
	for {
		select {
		case <-ctx.Done():
			return
		case <-due:
			s.ask(ctx, nil)
		case <-s.asked.signal:
			s.ask(ctx, s.asked.take())
		case <-s.hooked.signal:
			if hooked == nil {
				hooked = time.After(time.Until(lastHooked.Add(leastBetweenHooked)))
			}
		case <-hooked:
			hooked, lastHooked = nil, time.Now()
			s.ask(ctx, s.hooked.take())
		}
	}
}

// seal seals the secrets of services that an older program wrote down as they
// are.
func (s *Services) seal() {
	all, err := s.Book.Services.All()
	if err != nil {
		return // ask says so
	}
	for _, v := range all {
		if !unsealed(v) {
			continue
		}
		_, err := s.Book.Services.Change(v.ID, func(v *saved.Service) error {
			if !unsealed(v) { // any more: another node has done it, or someone has changed it
				return nil
			}
			return s.Book.Services.SetConfig(v, v.Config, hosts.Redact(v.Config))
		})
		if err != nil {
			s.Log.Warn().Uint32("service", v.ID).Err(err).Msg("seal secrets of external service")
		}
	}
}

// unsealed reports whether a service has secrets that are written down as they are.
func unsealed(v *saved.Service) bool {
	shown := hosts.Redact(v.Config)
	return len(v.Sealed) == 0 && v.Declared == "" && shown != v.Config && hosts.Redact(shown) != v.Config
}

// ask asks those services that were chosen, nil being all.
func (s *Services) ask(ctx context.Context, chosen map[uint32]bool) {
	all, err := s.Book.Services.All()
	if err != nil {
		s.Log.Error().Err(err).Msg("list external services")
		return
	}
	for _, v := range all {
		if ctx.Err() != nil {
			return
		}
		if chosen == nil && !s.mine(v.ID) || chosen != nil && !chosen[v.ID] {
			continue
		}
		if err := s.Sync(ctx, v); err != nil && ctx.Err() == nil {
			s.Log.Warn().Uint32("service", v.ID).Str("err", redact.Text(err.Error())).Msg("ask external service")
		}
	}
}

// PreviewService implements manage.ServiceHosts. One preview is made at a time, since a
// listing takes memory.
func (s *Services) PreviewService(ctx context.Context, v *saved.Service) (manage.ServicePreview, error) {
	var out manage.ServicePreview
	if !s.previewing.TryLock() {
		return out, errors.New("another preview is being made: try again when it is there")
	}
	defer s.previewing.Unlock()
	p, err := s.Preview(ctx, v)
	if err != nil {
		return out, err
	}
	for _, l := range p.Add {
		out.Added = append(out.Added, l.Source.Name)
	}
	for _, c := range p.Change {
		if c.Renamed() {
			out.Renamed = append(out.Renamed, c.Repository.Name)
		} else {
			out.Changed = append(out.Changed, c.Repository.Name)
		}
	}
	for _, r := range p.Hide {
		out.Hidden = append(out.Hidden, r.Name)
	}
	for _, r := range p.Remove {
		out.Removed = append(out.Removed, r.Name)
	}
	out.Warnings = p.Left
	return out, nil
}
