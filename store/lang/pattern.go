package lang

import (
	"regexp"
	"strings"
	"sync"
)

// matchesNothing is a regexp without a match, for the handful of linguist
// languages known by neither extension nor file name.
const matchesNothing = `[^\x00-\x{10FFFF}]`

// FilePattern returns the regexp over whole paths that a lang: filter for the
// named language stands for: an alternative per extension and per file name,
// case-insensitive whatever the query says about case. An extension shared
// with other languages counts for each of them, except the exclusive ones. The
// name is spelled as Lookup returns it; an unknown one gives a pattern that
// matches nothing.
func FilePattern(name string) string {
	var alts []string
	for _, ext := range extensions(name) {
		alts = append(alts, regexp.QuoteMeta(ext)+`$`)
	}
	for _, file := range filenames(name) {
		alts = append(alts, `(^|/)`+regexp.QuoteMeta(file)+`$`)
	}
	if len(alts) == 0 {
		return matchesNothing
	}
	return `(?i:` + strings.Join(alts, `|`) + `)`
}

// Matcher returns a function that matches exactly the paths FilePattern(name)
// matches, by table look-ups in place of a regexp. It may be called from
// several goroutines.
func Matcher(name string) func(path string) bool {
	m := &matcher{
		extensions: foldedSet(extensions(name)),
		filenames:  foldedSet(filenames(name)),
		// Only paths beyond ASCII need the regexp, so most matchers never compile it.
		pattern: sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(FilePattern(name)) }),
	}
	for _, set := range []map[string]struct{}{m.extensions, m.filenames} {
		for s := range set {
			m.longest = max(m.longest, len(s))
		}
	}
	return m.match
}

type matcher struct {
	extensions map[string]struct{} // lower case, with the leading dot
	filenames  map[string]struct{} // lower case
	longest    int                 // bytes of the longest of either
	pattern    func() *regexp.Regexp
}

func (m *matcher) match(path string) bool {
	// An extension is a suffix of the last path element, which is all that
	// can matter.
	base := path[strings.LastIndexByte(path, '/')+1:]
	var buf [64]byte
	folded, ascii := foldTail(base, buf[:min(m.longest, len(buf))])
	if !ascii || m.longest > len(buf) {
		return m.pattern().MatchString(path)
	}
	if len(folded) == len(base) {
		if _, ok := m.filenames[string(folded)]; ok {
			return true
		}
	}
	for i := len(folded) - 1; i >= 0; i-- {
		if folded[i] != '.' {
			continue
		}
		if _, ok := m.extensions[string(folded[i:])]; ok {
			return true
		}
	}
	return false
}

// foldTail writes the last len(buf) bytes of s to buf in lower case. ascii is
// false if one of them is beyond ASCII: case folding reaches from there into
// ASCII (the Kelvin sign is a k), and the regexp knows how.
func foldTail(s string, buf []byte) (folded []byte, ascii bool) {
	tail := s[max(0, len(s)-len(buf)):]
	for i := range len(tail) {
		c := tail[i]
		if c >= 0x80 {
			return nil, false
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		buf[i] = c
	}
	return buf[:len(tail)], true
}

func foldedSet(list []string) map[string]struct{} {
	set := make(map[string]struct{}, len(list))
	for _, s := range list {
		set[strings.ToLower(s)] = struct{}{}
	}
	return set
}
