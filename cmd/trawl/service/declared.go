package service

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/trawlsearch/trawl/cmd/trawl/config"
	"github.com/trawlsearch/trawl/store/saved"
)

// secretsKey returns the key that seals secrets of records. Nodes that share a store
// have to name one that they have in common.
func secretsKey(set config.Settings) *saved.Key {
	switch {
	case set.SecretsKeyFile != "":
		return saved.NewKey(set.SecretsKeyFile, false)
	case set.Authority != "":
		return saved.NewKey("", false)
	}
	return saved.NewKey(filepath.Join(set.Data, saved.KeyFileName), true)
}

// DeclareServices keeps the external services of the configuration file. Their secrets
// stay in memory. Those that the file does not have any more are left as they are, and
// not asked again.
func (s *Service) DeclareServices(all []config.CodeHost) error {
	declared := make(map[string]config.CodeHost, len(all))
	for _, h := range all {
		declared[h.Name] = h
	}
	s.hostsMu.Lock()
	s.hostsDeclared = declared
	s.hostsMu.Unlock()
	var failed error
	for _, h := range all {
		v, changed, err := s.book.DeclareService(saved.Service{Kind: h.Kind, DisplayName: h.Name, Config: h.Shown(), Declared: h.Name})
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

// declaredConfig returns the configuration of a service of the file.
func (s *Service) declaredConfig(name string) (string, error) {
	s.hostsMu.Lock()
	h, ok := s.hostsDeclared[name]
	s.hostsMu.Unlock()
	if !ok {
		return "", fmt.Errorf("the configuration file of this server has no code host %q any more: put it back, or delete the external service", name)
	}
	return h.Config()
}
