package graphql_test

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestGitTakesNoOrders: wherever a client's text reaches git, it is a revision, a
// path, a date or a pattern, and never an option, a command or another ref.
func TestGitTakesNoOrders(t *testing.T) {
	w := newWorld(t)
	proof := filepath.Join(t.TempDir(), "proof")
	hostile := []string{
		"--output=" + proof, "-O" + proof, "--upload-pack=touch " + proof, "--exec=touch " + proof, "-c core.pager=touch " + proof,
		"ext::sh -c touch% " + proof, "file://" + proof, "|touch " + proof, "$(touch " + proof + ")", "`touch " + proof + "`", "; touch " + proof,
		"--all", "--help", "--git-dir=/", "--no-index", "-", "--", "-1", "^main", "main..v1.0", "main^@", "main^!", ":/fire", "main:main.go", "@{u}", "@{-1}",
		":(glob)**", ":(exclude)main.go", ":!main.go", "../../etc/passwd", "/etc/passwd", "main.go\x00x", "a\nb", "main\n--output=" + proof, strings.Repeat("a", 70_000), "\xff\xfe", "",
	}
	in := func(selection string) string { return `{ repository(name: "lab/kiln") { ` + selection + ` } }` }
	at := func(selection string) string { return in(`commit(rev: "") { ` + selection + ` }`) }
	documents := map[string]string{
		"rev":           in(`commit(rev: $x) { oid url }`),
		"inputRevspec":  in(`commit(rev: "main", inputRevspec: $x) { url tree { url } }`),
		"path":          at(`path(path: $x) { path }`),
		"tree":          at(`tree(path: $x) { entries(recursive: true) { path } history(first: 1) { nodes { oid } } }`),
		"file":          at(`file(path: $x) { content ... on GitBlob { blame(startLine: 1, endLine: 2) { rev } history(first: 1) { nodes { oid } } } }`),
		"behindAhead":   at(`behindAhead(revspec: $x) { behind ahead }`),
		"diff":          at(`diff(base: $x) { fileDiffs { totalCount } }`),
		"ancestor path": at(`ancestors(first: 2, path: $x) { nodes { oid } }`),
		"followed path": at(`ancestors(first: 2, path: $x, follow: true) { nodes { oid } }`),
		"message":       at(`ancestors(first: 2, query: $x) { nodes { oid } }`),
		"after":         at(`ancestors(first: 2, after: $x) { nodes { oid } }`),
		"before":        at(`ancestors(first: 2, before: $x) { nodes { oid } }`),
		"cursor":        at(`ancestors(first: 2, afterCursor: $x) { nodes { oid } }`),
		"base":          in(`comparison(base: $x, head: "main") { fileDiffs { totalCount } commits { totalCount } }`),
		"head":          in(`comparison(base: "main", head: $x) { fileDiffs { totalCount } }`),
		"diff path":     in(`comparison(base: "v1.0", head: "main") { commits(path: $x) { nodes { oid } } }`),
		"diff paths":    in(`comparison(base: "v1.0", head: "main") { fileDiffs(paths: [$x]) { totalCount } }`),
		"range":         in(`contributors(revisionRange: $x) { totalCount }`),
		"since":         in(`contributors(afterDate: $x) { totalCount }`),
		"of path":       in(`contributors(path: $x) { totalCount }`),
		"branches":      in(`branches(query: $x) { totalCount }`),
	}
	for name, document := range documents {
		for _, x := range hostile {
			answer := w.ask("query ($x: String!) "+document, map[string]any{"x": x})
			if strings.Contains(answer, "internal error") || !json.Valid([]byte(answer)) {
				t.Errorf("%s %.80q: got %.500s", name, x, answer)
			}
			if _, err := os.Stat(proof); err == nil {
				t.Fatalf("%s %q: git did as it was told", name, x)
			}
		}
	}
	// ids hold what a client says too
	repository := base64.StdEncoding.EncodeToString([]byte("Repository:1"))
	for _, x := range hostile {
		for kind, key := range map[string]map[string]string{"GitCommit": {"r": repository, "c": x}, "GitRef": {"r": repository, "v": x}} {
			body, err := json.Marshal(key)
			if err != nil {
				t.Fatal(err)
			}
			id := base64.StdEncoding.EncodeToString([]byte(kind + ":" + string(body)))
			answer := w.ask(`query ($id: ID!) { node(id: $id) { id } }`, map[string]any{"id": id})
			if strings.Contains(answer, "internal error") {
				t.Errorf("%s %.80q: got %.500s", kind, x, answer)
			}
		}
	}
	if _, err := os.Stat(proof); err == nil {
		t.Fatal("git did as an id told it")
	}
}
