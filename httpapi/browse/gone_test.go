package browse_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// gone is the page and answer for what only git knows.
const gone = "cannot be found, so only what is indexed can be shown"

// What search finds can be read when the source is gone: files, directories and
// bytes are those of before, from the index, and the pages say what is missing.
// What only git knows is a page in the frame that says so.
func TestSourceThatIsGone(t *testing.T) {
	w := newWorld(t)
	w.kiln.Write("marked.txt", "\xef\xbb\xbfmarked\n")
	w.kiln.Write("wide.txt", "\xff\xfew\x00i\x00d\x00e\x00\n\x00")
	w.kiln.Write("large.txt", strings.Repeat("bricks and clay\n", 40_000))
	w.kiln.Write("docs.txt", "\n") // sorted before the directory docs
	w.kiln.Commit("Write texts")
	w.Sync("lab/kiln")
	head := w.kiln.Git("rev-parse", "HEAD")
	raws := []string{"/lab/kiln/-/raw", "/lab/kiln/-/raw/docs", "/lab/kiln/-/raw/docs/a&b", "/lab/kiln/-/raw/main.go", "/lab/kiln@main/-/raw/main.go", "/lab/kiln@" + head + "/-/raw/docs/guide.md",
		"/lab/kiln/-/raw/link", "/lab/kiln/-/raw/marked.txt", "/lab/kiln/-/raw/large.txt", "/lab/kiln/-/raw/clay", "/lab/kiln/-/raw/none", "/lab/kiln/-/raw/main.go/x"}
	trees := []string{"/lab/kiln", "/lab/kiln@main", "/lab/kiln@" + head, "/lab/kiln/-/tree/docs", "/lab/kiln/-/tree/docs/a&b", "/lab/kiln?from=3", "/lab/kiln/-/tree/clay"}
	before := map[string]answer{}
	for _, path := range raws {
		before[path] = w.get(path, "Accept", "*/*")
	}
	for _, path := range trees {
		before[path] = w.get(path, "Accept", "text/html, */*")
	}
	if err := os.Rename(w.kiln.Dir, w.kiln.Dir+"-gone"); err != nil {
		t.Fatal(err)
	}
	for _, path := range raws {
		got, want := w.get(path, "Accept", "*/*", "Accept-Encoding", "identity"), before[path]
		if got.status != want.status || got.body != want.body || got.header.Get("Content-Type") != want.header.Get("Content-Type") {
			t.Errorf("%s: got %d %.200q, want %d %.200q as before", path, got.status, got.body, want.status, want.body)
		}
		if head := w.ask("HEAD", path, "Accept", "*/*"); head.status != want.status || head.header.Get("Content-Length") != got.header.Get("Content-Length") && strings.Contains(path, ".") {
			t.Errorf("HEAD %s: got %d and %q bytes, want %d and %q", path, head.status, head.header.Get("Content-Length"), want.status, got.header.Get("Content-Length"))
		}
	}
	table := regexp.MustCompile(`(?s)<table class="entries">.*</table>|<p>A submodule.*?</p>`)
	for _, path := range trees {
		got, want := w.get(path, "Accept", "text/html"), table.FindString(before[path].body)
		if got.status != 200 || want == "" || table.FindString(got.body) != want {
			t.Errorf("%s: got %d %s, want the entries of before: %s", path, got.status, got.body, want)
		}
		missing(t, path, got)
	}
	for _, path := range []string{"/lab/kiln/-/blob/main.go?L3", "/lab/kiln@HEAD/-/blob/main.go?L3", "/lab/kiln@main/-/blob/main.go?L3", "/lab/kiln@" + head + "/-/blob/main.go?L3"} {
		got := w.get(path, "Accept", "text/html")
		if got.status != 200 || !strings.Contains(got.body, `<span class="k">package</span>`) || !strings.Contains(got.body, `<tr id="L3" class="hit">`) {
			t.Errorf("%s: got %d without the text: %s", path, got.status, text(got.body))
		}
		missing(t, path, got)
	}
	for path, to := range map[string]string{"/lab/kiln/-/blob/docs": "/lab/kiln/-/tree/docs", "/lab/kiln/-/tree/main.go": "/lab/kiln/-/blob/main.go"} {
		if got := w.get(path, "Accept", "text/html"); got.status != 302 || !strings.HasSuffix(got.header.Get("Location"), to) {
			t.Errorf("%s: got %d to %q, want it to lead to %s", path, got.status, got.header.Get("Location"), to)
		}
	}
	for _, path := range []string{"/lab/kiln/-/blob/photo.png", "/lab/kiln@v1.0/-/blob/main.go", "/lab/kiln@v1.0", "/lab/kiln/-/commits", "/lab/kiln/-/commit/" + head} {
		got := w.get(path, "Accept", "text/html")
		if got.status != 503 || !strings.Contains(got.body, gone) || !strings.Contains(got.body, "<nav") || strings.Contains(got.body, w.Dir) {
			t.Errorf("%s: got %d, want a page that says what is missing: %s", path, got.status, got.body)
		}
	}
	// Bytes that the index does not have, and archives, which are of all files.
	for _, path := range []string{"/lab/kiln/-/raw/photo.png", "/lab/kiln/-/raw/wide.txt", "/lab/kiln@v1.0/-/raw/main.go", "/lab/kiln/-/raw?format=zip"} {
		got := w.get(path)
		if got.status != 503 || !strings.Contains(got.body, gone) || strings.Contains(got.body, w.Dir) {
			t.Errorf("%s: got %d %q, want 503", path, got.status, got.body)
		}
	}
	for path, status := range map[string]int{"/lab/kiln/-/blob/none": 404, "/lab/kiln/-/tree/docs/none": 404, "/lab/secret/-/blob/main.go": 404, "/lab/secret/-/raw/plan.txt": 404} {
		if got := w.get(path, "Accept", "text/html"); got.status != status {
			t.Errorf("%s: got %d, want %d", path, got.status, status)
		}
	}
}

// missing checks that a page says what it lacks and leads to nothing of that.
func missing(t *testing.T, path string, got answer) {
	t.Helper()
	if !strings.Contains(text(got.body), "this is what was indexed") {
		t.Errorf("%s: the page does not say what is missing: %s", path, got.body)
	}
	for _, to := range []string{"/-/commits", "/-/branches", "format=zip"} {
		if strings.Contains(got.body, to) {
			t.Errorf("%s: the page leads to %s", path, to)
		}
	}
}
