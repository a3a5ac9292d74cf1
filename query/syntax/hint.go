package syntax

import (
	"errors"
	resyntax "regexp/syntax"
	"strings"

	"github.com/trawlsearch/trawl/store/lang"
)

// regexpHint guesses what re, which does not compile, was meant to be. Most
// often it is a glob, or text that holds a special character.
func regexpHint(re, prefix string, err error) string {
	var e *resyntax.Error
	if !errors.As(err, &e) {
		return ""
	}
	switch e.Code {
	case resyntax.ErrMissingRepeatArgument:
		return prefix + unglob(re)
	case resyntax.ErrMissingBracket:
		return prefix + strings.ReplaceAll(re, "[", `\[`)
	case resyntax.ErrMissingParen:
		return prefix + strings.ReplaceAll(re, "(", `\(`)
	case resyntax.ErrUnexpectedParen:
		return prefix + strings.ReplaceAll(re, ")", `\)`)
	case resyntax.ErrTrailingBackslash:
		return prefix + re + `\`
	case resyntax.ErrInvalidPerlOp:
		return "regular expressions have no look-around and no back-references"
	case resyntax.ErrInvalidEscape:
		return `write \\ for a backslash`
	}
	return "put a backslash before characters that are meant literally"
}

// unglob writes a glob such as *.go as a regular expression.
func unglob(glob string) string {
	if ext, ok := strings.CutPrefix(glob, "*."); ok && !strings.ContainsAny(ext, `*?+\`) {
		return `\.` + ext + "$"
	}
	return strings.TrimLeft(glob, "*+?")
}

// languageHint names the language whose name is nearest to value.
func languageHint(value string) string {
	value = strings.ToLower(strings.TrimSpace(value))
	if value == "" || len(value) > 40 {
		return "name a language, such as lang:go"
	}
	best, distance := "", 3
	for _, name := range lang.Names() {
		if d := editDistance(value, strings.ToLower(name)); d < distance && 2*d < len(value) {
			best, distance = name, d
		}
	}
	if best == "" {
		return "name a language, such as lang:go"
	}
	if strings.ContainsAny(best, " ()") {
		best = escape(best, '"')
	}
	return "lang:" + best
}

// editDistance counts the bytes to insert, delete or replace to make b of a.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
