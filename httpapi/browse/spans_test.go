package browse

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// Colours that were found are kept by file and lexer, as far as they were wanted.
func TestColoursAreKept(t *testing.T) {
	text := strings.Repeat("return \"<é>\"\n", 5100)
	first, second := windowOf([]byte(text), 1), windowOf([]byte(text), 5099)
	if second.first == 1 {
		t.Fatalf("the windows are %+v and %+v, want two", first, second)
	}
	painted := func(p *painter, oid, name, language string, win window) []codeLine {
		repository, oid, _ := strings.Cut(oid, ":")
		return p.lines(t.Context(), fileColours{uint32(len(repository)), oid, ""}, name, language, []byte(text), win)
	}
	fresh := map[window][]codeLine{}
	for _, win := range []window{first, second} {
		fresh[win] = painted(newPainter(time.Hour), ":1", "a.go", "Go", win)
	}
	p := newPainter(time.Hour)
	painted(p, ":1", "a.go", "Go", first)
	late := &painter{-1, p.known} // which has no time to find any
	if got := painted(late, ":1", "b.go", "Go", first); !slices.Equal(got, fresh[first]) {
		t.Error("what was seen before is painted in another way")
	}
	plain := painted(p, ":1", "a", "No such language", first)
	for what, got := range map[string][]codeLine{
		"another file":       painted(late, ":2", "a.go", "Go", first),
		"another repository": painted(late, "x:1", "a.go", "Go", first),
		"another lexer":      painted(late, ":1", "a.c", "C", first),
	} {
		if !slices.Equal(got, plain) {
			t.Errorf("%s has colours", what)
		}
	}
	if got := painted(late, ":1", "a.go", "Go", second); slices.Equal(got, fresh[second]) {
		t.Error("lines that were never painted have colours")
	}
	painted(p, ":1", "a.go", "Go", second)
	for _, win := range []window{first, second} {
		if got := painted(late, ":1", "a.go", "Go", win); !slices.Equal(got, fresh[win]) {
			t.Errorf("lines from %d on are painted in another way", win.first)
		}
	}
}
