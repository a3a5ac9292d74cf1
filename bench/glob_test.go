package bench

import (
	"regexp"
	"testing"
)

func TestGlobRegexp(t *testing.T) {
	for _, tt := range []struct {
		glob, want string
		in, out    string // paths that fit and that do not
	}{
		// Names at any depth
		{"*.c", `\.c$`, "a/b.c", "a.cc"},
		{"Makefile", `(^|/)Makefile$`, "a/Makefile", "a/Makefile.in"},
		{"a*.?", `(^|/)a[^/]*\.[^/]$`, "x/ab.c", "x/ab.cc"},
		{"*.d/*", `^[^/]*\.d/[^/]*$`, "a.d/b", "a/b.d/c"},

		// Paths from the top
		{"a/b/**", `^a/b/`, "a/b/c/d", "x/a/b/c"},
		{"/a/**", `^a/`, "a/b", "b/a/b"},
		{"/TOP", `^TOP$`, "TOP", "a/TOP"},
		{"a/**/z.c", `^a/(.*/)?z\.c$`, "a/b/c/z.c", "a/yz.c"},
	} {
		got := globRegexp(tt.glob)
		if got != tt.want {
			t.Errorf("glob %q: %s, want %s", tt.glob, got, tt.want)
		}
		if re := regexp.MustCompile(got); !re.MatchString(tt.in) || re.MatchString(tt.out) {
			t.Errorf("glob %q as %s: matches %q: %t and %q: %t; want only the first",
				tt.glob, got, tt.in, re.MatchString(tt.in), tt.out, re.MatchString(tt.out))
		}
	}
}
