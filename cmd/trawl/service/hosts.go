package service

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/trawlsearch/trawl/cmd/trawl/hostsync"
	"github.com/trawlsearch/trawl/httpapi/graphql/account"
	"github.com/trawlsearch/trawl/httpapi/hosts"
	"github.com/trawlsearch/trawl/httpapi/hosts/codehost"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
	"github.com/trawlsearch/trawl/store/ingest"
	"github.com/trawlsearch/trawl/store/redact"
	"github.com/trawlsearch/trawl/store/saved"
)

// gateway is how sources that were named over the API are reached.
type gateway struct {
	guard hosts.Guard

	mu    sync.Mutex // guards proxy
	proxy *hosts.Proxy
}

// url opens the proxy when it is first needed.
func (g *gateway) url() (string, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.proxy == nil {
		p, err := hosts.OpenProxy(g.guard)
		if err != nil {
			return "", err
		}
		g.proxy = p
	}
	return g.proxy.URL(), nil
}

func (g *gateway) close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.proxy == nil {
		return nil
	}
	return g.proxy.Close()
}

// SyncService has an external service asked soon.
func (s *Service) SyncService(id uint32) {
	s.hostsMu.Lock()
	s.hostsAsked[id] = true
	s.hostsMu.Unlock()
	select {
	case s.hostsWake <- struct{}{}:
	default:
	}
}

// leastBetweenServices is the least time between two questions to an external
// service: its list is long, and its host counts requests.
const leastBetweenServices = 5 * time.Minute

// KeepServices asks the external services now, at every interval but not sooner
// than after five minutes, and on request, until ctx ends. An interval of 0 is never.
func (s *Service) KeepServices(ctx context.Context, interval time.Duration) {
	s.sealServices()
	s.takeServices(&s.hostsAsked) // which are among all
	s.syncServices(ctx, nil)
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
			s.syncServices(ctx, nil)
		case <-s.hostsWake:
			s.syncServices(ctx, s.takeServices(&s.hostsAsked))
		case <-s.hostsHook:
			if hooked == nil {
				hooked = time.After(time.Until(lastHooked.Add(leastBetweenHooked)))
			}
		case <-hooked:
			hooked, lastHooked = nil, time.Now()
			s.syncServices(ctx, s.takeServices(&s.hostsHooked))
		}
	}
}

// takeServices returns which services were asked for, and forgets it.
func (s *Service) takeServices(from *map[uint32]bool) map[uint32]bool {
	s.hostsMu.Lock()
	defer s.hostsMu.Unlock()
	taken := *from
	*from = map[uint32]bool{}
	return taken
}

// sealServices seals the secrets of services that an older program wrote down as they
// are.
func (s *Service) sealServices() {
	all, err := s.book.Services()
	if err != nil {
		return // syncServices says so
	}
	for _, v := range all {
		if !unsealed(v) {
			continue
		}
		_, err := s.book.ChangeService(v.ID, func(v *saved.Service) error {
			if !unsealed(v) { // any more: another node has done it, or someone has changed it
				return nil
			}
			return s.book.SetConfig(v, v.Config, hosts.Redact(v.Config))
		})
		if err != nil {
			s.opts.Log.Warn().Uint32("service", v.ID).Err(err).Msg("seal secrets of external service")
		}
	}
}

// unsealed reports whether a service has secrets that are written down as they are.
func unsealed(v *saved.Service) bool {
	shown := hosts.Redact(v.Config)
	return len(v.Sealed) == 0 && v.Declared == "" && shown != v.Config && hosts.Redact(shown) != v.Config
}

// syncServices asks those services that were chosen, nil being all.
func (s *Service) syncServices(ctx context.Context, chosen map[uint32]bool) {
	all, err := s.book.Services()
	if err != nil {
		s.opts.Log.Error().Err(err).Msg("list external services")
		return
	}
	for _, v := range all {
		if ctx.Err() != nil {
			return
		}
		if chosen == nil && !s.node.Mine(v.ID) || chosen != nil && !chosen[v.ID] {
			continue
		}
		if err := s.hosts.Sync(ctx, v); err != nil && ctx.Err() == nil {
			s.opts.Log.Warn().Uint32("service", v.ID).Str("err", redact.Text(err.Error())).Msg("ask external service")
		}
	}
}

// RemoveService forgets an external service, and the repositories that only it
// has.
func (s *Service) RemoveService(ctx context.Context, id uint32) error { return s.hosts.Forget(ctx, id) }

// PreviewService implements account.Services. One preview is made at a time, since a
// listing takes memory.
func (s *Service) PreviewService(ctx context.Context, v *saved.Service) (account.ServicePreview, error) {
	var out account.ServicePreview
	if !s.hostsPreview.TryLock() {
		return out, errors.New("another preview is being made: try again when it is there")
	}
	defer s.hostsPreview.Unlock()
	p, err := s.hosts.Preview(ctx, v)
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

// matchReaders returns the users that accounts of a host are: those who sign in there, by
// the account, and those with an address that the host and this server have verified.
func (s *Service) matchReaders(host string, readers []codehost.Reader) (out []uint32, err error) {
	var providers []string
	for _, p := range s.set.Providers {
		if strings.TrimSuffix(strings.ToLower(p.Issuer), "/") == strings.TrimSuffix(host, "/") {
			providers = append(providers, p.Name)
		}
	}
	found := func(u *identity.User, err error) error {
		if err == nil {
			out = append(out, u.ID)
			return nil
		}
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		return err
	}
	for _, r := range readers {
		for _, p := range providers {
			if err := found(s.registry.UserOfExternal(p, r.ID)); err != nil {
				return nil, err
			}
		}
		if r.Email != "" {
			if err := found(s.registry.UserWithEmail(r.Email)); err != nil {
				return nil, err
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// newKeeper returns what asks external services.
func (s *Service) newKeeper() *hostsync.Keeper {
	return &hostsync.Keeper{
		Store: s.store, Book: s.book, Clients: &hosts.Clients{Guard: s.gateway.guard}, Log: s.opts.Log, Grace: s.vanishedAfter, Now: time.Now,
		Add: func(ctx context.Context, src ingest.Source) (*store.Repository, error) {
			return s.indexer.Add(ctx, src)
		},
		Remove:  s.Remove,
		Match:   s.matchReaders,
		Refresh: s.Refresh,
		Secrets: s.declaredConfig,
	}
}
