package lang

import (
	"strings"
	"sync"
)

// Claiming returns the languages whose lang: filter keeps a path: those whose
// Matcher matches it. The slice is shared and may not be changed.
func Claiming(path string) []string {
	t := claims()
	base := path[strings.LastIndexByte(path, '/')+1:]
	folded := strings.Map(foldRune, base)
	found := t.filenames[folded]
	for i := len(folded) - 1; i >= 0; i-- {
		if folded[i] != '.' {
			continue
		}
		more := t.extensions[folded[i:]]
		switch {
		case len(more) == 0:
		case len(found) == 0:
			found = more
		default:
			found = union(found, more)
		}
	}
	return found
}

// claimTable lists languages by what FilePattern has of them, in lower case.
type claimTable struct{ extensions, filenames map[string][]string }

var claims = sync.OnceValue(func() claimTable {
	t := claimTable{map[string][]string{}, map[string][]string{}}
	for _, name := range Names() {
		for _, ext := range extensions(name) {
			add(t.extensions, ext, name)
		}
		for _, file := range filenames(name) {
			add(t.filenames, file, name)
		}
	}
	return t
})

func add(to map[string][]string, key, name string) {
	key = strings.ToLower(key)
	to[key] = union(to[key], []string{name})
}

// union returns a new slice of what is in a or in b.
func union(a, b []string) []string {
	out := append(make([]string, 0, len(a)+len(b)), a...)
	for _, name := range b {
		known := false
		for _, o := range a {
			known = known || o == name
		}
		if !known {
			out = append(out, name)
		}
	}
	return out
}

// foldRune returns the lower-case ASCII letter that r is by simple case folding,
// else r: the Kelvin sign is a k, and the long s an s.
func foldRune(r rune) rune {
	switch {
	case 'A' <= r && r <= 'Z':
		return r + 'a' - 'A'
	case r == '\u212a':
		return 'k'
	case r == 'ſ':
		return 's'
	}
	return r
}
