package graphql_test

import (
	"github.com/trawlsearch/trawl/httpapi/manage"
	"github.com/trawlsearch/trawl/store/saved"
)

// site is a configuration that is what was written last.
type site struct {
	id       uint32
	contents string
}

func (s *site) Configuration() manage.SiteConfiguration {
	if s.contents == "" {
		s.contents = `{"max-timeout": "1m"}`
	}
	return manage.SiteConfiguration{ID: s.id, Contents: s.contents, Problems: []string{"history-diffs of the configuration file waits for the next start"}}
}

func (s *site) Change(_, last uint32, contents string) ([]string, error) {
	if last != s.id {
		return nil, saved.ErrConflict
	}
	s.id++
	s.contents = contents
	return []string{"max-timeout: 1m -> 30s"}, nil
}
