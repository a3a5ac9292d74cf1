package query

import (
	"unicode"
	"unicode/utf8"
)

// Capitalize returns s with its first letter in upper case, as a sentence begins.
func Capitalize(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return s
	}
	return string(unicode.ToUpper(r)) + s[n:]
}
