package service

import (
	"path/filepath"

	"github.com/trawlsearch/trawl/cmd/trawl/config"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/saved"
)

// Configured returns where site admins configure the service, for Configure to be
// called with what comes of it.
func (s *Service) Configured() (*store.Store, *saved.Book) { return s.store, s.book }

// Configure has live settings take effect.
func (s *Service) Configure(set config.Settings) {
	s.searcher.SetMaxTimeout(set.MaxTimeout)
	s.registry.SetPolicy(set.IdentityOptions())
	s.hosts.SetGrace(set.VanishedAfter)
}

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
