package graphql

import (
	"net/url"
	"strings"
)

// The addresses of this server's pages, as paths without a host. A revision is
// the one that a person wrote, empty for the default branch.

func repositoryURL(name, rev string) string {
	if rev != "" {
		name += "@" + rev
	}
	return escaped("/" + name)
}

func fileURL(name, rev, path string) string { return below(name, rev, "/-/blob/", path) }

func rawURL(name, rev, path string) string {
	return strings.TrimSuffix(below(name, rev, "/-/raw/", path), "/")
}

func treeURL(name, rev, path string) string {
	if path == "" {
		return repositoryURL(name, rev)
	}
	return below(name, rev, "/-/tree/", path)
}

func commitURL(name, rev string) string { return escaped("/" + name + "/-/commit/" + rev) }

func below(name, rev, kind, path string) string {
	if rev != "" {
		name += "@" + rev
	}
	return escaped("/" + name + kind + path)
}

func escaped(path string) string { return (&url.URL{Path: path}).EscapedPath() }
