package bench

import "testing"

func TestZoektQuery(t *testing.T) {
	for _, tt := range []struct {
		query Query
		want  string
	}{
		// Patterns
		{Query{Scope: Lines, Terms: literals(`a "b`)}, `case:no content:"a \"b"`},
		{Query{Scope: Lines, Terms: literals("f(")}, `case:no content:"f\\("`},
		{Query{Scope: Lines, Terms: regexps(`\ba\s`)}, `case:no content:"\\ba\\s"`},
		{Query{Scope: Lines, Text: "case:yes a", Terms: literals("a")}, `case:yes content:"a"`},

		// Several
		{Query{Scope: Lines, Terms: literals("a", "b")}, `case:no ( content:"a" or content:"b" )`},
		{Query{Scope: Lines, All: true, Terms: literals("a", "b")}, `case:no content:"a" content:"b"`},
		{Query{Scope: Lines, Terms: literals("a"), Without: literals("b")}, `case:no content:"a" -content:"b"`},

		// Paths
		{Query{Scope: Lines, Terms: literals("a"), Globs: []string{"*.c", "!/x/**"}}, `case:no content:"a" file:"\\.c$" -file:"^x/"`},
		{Query{Scope: Lines, Text: "case:yes a", Terms: literals("a"), Globs: []string{"a/**", "b/**"}},
			`case:yes content:"a" ( file:"(?i)^a/" or file:"(?i)^b/" )`},
		{Query{Scope: Paths, PathRegexps: []string{"a", `\.h$`}}, `case:no file:"a" file:"\\.h$"`},
		{Query{Scope: Files, Terms: literals("a")}, `case:no type:filename content:"a"`},
		{Query{Scope: Nothing}, "cannot: no such question"},
	} {
		got, cannot := zoektQuery(tt.query)
		if cannot != "" {
			got = "cannot: " + cannot
		}
		if got != tt.want {
			t.Errorf("%+v:\n got %s\nwant %s", tt.query, got, tt.want)
		}
	}
}
