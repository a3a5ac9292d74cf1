package syntax_test

import (
	"testing"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/syntax"
)

func TestParsePatternType(t *testing.T) {
	for _, c := range []struct {
		v, t string
		want query.PatternType
		fail string
	}{
		// The version decides when no type is given.
		{"", "", query.Standard, ""},
		{"V3", "", query.Standard, ""},
		{"V2", "", query.Literal, ""},
		{"V1", "", query.Regexp, ""},
		{"V4", "", "", `unrecognized version: want "V1", "V2", or "V3", got "V4"`},
		{"v1", "", "", `unrecognized version: want "V1", "V2", or "V3", got "v1"`},
		// A type overrules the version, even one that is not known.
		{"V1", "keyword", query.Keyword, ""},
		{"V9", "keyword", query.Keyword, ""},
		{"", "standard", query.Standard, ""},
		{"", "literal", query.Literal, ""},
		{"", "regexp", query.Regexp, ""},
		{"", "structural", query.Structural, ""},
		{"", "lucky", query.Standard, ""},
		{"", "codycontext", query.Keyword, ""},
		{"", "nls", query.Keyword, ""},
		// Names are exact; regex is one only inside a query.
		{"", "regex", "", `unrecognized patternType "regex"`},
		{"", "Keyword", "", `unrecognized patternType "Keyword"`},
		{"V1", "x", "", `unrecognized patternType "x"`},
	} {
		got, err := syntax.ParsePatternType(c.v, c.t)
		message := ""
		if err != nil {
			message = err.Error()
		}
		if got != c.want || message != c.fail {
			t.Errorf("ParsePatternType(%q, %q) = %q, %v, want %q, %s", c.v, c.t, got, err, c.want, c.fail)
		}
	}
}

// TestPatternTypeInQuery checks the type that a text is read in.
func TestPatternTypeInQuery(t *testing.T) {
	for _, c := range []struct {
		text string
		pt   query.PatternType
		want query.PatternType
	}{
		{"a", query.Standard, query.Standard},
		{"a patterntype:regex", query.Standard, query.Regexp},
		{"a PatternType:literal", query.Keyword, query.Literal},
		{"a patterntype:lucky", query.Keyword, query.Standard},
		{"a patterntype:nls", query.Standard, query.Keyword},
		{"a patterntype:codycontext", query.Regexp, query.Keyword},
		{"a patterntype:bogus", query.Keyword, query.Keyword},
		{"(a patterntype:regexp) or b", query.Keyword, query.Regexp},
		// A filter counts where the type it is read in sees a filter.
		{`"a patterntype:regexp b"`, query.Keyword, query.Keyword},
		{`"a patterntype:regexp b"`, query.Standard, query.Regexp},
		{`"a patterntype:regexp b" patterntype:keyword`, query.Literal, query.Keyword},
		{`patterntype:keyword "a patterntype:regexp b"`, query.Literal, query.Keyword},
	} {
		q, err := syntax.Parse(c.text, c.pt)
		if err != nil || q.PatternType != c.want {
			t.Errorf("Parse(%q, %s) read it as %v, error %v, want %s", c.text, c.pt, q, err, c.want)
		}
	}
}
