package syntax_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/syntax"
)

// many joins n texts that differ.
func many(n int, form, between string) string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf(form, i)
	}
	return strings.Join(out, between)
}

// TestHostile: hostile texts are refused with a reason, or accepted when their
// cost is bounded elsewhere.
func TestHostile(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		pt         query.PatternType
		want       string // part of the message; "" is taken
	}{
		// length and number
		{"10 MB", strings.Repeat("kiln ", 2<<20), query.Keyword, "the limit is 131072"},
		{"one word of 10 MB", strings.Repeat("k", 10<<20), query.Keyword, "the limit is 131072"},
		{"100,000 terms", many(100_000, "t%d", " "), query.Keyword, "the limit is 131072"},
		{"20,000 terms", strings.Repeat("kiln ", 20_000), query.Keyword, "more than 10000 terms"},
		{"9,000 terms", many(9000, "t%d", " "), query.Keyword, ""},
		{"9,000 alternatives", many(9000, "t%d", " or "), query.Keyword, ""},
		{"9,000 terms turned round", many(9000, "not t%d", " "), query.Keyword, ""},
		// nesting
		{"10,000 parentheses", strings.Repeat("(", 10_000) + "a b" + strings.Repeat(")", 10_000), query.Keyword, "nest"},
		{"10,000 parentheses of a regexp", strings.Repeat("(", 10_000) + "a" + strings.Repeat(")", 10_000), query.Regexp, "nest"},
		{"a regexp as deep as Go takes", "/" + strings.Repeat("(?:x", 470) + strings.Repeat(")+", 470) + "/", query.Keyword, "nests more than 900 deep"},
		{"alternatives in alternatives", strings.Repeat("(a or ", 2000) + "b" + strings.Repeat(")", 2000), query.Keyword, "nest"},
		{"not over and over", strings.Repeat("not ", 5000) + "a", query.Keyword, ""},
		// products
		{"groups of filters", many(12, "(repo:a%[1]d or repo:b%[1]d)", " "), query.Keyword, "expand to more than 1000"},
		// repetitions
		{"nested repetition", "(a{0,500}){0,2}z", query.Regexp, ""},
		{"repetition over Go's limit", "((a{0,30}){0,30}){0,30}z", query.Regexp, "invalid repeat count"},
		{"many repetitions", many(200, ".{%d,1000}", "|"), query.Regexp, "too large"},
		{"many repetitions in many terms", many(200, "/x.{%d,1000}/", " "), query.Keyword, "too large"},
		{"many repetitions in a filter", "file:" + many(200, ".{%d,1000}", "|"), query.Keyword, "too large"},
		{"many repetitions in a predicate", "repo:has.content(" + many(200, ".{%d,1000}", "|") + ")", query.Keyword, "too large"},
		{"a thousand alternatives", "/" + many(1000, "word%d", "|") + "/", query.Keyword, ""},
		{"many classes", `/` + strings.Repeat(`[\pL\pN]`, 10_000) + `/`, query.Keyword, ""},
		// numbers
		{"count", "kiln count:99999999999999999999", query.Keyword, "out of range"},
		{"count below zero", "kiln count:-5", query.Keyword, "positive"},
		{"timeout", "kiln timeout:-5s", query.Keyword, ""},
	} {
		_, err := syntax.Parse(tt.text, tt.pt)
		var wrong *query.SyntaxError
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%s: got %.200v, want it taken", tt.name, err)
		case tt.want != "" && (!errors.As(err, &wrong) || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s: got %.200v, want an error that says %q", tt.name, err, tt.want)
		}
	}
}
