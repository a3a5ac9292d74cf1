package code_test

import (
	"testing"

	"github.com/trawlsearch/trawl/httpapi/code"
)

func TestAddresses(t *testing.T) {
	for _, tt := range []struct{ got, want string }{
		{code.RepositoryURL("lab/kiln", ""), "/lab/kiln"},
		{code.RepositoryURL("lab/kiln", "feature/x"), "/lab/kiln@feature/x"},
		{code.BlobURL("lab/kiln", "", "a b/c?d#e%.go"), "/lab/kiln/-/blob/a%20b/c%3Fd%23e%25.go"},
		{code.BlobURL("r", "v1", "x\ny"), "/r@v1/-/blob/x%0Ay"},
		{code.RawURL("r", "", ""), "/r/-/raw"},
		{code.RawURL("r", "main", "docs"), "/r@main/-/raw/docs"},
		{code.TreeURL("r", "main", ""), "/r@main"},
		{code.TreeURL("r", "", "docs"), "/r/-/tree/docs"},
		{code.CommitURL("r", "abc"), "/r/-/commit/abc"},
		{code.CommitsURL("r", "v1", ""), "/r@v1/-/commits"},
		{code.BranchesURL("r"), "/r/-/branches"},
		{code.CompareURL("r", "main", "x/y"), "/r/-/compare/main...x/y"},
	} {
		if tt.got != tt.want {
			t.Errorf("got %s, want %s", tt.got, tt.want)
		}
	}
}

func TestCleanPath(t *testing.T) {
	for _, tt := range []struct {
		path, want string
		ok         bool
	}{
		{"", "", true}, {"/", "", true}, {"a", "a", true}, {"/a/b/", "a/b", true}, {"a//b/./c", "a/b/c", true}, {"a..b", "a..b", true}, {"...", "...", true},
		{"..", "", false}, {"a/../b", "", false}, {"a/..", "", false}, {"../../etc/passwd", "", false}, {"a\x00b", "", false}, {`a\..\b`, `a\..\b`, true},
	} {
		if got, ok := code.CleanPath(tt.path); got != tt.want || ok != tt.ok {
			t.Errorf("CleanPath(%q) = %q, %t; want %q, %t", tt.path, got, ok, tt.want, tt.ok)
		}
	}
}
