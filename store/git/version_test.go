package git_test

import (
	"regexp"
	"testing"

	"github.com/trawlsearch/trawl/store/git"
)

func TestVersion(t *testing.T) {
	got, err := git.Version(t.Context())
	if err != nil || !regexp.MustCompile(`^\d+\.\d+`).MatchString(got) {
		t.Errorf("Version() = %q, %v; want that of git", got, err)
	}
}
