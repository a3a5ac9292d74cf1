package bench

import (
	"slices"
	"strings"
)

// zoektQuery says q in zoekt's language, or why it cannot be said. Patterns are
// regexps there; one without operators is looked for as a literal.
func zoektQuery(q Query) (text, cannot string) {
	if q.Scope == Nothing {
		return "", "no such question"
	}
	parts := []string{"case:no"}
	if q.CaseSensitive() {
		parts[0] = "case:yes"
	}
	if q.Scope == Files {
		parts = append(parts, "type:filename")
	}
	for _, p := range q.PathRegexps {
		parts = append(parts, "file:"+zoektQuote(p))
	}
	terms := make([]string, len(q.Terms))
	for i, t := range q.Terms {
		terms[i] = "content:" + zoektQuote(t.Pattern())
	}
	if !q.All {
		terms = zoektEither(terms)
	}
	parts = append(parts, terms...)
	for _, t := range q.Without {
		parts = append(parts, "-content:"+zoektQuote(t.Pattern()))
	}
	return strings.Join(slices.Concat(parts, zoektGlobs(q)), " "), ""
}

// zoektGlobs returns the filters for paths. Letter case never matters in them.
func zoektGlobs(q Query) []string {
	var in, out []string
	for _, g := range q.Globs {
		g, negated := strings.CutPrefix(g, "!")
		filter := "file:" + zoektQuote(globRegexp(g))
		if q.CaseSensitive() {
			filter = "file:" + zoektQuote("(?i)"+globRegexp(g))
		}
		if negated {
			out = append(out, "-"+filter)
		} else {
			in = append(in, filter)
		}
	}
	return slices.Concat(zoektEither(in), out)
}

// zoektEither returns an expression for any of several. The spaces distinguish
// a group from a parenthesis of a pattern.
func zoektEither(parts []string) []string {
	if len(parts) < 2 {
		return parts
	}
	return []string{"( " + strings.Join(parts, " or ") + " )"}
}

// zoektQuote returns text between quotes, where a backslash takes the next
// character as it is.
func zoektQuote(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}
