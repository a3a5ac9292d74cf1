package hostsync

import (
	"slices"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/httpapi/hosts"
	"github.com/trawlsearch/trawl/httpapi/hosts/codehost"
	"github.com/trawlsearch/trawl/store"
)

// leastBetweenHooked is the least time between two listings that webhooks ask for: a
// host may send thousands in a minute.
const leastBetweenHooked = 10 * time.Second

// HookConfig implements hooks.Receiver.
func (s *Services) HookConfig(service uint32) *hosts.Config {
	v, err := s.Book.Services.Get(service)
	if err != nil {
		return nil
	}
	config, err := s.Config(v)
	if err != nil || !config.TakesHooks() {
		return nil
	}
	return config
}

// Hooked implements hooks.Receiver. A webhook of a service reaches the repositories of
// that service only. One that is not known yet may be in a new listing.
func (s *Services) Hooked(service uint32, hook codehost.Hook) {
	v, err := s.Book.Services.Get(service)
	if err != nil {
		return
	}
	now := time.Now()
	sn := s.Store.Snapshot()
	defer sn.Close()
	wanted := map[string]bool{}
	for _, id := range hook.Repositories {
		wanted[id] = true
	}
	listing, kind := hook.Listing, strings.ToLower(v.Kind)
	named := func(r *store.Repository) bool { return slices.Contains(hook.Names, r.Name) }
	for _, id := range v.Repositories {
		r := sn.RepositoryByID(id)
		if r == nil || r.IsGone() {
			continue
		}
		if o := r.Origin; named(r) || o != nil && o.Kind == kind && wanted[o.ID] {
			s.pushed(r, now)
			if o != nil {
				delete(wanted, o.ID)
			}
		}
	}
	if listing || len(wanted) > 0 {
		s.hooked.add(service)
	}
}
