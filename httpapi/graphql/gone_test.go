package graphql_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What the index holds of a repository can be read when its source is gone. The
// rest says what is missing, and not where it was.
func TestSourceThatIsGone(t *testing.T) {
	w := newWorld(t)
	kiln := filepath.Join(w.Dir, "kiln")
	if err := os.Rename(kiln, kiln+"-gone"); err != nil {
		t.Fatal(err)
	}
	indexed := w.ask(`{ search(query: "repo:lab/kiln glaze") { results { results { ... on FileMatch { file { content } } } } } }`, nil)
	if strings.Contains(indexed, "errors") || !strings.Contains(indexed, "glaze") {
		t.Errorf("text that is indexed: got %s", indexed)
	}
	unread := w.ask(`{ repository(name: "lab/kiln") { commit(rev: "HEAD") { message } } }`, nil)
	if !strings.Contains(unread, "cannot be found, so only what is indexed can be read") || strings.Contains(unread, w.Dir) {
		t.Errorf("what git alone knows: got %s", unread)
	}
}
