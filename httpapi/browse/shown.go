package browse

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// shown returns a name of a stranger's as it can stand in a page: on one line, in
// one direction, nothing of it unseen, and of bounded length.
func shown(name string) string {
	name = cut(name, maxShownName)
	if utf8.ValidString(name) && !strings.ContainsFunc(name, func(r rune) bool { return deceptive(r) || r == '\t' }) {
		return name
	}
	var b strings.Builder
	for _, r := range name {
		if deceptive(r) || r == '\t' {
			b.WriteString("<" + codePoint(r) + ">")
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// maxShownName is how many bytes of a name a page shows.
const maxShownName = 1 << 10

// cut returns the beginning of a text of n bytes at most, and marks that it is
// one.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	// The text may be the beginning of megabytes, which must not stay.
	return strings.Clone(beginning(text, n)) + "\u2026"
}

func codePoint(r rune) string { return fmt.Sprintf("U+%04X", r) }

// short is the beginning of an object id.
func short(oid string) string { return oid[:min(len(oid), 10)] }
