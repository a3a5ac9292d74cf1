package service

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/trawlsearch/trawl/httpapi/hosts"
	"github.com/trawlsearch/trawl/store"
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
	s.syncServices(ctx, nil)
	var due <-chan time.Time
	if interval > 0 {
		ticker := time.NewTicker(max(interval, leastBetweenServices))
		defer ticker.Stop()
		due = ticker.C
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-due:
			s.syncServices(ctx, nil)
		case <-s.hostsWake:
			s.hostsMu.Lock()
			asked := s.hostsAsked
			s.hostsAsked = map[uint32]bool{}
			s.hostsMu.Unlock()
			s.syncServices(ctx, asked)
		}
	}
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
		if err := s.syncService(ctx, v); err != nil && ctx.Err() == nil {
			s.opts.Log.Warn().Uint32("service", v.ID).Str("err", redact.Text(err.Error())).Msg("ask external service")
		}
	}
}

// syncService brings what is mirrored in step with what a service has.
func (s *Service) syncService(ctx context.Context, v *saved.Service) error {
	sources, left, err := s.sourcesOf(ctx, v)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return errors.Join(err, s.noteService(v.ID, func(v *saved.Service) { v.LastError = redact.Text(err.Error()) }))
	}
	var has []uint32
	for _, src := range sources {
		r, err := s.indexer.Add(ctx, src)
		if err != nil {
			left = append(left, err.Error())
			continue
		}
		has = append(has, r.ID)
		if !r.Indexed() {
			s.Refresh(r.Name)
		}
	}
	slices.Sort(has)
	has = slices.Compact(has)
	// The list is kept before anything is removed: what a crash leaves behind
	// is a repository too many, never one too few.
	err = s.noteService(v.ID, func(v *saved.Service) {
		v.LastError, v.Warning, v.Repositories = "", summary(left), has
	})
	if err != nil {
		return err
	}
	return s.removeUnlisted(ctx, slices.Concat(has, v.Repositories))
}

func (s *Service) sourcesOf(ctx context.Context, v *saved.Service) ([]ingest.Source, []string, error) {
	config, err := hosts.ParseConfig(v.Kind, v.Config)
	if err != nil {
		return nil, nil, err
	}
	return config.Sources(ctx, s.gateway.guard)
}

func (s *Service) noteService(id uint32, change func(*saved.Service)) error {
	_, err := s.book.ChangeService(id, func(v *saved.Service) {
		v.LastSync = time.Now().UTC()
		change(v)
	})
	if errors.Is(err, store.ErrNotFound) {
		return nil // removed meanwhile
	}
	return err
}

// summary names the first few of the repositories that could not be taken.
func summary(left []string) string {
	const most = 5
	if len(left) > most {
		left = append(left[:most:most], fmt.Sprintf("and %d more", len(left)-most))
	}
	return redact.Text(strings.Join(left, "; "))
}

// removeUnlisted removes those repositories that came from a service and that
// no service has any more.
func (s *Service) removeUnlisted(ctx context.Context, candidates []uint32) error {
	all, err := s.book.Services()
	if err != nil {
		return err
	}
	listed := map[uint32]bool{}
	for _, v := range all {
		for _, id := range v.Repositories {
			listed[id] = true
		}
	}
	for _, id := range candidates {
		if name := s.guardedName(id); name != "" && !listed[id] {
			if err := s.Remove(ctx, name); err != nil && !errors.Is(err, store.ErrNotFound) {
				return err
			}
		}
	}
	return nil
}

// guardedName is the name of a repository that came from a service, "" for
// others.
func (s *Service) guardedName(id uint32) string {
	sn := s.store.Snapshot()
	defer sn.Close()
	r := sn.RepositoryByID(id)
	if r == nil || !r.Guarded {
		return ""
	}
	return r.Name
}

// RemoveService forgets an external service, and the repositories that only it
// has.
func (s *Service) RemoveService(ctx context.Context, id uint32) error {
	v, err := s.book.Service(id)
	if err != nil {
		return err
	}
	if err := s.book.RemoveService(id); err != nil {
		return err
	}
	return s.removeUnlisted(ctx, v.Repositories)
}
