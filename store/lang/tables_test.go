package lang

import (
	"testing"

	"github.com/go-enry/go-enry/v2/data"
)

// A table entry that linguist renames would silently stop working.
func TestTablesNameKnownLanguages(t *testing.T) {
	known := map[string]bool{}
	for _, name := range allNames() {
		known[name] = true
	}
	for _, name := range likelihood {
		if !known[name] {
			t.Errorf("likelihood holds %q, which is no language", name)
		}
	}
	for _, table := range []map[string]string{exclusiveExtensions, soleExtensions} {
		for ext, name := range table {
			if !known[name] {
				t.Errorf("extension %s belongs to %q, which is no language", ext, name)
			}
		}
	}
}

// The folding in foldTail has room for every name and extension, so that the
// regexp stays the exception.
func TestLongestNameFitsBuffer(t *testing.T) {
	for file := range data.LanguagesByFilename {
		if len(file) > 64 {
			t.Errorf("file name %q is longer than the folding buffer", file)
		}
	}
	for ext := range data.LanguagesByExtension {
		if len(ext) > maxExtension || len(ext) > 64 {
			t.Errorf("extension %q is longer than the folding buffer", ext)
		}
	}
}

// plainHeader must never say plain where linguist's heuristics say otherwise.
func FuzzPlainHeader(f *testing.F) {
	for _, seed := range []string{"#include <map>", "\n\v#  include <iostream>", " \ttry", "catch (", "using namespace x", "class\nX", "private:\n", "@end", "#import \"a.h\"", "a\n\n template\n<", "__cplusplus > 1", "#\n\ninclude <map>", "#\f\rinclude <map>"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, head []byte) {
		if !plainHeader(head) {
			return
		}
		if got := data.ContentHeuristics[".h"].Match(head); len(got) != 1 || got[0] != "C" {
			t.Errorf("plainHeader(%q) = true, linguist says %v", head, got)
		}
	})
}
