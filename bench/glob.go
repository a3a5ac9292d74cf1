package bench

import (
	"regexp"
	"strings"
)

// globRegexp returns a glob, without its "!", as the regexp that a user of a
// tool with path regexps would type: "*.c" is \.c$ and "/a/**" is ^a/.
// Globs mean what they do in .gitignore: without a slash they match a name at
// any depth, with one a path from the top.
func globRegexp(glob string) string {
	if ext, ok := strings.CutPrefix(glob, "*."); ok && !strings.ContainsAny(ext, "*?/") {
		return `\.` + regexp.QuoteMeta(ext) + "$"
	}
	rest, anchored := strings.CutPrefix(glob, "/")
	anchored = anchored || strings.Contains(rest, "/")
	end := "$"
	if folder, ok := strings.CutSuffix(rest, "/**"); ok {
		rest, end = folder, "/"
	}
	var b strings.Builder
	if anchored {
		b.WriteString("^")
	} else {
		b.WriteString("(^|/)")
	}
	for rest != "" {
		switch {
		case strings.HasPrefix(rest, "**/"):
			b.WriteString("(.*/)?")
			rest = rest[3:]
		case rest[0] == '*':
			b.WriteString("[^/]*")
			rest = rest[1:]
		case rest[0] == '?':
			b.WriteString("[^/]")
			rest = rest[1:]
		default:
			n := strings.IndexAny(rest[1:], "*?")
			if n < 0 {
				n = len(rest) - 1
			}
			b.WriteString(regexp.QuoteMeta(rest[:n+1]))
			rest = rest[n+1:]
		}
	}
	return b.String() + end
}
