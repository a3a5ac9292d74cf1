package syntax

import (
	"errors"
	resyntax "regexp/syntax"
	"strings"

	"github.com/trawlsearch/trawl/store/lang"
)

// regexpHint guesses what re, which does not compile, was meant to be, or gives
// advice. Most often it is a glob, or text that holds a special character.
func regexpHint(re, prefix string, err error) (hint, fix string) {
	var e *resyntax.Error
	if !errors.As(err, &e) {
		return "", ""
	}
	switch e.Code {
	case resyntax.ErrMissingRepeatArgument:
		fix = unglob(re)
	case resyntax.ErrMissingBracket:
		fix = strings.ReplaceAll(re, "[", `\[`)
	case resyntax.ErrMissingParen:
		fix = strings.ReplaceAll(re, "(", `\(`)
	case resyntax.ErrUnexpectedParen:
		fix = strings.ReplaceAll(re, ")", `\)`)
	case resyntax.ErrTrailingBackslash:
		fix = re + `\`
	case resyntax.ErrInvalidPerlOp:
		return "regular expressions have no look-around and no back-references", ""
	case resyntax.ErrInvalidEscape:
		return `write \\ for a backslash`, ""
	default:
		return "put a backslash before characters that are meant literally", ""
	}
	return prefix + fix, fix
}

// unglob writes a glob such as *.go as a regular expression.
func unglob(glob string) string {
	if ext, ok := strings.CutPrefix(glob, "*."); ok && !strings.ContainsAny(ext, `*?+\`) {
		return `\.` + ext + "$"
	}
	return strings.TrimLeft(glob, "*+?")
}

// languageHint names the language that value may be meant for: one of which it begins a name or
// an alias, else the one whose name is nearest to it.
func languageHint(value string) (hint, fix string) {
	value = strings.ToLower(strings.TrimSpace(value))
	if value == "" || len(value) > 40 {
		return "name a language, such as lang:go", ""
	}
	best := begunLanguage(value)
	if best == "" {
		best = nearestLanguage(value)
	}
	if best == "" {
		return "name a language, such as lang:go", ""
	}
	if strings.ContainsAny(best, " ()") {
		return "lang:" + escape(best, '"'), best
	}
	return "lang:" + best, best
}

// leastBegun is how many bytes of a name say which language is meant.
const leastBegun = 3

// begunLanguage returns the language with the shortest name or alias that value begins, "" for
// none.
func begunLanguage(value string) (best string) {
	if len(value) < leastBegun {
		return ""
	}
	length := 0
	for _, name := range lang.Names() {
		for _, known := range append([]string{strings.ToLower(name)}, lang.Aliases(name)...) {
			if strings.HasPrefix(known, value) && (best == "" || len(known) < length) {
				best, length = name, len(known)
			}
		}
	}
	return best
}

// nearestLanguage returns the language whose name, or else one of whose aliases, is two slips
// away at most and less than half of value, "" for none.
func nearestLanguage(value string) (best string) {
	distance := 3
	for _, aliases := range []bool{false, true} {
		for _, name := range lang.Names() {
			known := []string{strings.ToLower(name)}
			if aliases {
				known = lang.Aliases(name)
			}
			for _, k := range known {
				if d := editDistance(value, k); d < distance && 2*d < len(value) {
					best, distance = name, d
				}
			}
		}
	}
	return best
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
