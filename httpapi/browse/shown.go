package browse

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// shown is a name of a stranger's as it can stand in a page: on one line, in
// one direction, nothing of it unseen.
func shown(name string) string {
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

func codePoint(r rune) string { return fmt.Sprintf("U+%04X", r) }

// short is the beginning of an object id.
func short(oid string) string { return oid[:min(len(oid), 10)] }
