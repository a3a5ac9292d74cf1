package service

import (
	"time"

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
	s.grace.Store(int64(set.VanishedAfter))
}

// vanishedAfter is for how long a repository is kept that its host does not list.
func (s *Service) vanishedAfter() time.Duration { return time.Duration(s.grace.Load()) }
