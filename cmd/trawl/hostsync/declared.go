package hostsync

import (
	"errors"
	"fmt"
	"sync"

	"github.com/trawlsearch/trawl/cmd/trawl/config"
	"github.com/trawlsearch/trawl/store/saved"
)

// declared are the external services of the configuration file. The zero value has none.
type declared struct {
	mu     sync.Mutex // guards byName
	byName map[string]config.CodeHost
}

func (d *declared) set(all []config.CodeHost) {
	byName := make(map[string]config.CodeHost, len(all))
	for _, h := range all {
		byName[h.Name] = h
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.byName = byName
}

// config returns the configuration of one, with its secrets.
func (d *declared) config(name string) (string, error) {
	d.mu.Lock()
	h, ok := d.byName[name]
	d.mu.Unlock()
	if !ok {
		return "", fmt.Errorf("the configuration file of this server has no code host %q any more: put it back, or delete the external service", name)
	}
	return h.Config()
}

// Declare keeps the external services of the configuration file. Their secrets
// stay in memory. Those that the file does not have any more are left as they are, and
// not asked again.
func (s *Services) Declare(all []config.CodeHost) error {
	s.declared.set(all)
	var failed error
	for _, h := range all {
		v, changed, err := s.Book.Services.Declare(saved.Service{Kind: h.Kind, DisplayName: h.Name, Config: h.Shown(), Declared: h.Name})
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("declare %q: %w", h.Name, err))
			continue
		}
		if changed {
			s.SyncService(v.ID)
		}
	}
	return failed
}
