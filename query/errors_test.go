package query_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/trawlsearch/trawl/query"
)

func TestLongQuotationsAreCut(t *testing.T) {
	for _, quoted := range []string{strings.Repeat("(", 10_000), strings.Repeat("é", 10_000), "x" + strings.Repeat("語", 10_000), strings.Repeat("\xff", 10_000)} {
		for _, err := range []error{
			&query.SyntaxError{Message: "does not parse: `" + quoted + "` nests too deeply"},
			&query.ContextError{Name: quoted},
		} {
			if m := err.Error(); len(m) > 600 || !utf8.ValidString(m) || !strings.Contains(m, " … ") {
				t.Errorf("%d bytes: %.700q", len(m), m)
			}
		}
	}
	const short = "unknown language: \"cobol\\xff\""
	if got := (&query.SyntaxError{Message: short}).Error(); got != short {
		t.Errorf("got %q, want %q", got, short)
	}
}
