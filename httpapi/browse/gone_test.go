package browse_test

import (
	"os"
	"strings"
	"testing"
)

// What search finds can be read when the source is gone: the page shows the text
// of the index and says what is missing. What only git knows is a page in the
// frame that says so.
func TestSourceThatIsGone(t *testing.T) {
	w := newWorld(t)
	head := w.kiln.run("rev-parse", "HEAD")
	if err := os.Rename(w.kiln.dir, w.kiln.dir+"-gone"); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/lab/kiln/-/blob/main.go?L3", "/lab/kiln@HEAD/-/blob/main.go?L3", "/lab/kiln@main/-/blob/main.go?L3", "/lab/kiln@" + head + "/-/blob/main.go?L3"} {
		got := w.get(path, "Accept", "text/html")
		if got.status != 200 || !strings.Contains(got.body, `<span class="k">package</span>`) || !strings.Contains(got.body, `<tr id="L3" class="hit">`) {
			t.Errorf("%s: got %d without the text: %s", path, got.status, text(got.body))
		}
		if !strings.Contains(text(got.body), "this is the text that was indexed") || strings.Contains(got.body, "/-/raw/") {
			t.Errorf("%s: the page does not say what is missing, or leads there: %s", path, got.body)
		}
	}
	for _, path := range []string{"/lab/kiln", "/lab/kiln/-/blob/photo.png", "/lab/kiln/-/blob/none", "/lab/kiln/-/blob/docs", "/lab/kiln@v1.0/-/blob/main.go", "/lab/kiln/-/commits", "/lab/kiln/-/commit/" + head} {
		got := w.get(path, "Accept", "text/html")
		if got.status != 503 || !strings.Contains(got.body, "cannot be found, so only what is indexed can be shown") || !strings.Contains(got.body, "<nav") || strings.Contains(got.body, w.dir) {
			t.Errorf("%s: got %d, want a page that says what is missing: %s", path, got.status, got.body)
		}
	}
	if got := w.get("/lab/secret/-/blob/main.go", "Accept", "text/html"); got.status != 404 {
		t.Errorf("what may not be seen: got %d", got.status)
	}
}
