package lang_test

import (
	"slices"
	"testing"

	"github.com/trawlsearch/trawl/store/lang"
)

// TestClaimingIsWhatMatchersKeep compares with the matcher of every language.
func TestClaimingIsWhatMatchersKeep(t *testing.T) {
	paths := append(slices.Clone(samplePaths), "x/a.ma\u212aefile", "\u212aconfig", "Ma\u212aefile", "a.rſ", "é.go", "a.tsx.in", "a.h.H.IN", "\xff.go", "a.\xff")
	for _, name := range lang.Names() {
		match := lang.Matcher(name)
		for _, path := range paths {
			if got, want := slices.Contains(lang.Claiming(path), name), match(path); got != want {
				t.Errorf("Claiming(%q) has %s: %t, its matcher says %t", path, name, got, want)
			}
		}
	}
}
