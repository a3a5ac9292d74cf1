package httpapi_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/trawlsearch/trawl/httpapi/searchtest"
)

var update = flag.Bool("update", false, "rewrite the goldens in testdata")

// Searches that tests script, and what they find.
type searcher = searchtest.Func

const kilnCommit = searchtest.KilnCommit

var (
	script, after, found, finish, nothing            = searchtest.Script, searchtest.After, searchtest.Found, searchtest.Finish, searchtest.Nothing
	kiln, at, span                                   = searchtest.Kiln, searchtest.At, searchtest.Span
	glazeContent, glazePath, glazeRepo, glazeCommits = searchtest.Content, searchtest.Path, searchtest.Repo, searchtest.Commits
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// golden compares got with testdata/name, or rewrites it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (run with -update to write it)", err)
	}
	if got != string(want) {
		t.Errorf("%s differs (run with -update after checking)\ngot:\n%s\nwant:\n%s", path, got, want)
	}
}
