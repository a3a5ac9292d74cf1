package search_test

import (
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
)

// TestMistypedQueriesAreAlertedOf: a query that is searched as it stands, and
// looks like another, has an alert, with results or without.
func TestMistypedQueriesAreAlertedOf(t *testing.T) {
	c := newCorpus(t, 1000, nil, []doc{{repo: "example.org/one", path: "a.go", text: "package a // (x or \"y\n"}, {repo: "two", path: "b", text: "b\n"}})
	for _, tt := range []struct{ text, says, proposed string }{
		{"lnag:go package", "no filter `lnag:`", "lang:go package patternType:keyword"},
		{"(package or b", "not closed", "(package or b) patternType:keyword"},
		{`"y`, "has no other", `"y" patternType:keyword`},
		{"type:blob a", "`type:` has no value `blob`", ""},
		{"visibility:none package", "`visibility:` has no value `none`", ""},
		{"patterntype:words package", "`patterntype:` has no value `words`", ""},
		{"repo:nosuch", "No repository matches `repo:nosuch`", ""},
		{"repo:nosuch -repo:two", "No repository matches `repo:nosuch`", ""},
		{"(repo:nosuch a) or (repo:one package)", "No repository matches `repo:nosuch`", ""},
		{"repo:nosuch package", "Try using a different `repo:<regexp>` filter", ""},
		// Plausible readings are reported only when they find nothing.
		{"(x", "", ""},
		{"(zzz", "not closed", "(zzz) patternType:keyword"},
		{"package", "", ""},
		{"nowhere", "", ""},
		{"repo:one nowhere", "", ""},
	} {
		a := c.search(t, search.Settings{}, search.Options{}, tt.text, query.Keyword).outcome.Alert
		switch {
		case a == nil && tt.says == "":
		case a == nil:
			t.Errorf("%q has no alert", tt.text)
		case tt.says == "" || !strings.Contains(a.Description, tt.says):
			t.Errorf("%q has the alert %+v, want %q", tt.text, a, tt.says)
		case tt.proposed == "" && len(a.Proposed) > 0 || tt.proposed != "" && (len(a.Proposed) != 1 || a.Proposed[0].Query != tt.proposed):
			t.Errorf("%q proposes %+v, want %q", tt.text, a.Proposed, tt.proposed)
		}
	}
}
