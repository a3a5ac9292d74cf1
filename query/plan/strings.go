package plan

import (
	"slices"
	"strings"

	"github.com/trawlsearch/trawl/postings"
)

// str is a text that a part of a regexp may match.
type str struct {
	s string
	// fold says that s stands for all its spellings under simple case folding;
	// it is then in lower case as far as it is ASCII.
	fold bool
}

// Limits of the sets that analysis carries. 128 strings let two digits and a
// little more be spelled out: reading a list costs about two microseconds, so
// a full set costs a quarter of a millisecond a shard.
const (
	maxSet      = 128
	maxAffixSet = 16
	maxClass    = 16
	// keepBytes is what is kept of a prefix or suffix once a set is too large.
	keepBytes = 3
)

func concat(a, b str) str {
	if a.s == "" {
		return b
	}
	if b.s == "" {
		return a
	}
	if a.fold != b.fold {
		return str{lowerBytes(a.s) + lowerBytes(b.s), true}
	}
	return str{a.s + b.s, a.fold}
}

// cross returns every concatenation of one of a and one of b, or nil when
// there would be more than limit.
func cross(a, b []str, limit int) []str {
	if len(a)*len(b) > limit {
		return nil
	}
	var out []str
	for _, x := range a {
		for _, y := range b {
			out = append(out, concat(x, y))
		}
	}
	return unique(out)
}

func unique(set []str) []str {
	slices.SortFunc(set, func(a, b str) int {
		if c := strings.Compare(a.s, b.s); c != 0 {
			return c
		}
		switch {
		case a.fold == b.fold:
			return 0
		case a.fold:
			return 1
		}
		return -1
	})
	return slices.Compact(set)
}

// prefixes shortens a set of prefixes until it is small; suffixes likewise.
func prefixes(set []str) []str {
	return shorten(set, func(s string, n int) string { return s[:min(n, len(s))] })
}

func suffixes(set []str) []str {
	return shorten(set, func(s string, n int) string { return s[max(0, len(s)-n):] })
}

func shorten(set []str, cut func(string, int) string) []str {
	n := postings.MaxLiteralBytes
	for {
		out := make([]str, len(set))
		for i, x := range set {
			out[i] = str{cut(x.s, n), x.fold}
		}
		if out = unique(out); len(out) <= maxAffixSet || n == 0 {
			return out
		}
		if n > keepBytes {
			n = keepBytes
		} else {
			n--
		}
	}
}

// anyOf returns the expression that holds where one of set stands.
func anyOf(set []str) postings.Expr {
	parts := make([]postings.Expr, len(set))
	for i, x := range set {
		if x.s == "" || len(x.s) < 3 && len(set) > maxShortSet {
			return postings.All
		}
		parts[i] = literal(x)
	}
	return postings.NewOr(parts...)
}

// maxShortSet is the largest set in which a string of one or two bytes, which
// stands for many lists, is worth looking up.
const maxShortSet = 4

func literal(x str) postings.Expr {
	l := &postings.Literal{}
	run := x.s
	if len(run) > postings.MaxLiteralBytes {
		run = run[:postings.MaxLiteralBytes]
	}
	l.Runs = []string{lowerBytes(run)}
	if x.fold {
		l.WideFold = slices.ContainsFunc([]byte(run), FoldsWide)
	} else {
		l.Exact = run
	}
	return l
}

// lowerBytes folds bytes, not runes: an affix may end inside a rune.
func lowerBytes(s string) string {
	b := []byte(s)
	for i := range b {
		b[i] = postings.Fold(b[i])
	}
	return string(b)
}

// FoldsWide reports whether Unicode folds the ASCII letter c, in either case,
// to a rune outside ASCII too: s to U+017F and k to U+212A.
func FoldsWide(c byte) bool {
	switch c {
	case 's', 'S', 'k', 'K':
		return true
	}
	return false
}
