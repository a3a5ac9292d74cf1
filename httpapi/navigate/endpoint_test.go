package navigate_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/navigate"
	"github.com/trawlsearch/trawl/httpapi/worldtest"
	"github.com/trawlsearch/trawl/internal/needs"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/ctags"
	"github.com/trawlsearch/trawl/store/identity"
	"github.com/trawlsearch/trawl/store/ingest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a server with lab/kiln and lab/other, which all may read, and lab/secret,
// which only ann may.
type world struct {
	*worldtest.World
	first string // the first commit of lab/kiln
}

func newWorld(t *testing.T) *world {
	t.Helper()
	path, err := ctags.Find()
	var program *ctags.Program
	if err == nil {
		program, err = ctags.Open(path)
	}
	if err != nil {
		t.Skip(needs.Missing("symbols", "ctags", err))
	}
	w := &world{World: worldtest.New(t, worldtest.Options{Ingest: ingest.Options{Ctags: program}})}
	w.repositories()
	w.Users(identity.NewUser{Name: "ann"})
	w.Readers("lab/secret", "user:ann")
	searcher := search.New(w.Store, search.Settings{Workers: 2})
	e := &navigate.Endpoint{Finder: navigate.Finder{Searcher: searcher}, Store: func() *store.Store { return w.Store }, SymbolsWithin: time.Minute}
	s := &httpapi.Server{Searcher: searcher, Extra: e.Routes(), Gate: w.Gate, Log: zerolog.Nop(), Admission: httpapi.NewAdmission(2, 64<<20)}
	w.Listen(s.Handler())
	return w
}

func (w *world) repositories() {
	w.Helper()
	kiln := w.Git("kiln")
	kiln.Write("main.go", "package main\n\n// Old heats.\nfunc OldFire() {}\n")
	kiln.Commit("Begin")
	w.first = kiln.Git("rev-parse", "HEAD")
	kiln.Write("main.go", "package main\n\n// Fire heats the kiln.\nfunc Fire() {}\n\nfunc main() { Fire() }\n")
	kiln.Write("a/far.go", "package a\n\nfunc Fire() {}\n\ntype Kiln struct{}\n\nfunc (Kiln) Cool() {}\n")
	kiln.Write("b/near.go", "package b\n\nfunc Fire() {}\n")
	kiln.Write("b/user.go", "package b\n\nfunc use() { Fire() }\n// "+strings.Repeat("x ", 2000)+"Fire\n")
	kiln.Write("b/fire.py", "def Fire():\n    \"\"\"Heats.\"\"\"\n")
	kiln.Write(`b/"><script>alert(1)</script>.go`, "package b\n\n// <script>alert(1)</script>\nfunc Scripted() {}\n")
	kiln.Commit("More")
	other := w.Git("other")
	other.Write("x.go", "package x\n\nfunc Fire() {}\n\nfunc Glaze() {}\n\nfunc Cool() {}\n")
	other.Commit("Other")
	secret := w.Git("secret")
	secret.Write("s.go", "package s\n\nfunc Fire() {}\n\nfunc Buried() { Fire() }\n")
	secret.Commit("Hide")
	w.AddGit("kiln", "other", "secret")
	w.Sync("lab/kiln", "lab/other", "lab/secret")
	_, err := w.Indexer.Symbols.Read(w.Context(), nil)
	w.Must(err)
}

type answered struct {
	Precise, Incomplete bool
	Closeness           string
	Total               int
	Results             []struct {
		Repository, Revision, Commit, Path, URL, Text, Kind, Container, Comment string
		Line, Column, TextColumn                                                int
		Definition                                                              bool
	}
}

// at lists where results are.
func (a answered) at() (out []string) {
	for _, r := range a.Results {
		out = append(out, fmt.Sprintf("%s %s:%d", strings.TrimPrefix(r.Repository, "lab/"), r.Path, r.Line))
	}
	return out
}

// ask asks an endpoint, as ann or as anybody; parameters are pairs.
func (w *world) ask(path string, ann bool, pairs ...string) (status int, a answered) {
	w.Helper()
	status, _ = w.get(&a, path, ann, pairs...)
	return status, a
}

// get gets an answer of an endpoint, and decodes one that is good.
func (w *world) get(into any, path string, ann bool, pairs ...string) (status int, text string) {
	w.Helper()
	values := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		values.Set(pairs[i], pairs[i+1])
	}
	var as string
	if ann {
		as = "ann"
	}
	path += "?" + values.Encode()
	resp, body := w.Send(http.MethodGet, path, "", w.As(as)...)
	if resp.StatusCode == http.StatusOK {
		if err := json.Unmarshal([]byte(body), into); err != nil {
			w.Fatalf("%s: %v: %s", path, err, body)
		}
	}
	return resp.StatusCode, body
}

func TestEndpoint(t *testing.T) {
	w := newWorld(t)
	from := func(file string, more ...string) []string {
		return append([]string{"repository", "lab/kiln", "path", file, "language", "Go"}, more...)
	}
	list := func(path string, ann bool, pairs ...string) []string {
		t.Helper()
		status, a := w.ask(path, ann, pairs...)
		if status != http.StatusOK || a.Precise {
			t.Fatalf("%s %q: %d, %+v", path, pairs, status, a)
		}
		return a.at()
	}
	check := func(what string, got []string, want ...string) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", what, got, want)
		}
	}

	// The nearest come first: same file, directory, repository, language.
	check("definitions from b/user.go", list(navigate.DefinitionsPath, false, from("b/user.go", "name", "Fire")...),
		"kiln b/near.go:3", "kiln b/fire.py:1", "kiln main.go:4", "kiln a/far.go:3", "other x.go:3")
	check("definitions from main.go", list(navigate.DefinitionsPath, false, from("main.go", "name", "Fire")...)[:1], "kiln main.go:4")
	check("definitions from nowhere", list(navigate.DefinitionsPath, false, "name", "Glaze"), "other x.go:5")
	check("definitions elsewhere", list(navigate.DefinitionsPath, false, from("main.go", "name", "Glaze")...), "other x.go:5")
	check("definitions in another case", list(navigate.DefinitionsPath, false, from("main.go", "name", "glaze")...), "other x.go:5")
	check("no definitions", list(navigate.DefinitionsPath, false, from("main.go", "name", "nothing")...))
	check("qualified", list(navigate.DefinitionsPath, false, "repository", "lab/kiln", "name", "Kiln.Cool"), "kiln a/far.go:7", "other x.go:7")

	// References have their lines, and tell which define the name.
	_, refs := w.ask(navigate.ReferencesPath, false, from("b/user.go", "name", "Fire")...)
	check("references", refs.at()[:3], "kiln b/user.go:3", "kiln b/user.go:4", "kiln b/near.go:3")
	if r := refs.Results[2]; !r.Definition || refs.Results[0].Definition || refs.Results[0].Text != "func use() { Fire() }" {
		t.Errorf("references %+v", refs.Results[:3])
	}
	if r := refs.Results[1]; len(r.Text) > 500 || r.Text[r.TextColumn:r.TextColumn+4] != "Fire" {
		t.Errorf("a long line is %q from %d", r.Text, r.TextColumn)
	}

	// The card has the line and its comment, of the revision that is shown.
	_, card := w.ask(navigate.HoverPath, false, from("main.go", "name", "Fire")...)
	if len(card.Results) != 1 || card.Results[0].Comment != "Fire heats the kiln." || card.Results[0].Text != "func Fire() {}" || card.Results[0].URL != "/lab/kiln/-/blob/main.go?L4" {
		t.Errorf("the card of Fire is %+v", card)
	}
	_, card = w.ask(navigate.HoverPath, false, from("main.go", "name", "OldFire", "revision", w.first)...)
	if len(card.Results) != 0 && card.Results[0].Comment != "Old heats." {
		t.Errorf("the card of OldFire is %+v", card)
	}
	check("no card", list(navigate.HoverPath, false, from("main.go", "name", "fir")...))
	old := list(navigate.ReferencesPath, false, from("main.go", "name", "OldFire", "revision", w.first)...)
	check("references at a revision", old, "kiln main.go:4")

	// Names and comments of strangers are text.
	_, card = w.ask(navigate.HoverPath, false, from("b/user.go", "name", "Scripted")...)
	if len(card.Results) != 1 || card.Results[0].Comment != "<script>alert(1)</script>" || strings.Contains(card.Results[0].URL, "<") {
		t.Errorf("the card of Scripted is %+v", card)
	}
}

// What a client may not see is not found, and cannot be told from what is not there.
func TestEndpointHides(t *testing.T) {
	w := newWorld(t)
	for _, path := range []string{navigate.DefinitionsPath, navigate.ReferencesPath, navigate.HoverPath} {
		for _, pairs := range [][]string{{"name", "Buried"}, {"name", "Buried", "repository", "lab/secret", "path", "s.go"}} {
			if _, a := w.ask(path, true, pairs...); len(a.Results) != 1 {
				t.Errorf("%s %q: ann finds %q", path, pairs, a.at())
			}
			_, hidden := w.ask(path, false, pairs...)
			pairs[1] = "Absent"
			_, absent := w.ask(path, false, pairs...)
			if fmt.Sprint(hidden) != fmt.Sprint(absent) || len(hidden.Results) != 0 {
				t.Errorf("%s %q: anybody gets %+v, of what is absent %+v", path, pairs, hidden, absent)
			}
		}
		for _, at := range w.others(path) {
			if strings.HasPrefix(at, "secret") {
				t.Errorf("%s: anybody finds %s", path, at)
			}
		}
	}
	for _, pairs := range [][]string{
		{}, {"name", ""}, {"name", "two words"}, {"name", strings.Repeat("x", 300)}, {"name", "x", "limit", "0"}, {"name", "x", "limit", "many"}, {"name", "x", "limit", "100000"},
		{"name", "x", "path", strings.Repeat("p", 5000)}, {"name", "x", "repository", "a\nb"}, {"name", "x", "revision", "a\x00b"},
	} {
		if status, _ := w.ask(navigate.DefinitionsPath, false, pairs...); status != http.StatusBadRequest {
			t.Errorf("%.80q: %d", pairs, status)
		}
	}
	// Filters and patterns in arguments are neither.
	for _, text := range []string{"a) or repo:.", ".*", "(", `\`, `"`, "repo:lab/secret", "$", "^", "-", "NOT", "or", "x{999999}", "größe", "a:b", "type:repo", "#", "::"} {
		for _, pairs := range [][]string{{"name", strings.ReplaceAll(text, " ", "")}, {"name", "Fire", "repository", text}, {"name", "Fire", "repository", "lab/kiln", "revision", text}} {
			for _, path := range []string{navigate.DefinitionsPath, navigate.ReferencesPath} {
				status, a := w.ask(path, false, pairs...)
				if status != http.StatusOK || slices.ContainsFunc(a.at(), func(at string) bool { return strings.HasPrefix(at, "secret") }) {
					t.Errorf("%s %q: %d, %q", path, pairs, status, a.at())
				}
			}
		}
	}
}

func (w *world) others(path string) []string {
	_, a := w.ask(path, false, "name", "Fire", "repository", "lab/secret", "path", "s.go")
	return a.at()
}
