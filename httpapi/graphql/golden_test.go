package graphql_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "rewrite the answers in testdata")

// Each file of testdata/queries holds documents and the answers to them:
//
//	-- name --           a document; "# vars {…}" in it gives variables, "# as NAME" says who asks
//	-- name.json --      the answer
func TestQueries(t *testing.T) {
	w := newWorld(t)
	for _, file := range queryFiles(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			w.TB = t
			if strings.HasPrefix(filepath.Base(file), "symbol") {
				w.readSymbols()
			}
			checkQueries(t, w, file)
		})
	}
}

func queryFiles(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/queries/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no queries in testdata: %v", err)
	}
	return files
}

// checkQueries sends the documents of a file, with a header where they do not say
// who asks.
func checkQueries(t *testing.T, w *world, file string, header ...string) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	out := &txtar.Archive{Comment: archive.Comment}
	want := map[string]string{}
	for _, f := range archive.Files {
		want[f.Name] = string(f.Data)
	}
	for _, f := range archive.Files {
		if strings.HasSuffix(f.Name, ".json") {
			continue
		}
		document := string(f.Data)
		got := w.settled(w.ask(document, variablesOf(t, document), w.headerOf(document, header)...))
		out.Files = append(out.Files, f, txtar.File{Name: f.Name + ".json", Data: []byte(got)})
		if want := want[f.Name+".json"]; got != want && !*update {
			t.Errorf("%s: %s\n got %s\nwant %s", file, document, got, want)
		}
	}
	if *update {
		if err := os.WriteFile(file, txtar.Format(out), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

var asLine = regexp.MustCompile(`(?m)^\s*# as (\w+)$`)

// headerOf is the credential of who asks.
func (w *world) headerOf(document string, otherwise []string) []string {
	w.Helper()
	m := asLine.FindStringSubmatch(document)
	if m == nil {
		return otherwise
	}
	token, ok := w.Tokens[m[1]]
	if !ok {
		w.Fatalf("nobody is called %q", m[1])
	}
	return []string{"Authorization", "token " + token}
}

var variablesLine = regexp.MustCompile(`(?m)^\s*# vars (\{.*\})$`)

func variablesOf(t testing.TB, document string) map[string]any {
	t.Helper()
	m := variablesLine.FindStringSubmatch(document)
	if m == nil {
		return nil
	}
	var out map[string]any
	if err := json.Unmarshal([]byte(m[1]), &out); err != nil {
		t.Fatalf("variables of %s: %v", document, err)
	}
	return out
}

// unsettled is what differs from one run to the next.
var unsettled = regexp.MustCompile(`("(?:siteID|elapsedMilliseconds)": )("[A-Z2-7]{26}"|\d+)`)

// secret is the text of a token, or the code of a password.
var secret = regexp.MustCompile(`sgp_\w+_[0-9a-f]{40}|code=[\w%-]+`)

// waited is how git tells how long it tried.
var waited = regexp.MustCompile(`after \d+ ms`)

// settled replaces it.
func (w *world) settled(answer string) string {
	answer = unsettled.ReplaceAllString(answer, `${1}"…"`)
	answer = secret.ReplaceAllString(answer, "…")
	answer = waited.ReplaceAllString(answer, "after … ms")
	return strings.ReplaceAll(answer, w.Dir, "/world")
}
