package code

import (
	"net/url"
	"path"
	"strings"
)

// RepositoryURL returns the address of a repository's page, as all of these a
// path without a host. A revision is the one that a person wrote, empty for the
// default branch.
func RepositoryURL(name, rev string) string { return escaped("/" + at(name, rev)) }

// BlobURL returns the address of a file's page.
func BlobURL(name, rev, path string) string { return below(name, rev, "/-/blob/", path) }

// BlameURL returns the address of the page that tells who wrote a file.
func BlameURL(name, rev, path string) string { return below(name, rev, "/-/blame/", path) }

// RawURL returns the address of a file's bytes, or of a directory's names.
func RawURL(name, rev, path string) string {
	return strings.TrimSuffix(below(name, rev, "/-/raw/", path), "/")
}

// TreeURL returns the address of a directory's page; that of the root is the
// repository's.
func TreeURL(name, rev, path string) string {
	if path == "" {
		return RepositoryURL(name, rev)
	}
	return below(name, rev, "/-/tree/", path)
}

// CommitURL returns the address of a commit's page.
func CommitURL(name, rev string) string { return below(name, "", "/-/commit/", rev) }

// CommitsURL returns the address of the list of commits that led to a revision
// and, if path is not empty, changed what is there.
func CommitsURL(name, rev, path string) string {
	return strings.TrimSuffix(below(name, rev, "/-/commits/", path), "/")
}

// BranchesURL returns the address of the list of branches and tags.
func BranchesURL(name string) string { return escaped("/" + name + "/-/branches") }

// CompareURL returns the address of the page that compares two revisions.
func CompareURL(name, base, head string) string {
	return below(name, "", "/-/compare/", base+"..."+head)
}

func below(name, rev, kind, path string) string { return escaped("/" + at(name, rev) + kind + path) }

func at(name, rev string) string {
	if rev == "" {
		return name
	}
	return name + "@" + rev
}

func escaped(path string) string { return (&url.URL{Path: path}).EscapedPath() }

// CleanPath returns a path as git has it, "" for the root. ok is false for one
// that leads out of it.
func CleanPath(name string) (clean string, ok bool) {
	clean = strings.TrimPrefix(path.Clean("/"+name), "/")
	if strings.Contains("/"+name+"/", "/../") || strings.Contains(name, "\x00") {
		return "", false
	}
	return clean, true
}
