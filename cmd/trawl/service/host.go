package service

import (
	"net/url"
	"strings"

	"github.com/trawlsearch/trawl/store"
)

// hostOf returns the host of a repository's source, "" for one that trawl reads
// where it is. A mirror of a path or file URL is one of the host "file".
func hostOf(r *store.Repository) string {
	if !r.Mirror {
		return ""
	}
	if u, err := url.Parse(r.Source); err == nil && u.Host != "" {
		return strings.ToLower(u.Host)
	}
	if host, _, ok := strings.Cut(r.Source, ":"); ok && !strings.Contains(r.Source, "://") {
		return strings.ToLower(host[strings.LastIndexByte(host, '@')+1:])
	}
	return "file"
}
