package query_test

import (
	"slices"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/query"
)

func TestParseBool(t *testing.T) {
	for v, want := range map[string]bool{
		"y": true, "yes": true, "YES": true, "yEs": true, "1": true, "t": true, "T": true, "TRUE": true, "true": true, "True": true,
		"n": false, "no": false, "No": false, "0": false, "f": false, "F": false, "FALSE": false, "false": false, "False": false,
	} {
		if got, err := query.ParseBool(v); err != nil || got != want {
			t.Errorf("ParseBool(%q) = %v, %v, want %v", v, got, err, want)
		}
	}
	for _, v := range []string{"", "maybe", "tRUE", "on", "only"} {
		if _, err := query.ParseBool(v); err == nil || err.Error() != `invalid boolean "`+v+`"` {
			t.Errorf("ParseBool(%q) error = %v", v, err)
		}
	}
}

func TestParseYesNoOnly(t *testing.T) {
	for v, want := range map[string]query.YesNoOnly{
		"y": query.Yes, "Y": query.Yes, "yes": query.Yes, "YES": query.Yes, "Yes": query.Yes, "1": query.Yes, "true": query.Yes,
		"n": query.No, "N": query.No, "no": query.No, "NO": query.No, "No": query.No, "0": query.No, "FALSE": query.No,
		"o": query.Only, "only": query.Only, "ONLY": query.Only, "Only": query.Only,
	} {
		if got, err := query.ParseYesNoOnly(v); err != nil || got != want {
			t.Errorf("ParseYesNoOnly(%q) = %v, %v, want %v", v, got, err, want)
		}
	}
	for _, v := range []string{"", "yeS", "On", "O", "oNLY"} {
		if got, err := query.ParseYesNoOnly(v); err == nil {
			t.Errorf("ParseYesNoOnly(%q) = %v, want an error", v, got)
		}
	}
}

func TestParseCount(t *testing.T) {
	for v, want := range map[string]int{"1": 1, "+5": 5, "007": 7, "2147483647": 2147483647, "all": query.CountAll, "ALL": query.CountAll} {
		if got, err := query.ParseCount(v); err != nil || got != want {
			t.Errorf("ParseCount(%q) = %d, %v, want %d", v, got, err, want)
		}
	}
	for v, want := range map[string]string{
		"":           "field count has value ,  is not a number",
		"1e3":        "field count has value 1e3, 1e3 is not a number",
		"1_000":      "field count has value 1_000, 1_000 is not a number",
		"0":          "field count requires a positive number",
		"-7":         "field count requires a positive number",
		"2147483648": "field count has a value that is out of range, try making it smaller",
	} {
		if got, err := query.ParseCount(v); err == nil || err.Error() != want {
			t.Errorf("ParseCount(%q) = %d, %v, want error %s", v, got, err, want)
		}
	}
}

func TestParseTimeout(t *testing.T) {
	for v, want := range map[string]time.Duration{"15s": 15 * time.Second, "1m30s": 90 * time.Second, "200ms": 200 * time.Millisecond, "-1s": -time.Second} {
		if got, err := query.ParseTimeout(v); err != nil || got != want {
			t.Errorf("ParseTimeout(%q) = %s, %v, want %s", v, got, err, want)
		}
	}
	for _, v := range []string{"", "15", "1 s", "1d"} {
		if got, err := query.ParseTimeout(v); err == nil {
			t.Errorf("ParseTimeout(%q) = %s, want an error", v, got)
		}
	}
}

func TestParseSelect(t *testing.T) {
	for v, want := range map[string][]string{
		"repo":               {"repo"},
		"file":               {"file"},
		"file.path":          {"file", "path"},
		"file.directory":     {"file", "directory"},
		"file.owners":        {"file", "owners"},
		"content":            {"content"},
		"symbol":             {"symbol"},
		"symbol.enum-member": {"symbol", "enum-member"},
		"commit.diff":        {"commit", "diff"},
		"commit.diff.added":  {"commit", "diff", "added"},
	} {
		if got, err := query.ParseSelect(v); err != nil || !slices.Equal(got, want) {
			t.Errorf("ParseSelect(%q) = %q, %v, want %q", v, got, err, want)
		}
	}
	for v, want := range map[string]string{
		"":                    `invalid field "" on select path ""`,
		"Repo":                `invalid field "Repo" on select path "Repo"`,
		"repo.name":           `invalid field "name" on select path "repo.name"`,
		"file.":               `invalid field "" on select path "file."`,
		"symbol.enum.member":  `invalid field "member" on select path "symbol.enum.member"`,
		"commit.diff.changed": `invalid field "changed" on select path "commit.diff.changed"`,
		"bogus.file":          `invalid field "bogus" on select path "bogus.file"`,
	} {
		if got, err := query.ParseSelect(v); err == nil || err.Error() != want {
			t.Errorf("ParseSelect(%q) = %q, %v, want error %s", v, got, err, want)
		}
	}
}

func TestSplitRepoRevs(t *testing.T) {
	for _, c := range []struct {
		value, name string
		revs        []string
		hasRevs     bool
	}{
		{"a", "a", nil, false},
		{"a@", "a", nil, true},
		{"a@v1", "a", []string{"v1"}, true},
		{"a@v1:v2", "a", []string{"v1", "v2"}, true},
		{"a@:v1::", "a", []string{"v1"}, true},
		{"@v1", "", []string{"v1"}, true},
		{"a@b@c", "a", []string{"b@c"}, true},
		{"a@*refs/heads/*:*!refs/heads/x", "a", []string{"*refs/heads/*", "*!refs/heads/x"}, true},
		{"a@" + query.AtTime("2024-05-01T10:00:00Z, dev"), "a", []string{query.AtTime("2024-05-01T10:00:00Z, dev")}, true},
	} {
		name, revs, hasRevs := query.SplitRepoRevs(c.value)
		if name != c.name || !slices.Equal(revs, c.revs) || hasRevs != c.hasRevs {
			t.Errorf("SplitRepoRevs(%q) = %q, %q, %v, want %q, %q, %v", c.value, name, revs, hasRevs, c.name, c.revs, c.hasRevs)
		}
	}
}

func TestParseAtTime(t *testing.T) {
	for _, c := range []struct {
		rev, when, base string
		ok              bool
	}{
		{query.AtTime("1 week ago"), "1 week ago", "HEAD", true},
		{query.AtTime(" yesterday , dev "), "yesterday", "dev", true},
		{"at.time(yesterday)", "", "", false},
		{"v1", "", "", false},
	} {
		when, base, ok := query.ParseAtTime(c.rev)
		if when != c.when || base != c.base || ok != c.ok {
			t.Errorf("ParseAtTime(%q) = %q, %q, %v, want %q, %q, %v", c.rev, when, base, ok, c.when, c.base, c.ok)
		}
	}
}

func TestNamesOneRepo(t *testing.T) {
	repo := func(v string) query.Filter { return query.Filter{Field: "repo", Value: v} }
	not := func(f query.Filter) query.Filter { f.Negated = true; return f }
	call := query.Filter{Field: "repo", Value: "has.path(x)", Predicate: &query.Predicate{Name: "has.path", Arg: "x"}}
	for _, c := range []struct {
		filters []query.Filter
		want    bool
	}{
		{[]query.Filter{repo(`^github\.com/a/b$`)}, true},
		{[]query.Filter{repo(`^github\.com/a/b$@v1:v2`)}, true},
		{[]query.Filter{repo(`^a$`), not(repo("b")), call, {Field: "file", Value: "x"}}, true},
		// Not exact.
		{nil, false},
		{[]query.Filter{repo(`^github.com/a/b$`)}, false},
		{[]query.Filter{repo(`github\.com/a/b$`)}, false},
		{[]query.Filter{repo(`^github\.com/a/b`)}, false},
		{[]query.Filter{repo(`^a|b$`)}, false},
		{[]query.Filter{repo(`^(?i)a$`)}, false},
		{[]query.Filter{repo(`^a\$`)}, false},
		{[]query.Filter{repo(`^$`)}, false},
		{[]query.Filter{repo(`^`)}, false},
		// Not one.
		{[]query.Filter{repo(`^a$`), repo(`^a$`)}, false},
		{[]query.Filter{not(repo(`^a$`))}, false},
		{[]query.Filter{call}, false},
	} {
		b := query.Basic{Filters: c.filters}
		if got := b.NamesOneRepo(); got != c.want {
			t.Errorf("%s: NamesOneRepo = %v, want %v", b, got, c.want)
		}
	}
}

func TestFilterString(t *testing.T) {
	for want, f := range map[string]query.Filter{
		"repo:a":              {Field: "repo", Value: "a"},
		"-repo:":              {Field: "repo", Negated: true},
		`repo:"a b"`:          {Field: "repo", Value: "a b"},
		`file:a\b'`:           {Field: "file", Value: `a\b'`},
		"repo:has.path(a b)":  {Field: "repo", Value: "has.path(a b)", Predicate: &query.Predicate{Name: "has.path", Arg: "a b"}},
		`repo:"has.tag(a b)"`: {Field: "repo", Value: "has.tag(a b)"},
	} {
		if got := f.String(); got != want {
			t.Errorf("%+v prints %s, want %s", f, got, want)
		}
	}
}
