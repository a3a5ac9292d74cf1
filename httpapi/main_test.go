package httpapi_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/trawlsearch/trawl/httpapi/searchtest"
)

// Searches that tests script, and what they find.
type searcher = searchtest.Func

const kilnCommit = searchtest.KilnCommit

var (
	script, after, found, finish, nothing            = searchtest.Script, searchtest.After, searchtest.Found, searchtest.Finish, searchtest.Nothing
	kiln, at, span                                   = searchtest.Kiln, searchtest.At, searchtest.Span
	glazeContent, glazePath, glazeRepo, glazeCommits = searchtest.Content, searchtest.Path, searchtest.Repo, searchtest.Commits
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
