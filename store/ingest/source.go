package ingest

import (
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/trawlsearch/trawl/store/redact"
)

// Source is where a repository comes from and what it is called.
type Source struct {
	Name string
	// Location is an absolute path or a URL.
	Location string
	// Remote says that Location is a URL, to be kept as a mirror.
	Remote bool
	// Guarded says that it was named over the API: it is fetched through
	// Options.Proxy and not at all without.
	Guarded bool
	// Named says that a site admin named it itself, and no service.
	Named bool
	// Hidden says that only site admins see it until it has readers.
	Hidden bool
}

// ParseSource reads what a person types: a path, a URL, or either with name=
// in front. Without a name a path is called after its last element and a URL
// after its host and path.
func ParseSource(text string) (Source, error) {
	s := Source{Location: text}
	if name, location, ok := strings.Cut(text, "="); ok && validName(name) && !strings.Contains(name, "://") {
		s.Name, s.Location = name, location
	}
	if s.Location == "" {
		return Source{}, fmt.Errorf("source %q names no repository: give a path, a URL, or name=path", text)
	}
	if strings.HasPrefix(s.Location, "-") {
		return Source{}, fmt.Errorf("source %q begins with a dash: write ./%s if that is its name", redact.URL(s.Location), redact.URL(s.Location))
	}
	if !utf8.ValidString(s.Location) {
		return Source{}, fmt.Errorf("source %q is not UTF-8: make a symbolic link to it, and name that", text)
	}
	if isRemote(s.Location) {
		s.Remote = true
		if s.Name == "" {
			s.Name = nameOfURL(s.Location)
		}
	} else {
		abs, err := filepath.Abs(s.Location)
		if err != nil {
			return Source{}, fmt.Errorf("source %q: %w", text, err)
		}
		s.Location = abs
		if s.Name == "" {
			s.Name = strings.TrimSuffix(filepath.Base(abs), ".git")
		}
	}
	if !validName(s.Name) {
		return Source{}, fmt.Errorf("source %q has no usable name: write name=%s", redact.URL(s.Location), redact.URL(s.Location))
	}
	return s, nil
}

// isRemote reports whether a source is a URL or scp-like address, and not a
// path: an address has a colon before any slash.
func isRemote(location string) bool {
	if strings.Contains(location, "://") {
		return true
	}
	host, _, ok := strings.Cut(location, ":")
	return ok && host != "" && !strings.ContainsAny(host, `/\`) && len(host) > 1
}

func nameOfURL(location string) string {
	host, p := "", ""
	if u, err := url.Parse(location); err == nil && u.Scheme != "" && strings.Contains(location, "://") {
		host, p = u.Hostname(), u.Path
	} else {
		host, p, _ = strings.Cut(location, ":")
		host = host[strings.LastIndexByte(host, '@')+1:]
	}
	return strings.Trim(path.Clean(host+"/"+strings.TrimSuffix(strings.TrimRight(p, "/"), ".git")), "/")
}

// validName reports whether a name can stand in results and in paths of URLs.
func validName(name string) bool {
	if name == "" || len(name) > 200 || name[0] == '-' || name[0] == '/' || strings.HasSuffix(name, "/") {
		return false
	}
	for _, part := range strings.Split(name, "/") {
		if part == "" || part == "." || part == ".." || part == "-" { // "/-/" ends a name in URLs
			return false
		}
	}
	for _, r := range name {
		if r <= ' ' || r == 0x7f || strings.ContainsRune(`@:?#%"'<>\^|*=`, r) || r == '\ufffd' {
			return false
		}
	}
	return true
}
