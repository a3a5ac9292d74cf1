package navigate_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/httpapi/navigate"
)

type foundSymbols struct {
	Results []struct {
		Name, Kind, Container, Repository, Revision, Path, URL string
		Marks                                                  [][2]int
		Line                                                   int
	}
	Incomplete bool
	LeftOut    string
}

// names lists what is found, each with what of it matches.
func (f foundSymbols) names() string {
	var out []string
	for _, r := range f.Results {
		marked, chars := "", []rune(r.Name)
		for _, m := range r.Marks {
			marked += "[" + string(chars[m[0]:m[1]]) + "]"
		}
		out = append(out, fmt.Sprintf("%s%s %s:%d", r.Name, marked, r.Path, r.Line))
	}
	return strings.Join(out, ", ")
}

func (w *world) symbols(ann bool, pairs ...string) (status int, f foundSymbols, body string) {
	w.Helper()
	status, body = w.get(&f, navigate.SymbolsPath, ann, pairs...)
	return status, f, body
}

// Definitions are found by parts of their names: the very name first, then names and
// words that begin with them.
func TestSymbols(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		pairs []string
		want  string
	}{
		{[]string{"q", "SCR ted", "repository", "lab/kiln"}, `Scripted[Scr][ted] b/"><script>alert(1)</script>.go:4`},
		{[]string{"q", "kil", "repository", "lab/kiln"}, "Kiln[Kil] a/far.go:5"},
		{[]string{"q", "l", "repository", "lab/kiln"}, "Kiln[l] a/far.go:5, Cool[l] a/far.go:7"},
		{[]string{"q", "ol oo", "repository", "lab/kiln"}, ""},
		{[]string{"q", "glaze", "repository", "lab/kiln"}, ""},
		{[]string{"q", "aze"}, "Glaze[aze] x.go:5"},
		{[]string{"q", "l", "repository", "lab/kiln", "limit", "1"}, "Kiln[l] a/far.go:5"},
		{[]string{"q", "old fire", "repository", "lab/kiln"}, ""},
	} {
		status, f, body := w.symbols(false, c.pairs...)
		if status != http.StatusOK || f.names() != c.want || f.Incomplete || f.LeftOut != "" {
			t.Errorf("%q: %d, %s\ngot  %s\nwant %s", c.pairs, status, body, f.names(), c.want)
		}
	}
	// A revision that is not indexed has no definitions, and the answer says so.
	if status, f, body := w.symbols(false, "q", "old fire", "repository", "lab/kiln", "revision", w.first); status != http.StatusOK || len(f.Results) != 0 || !f.Incomplete || f.LeftOut == "" {
		t.Errorf("at the first commit: %d %s", status, body)
	}
	for _, pairs := range [][]string{
		{}, {"q", " \t"}, {"q", strings.Repeat("x", 201)}, {"q", "\xff"}, {"q", "a\nb"}, {"q", "x", "limit", "0"}, {"q", "x", "limit", "101"},
		{"q", "x", "revision", "main"}, {"q", "x", "repository", strings.Repeat("p", 5000)},
	} {
		if status, _, body := w.symbols(false, pairs...); status != http.StatusBadRequest {
			t.Errorf("%.80q: %d %s", pairs, status, body)
		}
	}
}

// Parts are text, whatever they mean in a query, and what may not be seen is not found.
func TestSymbolsHide(t *testing.T) {
	w := newWorld(t)
	if _, f, body := w.symbols(true, "q", "buried"); f.names() != "Buried[Buried] s.go:5" {
		t.Errorf("ann finds %s", body)
	}
	_, _, absent := w.symbols(false, "q", "fire", "repository", "lab/absent")
	if _, _, hidden := w.symbols(false, "q", "fire", "repository", "lab/secret"); hidden != absent {
		t.Errorf("of a hidden repository anybody gets %s, of one that is not there %s", hidden, absent)
	}
	for _, text := range []string{"a) or repo:.", ".*", "(", `\`, `"`, `"buried"`, "repo:lab/secret", "repo:lab/secret or", "$", "^", "-", "-x", "NOT", "or", "x{999999}", "größe", "type:repo", "#", "::", "/x/", "[", "]", "count:all", "timeout:1h", "buried"} {
		status, f, body := w.symbols(false, "q", text)
		if status != http.StatusOK || len(f.Results) != 0 {
			t.Errorf("%q: %d %s", text, status, body)
		}
	}
}
