package browse_test

import (
	"html"
	"mime"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// The path and the permalink of any file can be copied, the content of texts.
func TestCopyOfAnyFile(t *testing.T) {
	w := newWorld(t)
	w.kiln.Write("binary", "a\x00b")
	w.kiln.Write("vacant", "")
	w.kiln.Commit("Others")
	w.Sync("lab/kiln")
	for path, want := range map[string]string{
		"main.go": "path content permalink", "docs/guide.md": "path content permalink", "photo.png": "path permalink", "binary": "path permalink", "vacant": "path permalink",
	} {
		body := w.get("/lab/kiln/-/blob/" + path).body
		var got []string
		for _, m := range regexp.MustCompile(`data-copy="([a-z]*)"`).FindAllStringSubmatch(body, -1) {
			got = append(got, m[1])
		}
		if strings.Join(got, " ") != want || !strings.Contains(body, `data-text="`+path+`"`) {
			t.Errorf("%s: got the buttons %q, want %s", path, got, want)
		}
	}
}

// A file that is asked for as a download is one, of a name that does no harm, and its raw
// bytes are text as ever.
func TestDownloadOfFile(t *testing.T) {
	w := newWorld(t)
	const reversed = "kiln\u202egnp.exe"
	long := strings.Repeat("x", 240) + ".tar.gz"
	odd := map[string]string{
		"a\"b;c.txt": `a"b;c.txt`, "a\\b:c": "a%5Cb%3Ac", "a\r\nX-Evil: 1": "a__X-Evil%3A 1", reversed: "kiln_gnp.exe", "\xff.go": "_.go",
		"plan größe.txt": "plan größe.txt", long: strings.Repeat("x", 150) + strings.Repeat("x", 43) + ".tar.gz",
	}
	for name := range odd {
		w.kiln.Write(name, "clay\n")
	}
	w.kiln.Commit("Odd")
	w.Sync("lab/kiln")
	for path, want := range map[string]string{"main.go": "main.go", "photo.png": "photo.png", "page.html": "page.html", "docs/guide.md": "guide.md", "link": "link"} {
		odd[path] = want
	}
	for path, want := range odd {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			raw, got := w.ask(method, "/lab/kiln/-/raw/"+escape(path)), w.ask(method, "/lab/kiln/-/raw/"+escape(path)+"?as=download")
			kind, values, err := mime.ParseMediaType(got.header.Get("Content-Disposition"))
			if got.status != http.StatusOK || got.body != raw.body || err != nil || kind != "attachment" || values["filename"] != want {
				t.Errorf("%s %q: %d %q as %q, %v, want %q", method, path, got.status, got.body, got.header.Get("Content-Disposition"), err, want)
			}
			if h := got.header; h.Get("Content-Type") != "application/octet-stream" || h.Get("X-Content-Type-Options") != "nosniff" || h.Get("X-Evil") != "" || h.Get("Content-Length") != raw.header.Get("Content-Length") {
				t.Errorf("%s %q: the header is %v", method, path, h)
			}
			if raw.header.Get("Content-Type") != "text/plain; charset=utf-8" || raw.header.Get("Content-Disposition") != "" {
				t.Errorf("%s %q: the header of the raw file is %v", method, path, raw.header)
			}
		}
		body := w.get("/lab/kiln/-/blob/" + escape(path)).body
		m := regexp.MustCompile(`<a id="download" href="/under([^"]*)">`).FindStringSubmatch(body)
		if m == nil {
			t.Errorf("the page of %q leads to no download", path)
		} else if a := w.get(html.UnescapeString(m[1])); a.status != http.StatusOK || !strings.HasPrefix(a.header.Get("Content-Disposition"), "Attachment") {
			t.Errorf("the page of %q leads to %s: %d", path, m[1], a.status)
		}
	}
	// What is no file is none to keep.
	for path, want := range map[string]int{"docs": 200, "clay": 404, "nothing": 404} {
		if a := w.get("/lab/kiln/-/raw/" + path + "?as=download"); a.status != want || a.header.Get("Content-Disposition") != "" {
			t.Errorf("%s: %d %q, want %d", path, a.status, a.header.Get("Content-Disposition"), want)
		}
	}
	if a := w.get("/lab/secret/-/raw/plan.txt?as=download"); a.status != http.StatusNotFound || a.header.Get("Content-Disposition") != "" {
		t.Errorf("a hidden file: %d %q", a.status, a.header.Get("Content-Disposition"))
	}
}
