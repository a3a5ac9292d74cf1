package syntax_test

import (
	"errors"
	"reflect"
	"testing"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/syntax"
)

func TestParseMeta(t *testing.T) {
	text := func(s string) *syntax.MetaText { return &syntax.MetaText{Text: s} }
	re := func(s string) *syntax.MetaText { return &syntax.MetaText{Text: s, IsRegexp: true} }
	for _, c := range []struct {
		name, arg string
		want      syntax.Meta
		fail      string
	}{
		// A key alone, with no value, with a value.
		{"has.meta", "team", syntax.Meta{Key: *text("team")}, ""},
		{"has.meta", "team:", syntax.Meta{Key: *text("team"), NoValue: true}, ""},
		{"has.meta", "team:core", syntax.Meta{Key: *text("team"), Value: text("core")}, ""},
		{"has.meta", " k : v w ", syntax.Meta{Key: *text("k"), Value: text("v w")}, ""},
		// Quotes keep colons and spaces.
		{"has.meta", `"a:b":' c '`, syntax.Meta{Key: *text("a:b"), Value: text(" c ")}, ""},
		{"has.meta", `a:""`, syntax.Meta{Key: *text("a"), Value: text("")}, ""},
		// Slashes hold a regexp, if they close.
		{"has.meta", "/te.m/:/co.*/", syntax.Meta{Key: *re("te.m"), Value: re("co.*")}, ""},
		{"has.meta", "/te:x", syntax.Meta{Key: *text("/te"), Value: text("x")}, ""},
		{"has.meta", "/[/", syntax.Meta{}, "error parsing regexp: missing closing ]: `[`"},
		// Errors.
		{"has.meta", "", syntax.Meta{}, "key cannot be empty"},
		{"has.meta", ":core", syntax.Meta{}, "key cannot be empty"},
		{"has.meta", "a:b:c", syntax.Meta{}, "unexpected extra content"},
		{"has.meta", `"a"b`, syntax.Meta{}, "unexpected extra content"},
		{"has.meta", `"a`, syntax.Meta{}, `unterminated literal: expected "`},
		{"has.meta", `"\a\x"`, syntax.Meta{}, "unrecognized escape sequence"},
		// The older spelling needs both sides.
		{"has", "team:core", syntax.Meta{Key: *text("team"), Value: text("core")}, ""},
		{"has", "team", syntax.Meta{}, "expected params of the form key:value"},
		{"has", ":core", syntax.Meta{}, "key cannot be empty"},
	} {
		got, err := syntax.ParseMeta(query.Predicate{Name: c.name, Arg: c.arg})
		if fail := message(err); fail != c.fail || c.fail == "" && !reflect.DeepEqual(got, c.want) {
			t.Errorf("ParseMeta(%s(%s)) = %+v, %v, want %+v, %s", c.name, c.arg, got, err, c.want, c.fail)
		}
	}
}

func TestParseFileTest(t *testing.T) {
	for _, c := range []struct {
		name, arg string
		want      syntax.FileTest
		fail      string
	}{
		{"has.file", "path:a content:b.c", syntax.FileTest{Path: "a", Content: "b.c"}, ""},
		{"has.file", `content:"b c"  PATH:a`, syntax.FileTest{Path: "a", Content: "b c"}, ""},
		{"has.file", `go\.mod`, syntax.FileTest{Path: `go\.mod`}, ""},
		{"contains.file", `"go.mod"`, syntax.FileTest{Path: `go\.mod`}, ""},
		{"contains", "file:a content:b", syntax.FileTest{Path: "a", Content: "b"}, ""},
		// Errors of both spellings.
		{"has.file", " ", syntax.FileTest{}, "one of path or content must be set"},
		{"has.file", `path:""`, syntax.FileTest{}, "one of path or content must be set"},
		{"contains", "", syntax.FileTest{}, "one of file or content must be set"},
		{"has.file", "content:a content:b", syntax.FileTest{}, "cannot specify content multiple times"},
		{"contains", "file:a file:b", syntax.FileTest{}, "cannot specify file multiple times"},
		{"has.file", "path:a b", syntax.FileTest{}, `prepend 'file:' or 'content:' to "b" to search repositories containing files or content respectively.`},
		{"has.file", "path:a and (content:b or content:c)", syntax.FileTest{}, "predicates do not currently support 'or' queries"},
		{"has.file", "not a", syntax.FileTest{}, "predicates do not currently support negated values"},
		{"contains", "-file:a", syntax.FileTest{}, "the repo:contains() predicate does not currently support negated values"},
		{"has.file", "lang:go", syntax.FileTest{}, `unsupported option "lang"`},
		{"contains", "file:[", syntax.FileTest{}, "the repo:contains() predicate has invalid `file` argument: error parsing regexp: missing closing ]: `[`"},
		{"has.file", `path:"a`, syntax.FileTest{}, `unterminated literal: expected "`},
	} {
		got, err := syntax.ParseFileTest(query.Predicate{Name: c.name, Arg: c.arg})
		if fail := message(err); fail != c.fail || c.fail == "" && got != c.want {
			t.Errorf("ParseFileTest(%s(%s)) = %+v, %v, want %+v, %s", c.name, c.arg, got, err, c.want, c.fail)
		}
	}
}

func TestDescriptionRegexp(t *testing.T) {
	for arg, want := range map[string]string{
		"http":          "(?is)http",
		"http  client":  "(?is)(?:http).*?(?:client)",
		" a|b c ":       "(?is)(?:a|b).*?(?:c)",
		"one two three": "(?is)(?:one).*?(?:two).*?(?:three)",
	} {
		if got := syntax.DescriptionRegexp(arg); got != want {
			t.Errorf("DescriptionRegexp(%q) = %s, want %s", arg, got, want)
		}
	}
}

// TestRefusals are errors of filters and predicates beside those among the
// readings.
func TestRefusals(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"repo:a@«at.time(garbage)» x", "invalid date format"},
		{"repo:has.description( ) x", "invalid predicate value: empty repo:has.description() predicate parameter"},
		{"repo:has.meta(/[/) x", "invalid predicate value: error parsing regexp: missing closing ]: `[`"},
		{"select:symbol. x", `invalid field "" on select path "symbol."`},
		{"count:-1 x", "field count requires a positive number"},
		{"count:99999999999999999999 x", "field count has a value that is out of range, try making it smaller"},
		{"index:o repo:a@*x y", "invalid index:o (revisions with glob pattern cannot be resolved for indexed searches)"},
		{"-g:x y", `unrecognized field "g"`},
		// A bad value is named before a forbidden sign, or after, by field.
		{"-case:maybe x", `invalid boolean "maybe"`},
		{"-count:x y", "field count has value x, x is not a number"},
		{"-fork:maybe x", `field "fork" does not support negation`},
		{"-timeout:1 x", `field "timeout" does not support negation`},
		{"type:commit -before:now", `field "before" does not support negation`},
		// A second use is named before anything else about it.
		{"fork:no -fork:maybe x", `field "fork" may not be used more than once`},
		// The last filter on commits is named.
		{"author:a message:b x", "your query contains the field 'message', which requires type:commit or type:diff in the query"},
		{"since:2024-01-01 x", "your query contains the field 'after', which requires type:commit or type:diff in the query"},
	} {
		if _, err := syntax.Parse(c.text, query.Keyword); message(err) != c.want {
			t.Errorf("Parse(%q) error = %v, want %s", c.text, err, c.want)
		}
	}
}

func message(err error) string {
	var e *query.SyntaxError
	if errors.As(err, &e) {
		return e.Message
	}
	if err != nil {
		return err.Error()
	}
	return ""
}
