package browse_test

import (
	"bytes"
	"image"
	"image/png"
	"net/http"
	"strings"
	"testing"
)

// svg is an image that would like to be a page.
const svg = `<?xml version="1.0"?><!-- x --><!DOCTYPE svg><svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>alert(1)</script><rect width="9" height="9" onclick="alert(1)"/></svg>`

func pngBytes(t *testing.T) string {
	t.Helper()
	var out bytes.Buffer
	if err := png.Encode(&out, image.NewGray(image.Rect(0, 0, 7, 5))); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// withReadmes adds lab/read, with READMEs and images.
func withReadmes(w *world) {
	w.Helper()
	s := w.git("read")
	s.Write("README", "the other\n")
	s.Write("readme.md", "# Old\n")
	s.Commit("Old")
	s.Write("readme.md", "# Kiln\n\n[guide](docs/guide.md#fire) ![kiln](img/kiln.png) <script>alert(1)</script> [x](javascript:alert(1)) [up](../../x)\n\n<img src=\"img/kiln.svg\" onerror=\"alert(1)\">\n</div></main>\n")
	s.Write("main.go", "package main\n")
	s.Write("x.py", "pass\n")
	s.Write("docs/Readme.markdown", "See [home](../readme.md) and [next](b/c.md).\n\n```go\nfunc glaze() string { return \"<b>\" }\n```\n")
	s.Write("plain/README.txt", "a <b> & \u202ec\n")
	s.Write("long/README.md", strings.Repeat("long ", 40_000))
	s.Write("deep/README.md", strings.Repeat("> ", 1000))
	s.Write("binary/README.md", "a\x00b")
	s.Write("img/kiln.png", pngBytes(w.TB.(*testing.T)))
	s.Write("img/kiln.svg", svg)
	s.Write("img/not.png", "<html><script>alert(1)</script></html>")
	s.Write("img/pixels.txt", pngBytes(w.TB.(*testing.T)))
	s.Write("img/large.svg", svg+strings.Repeat("<!-- -->\n", 40_000))
	s.Commit("Kiln <b>")
	w.AddSource("lab/read=" + s.Dir)
	w.Sync("lab/read")
}

func TestReadme(t *testing.T) {
	w := newWorld(t, withReadmes)
	for path, want := range map[string][]string{
		"/lab/read": {`<h2 id="readme"><a href="/under/lab/read/-/blob/readme.md">readme.md</a></h2>`, `<h3 id="md-kiln">Kiln</h3>`, `<a href="/under/lab/read/-/blob/docs/guide.md#md-fire">guide</a>`,
			`<img src="/under/lab/read/-/raw/img/kiln.png?as=image" alt="kiln"`, `<img src="/under/lab/read/-/raw/img/kiln.svg?as=image" alt="kiln.svg"`, "<a>up</a>",
			"Go ", "Python ", "Last commits", "Kiln &lt;b&gt;", `<a href="/under/lab/read/-/commits">All commits</a>`},
		"/lab/read@main~1":       {`<h3 id="md-old">Old</h3>`, `href="/under/lab/read@main~1/-/blob/readme.md"`},
		"/lab/read@main":         {`src="/under/lab/read@main/-/raw/img/kiln.png?as=image"`, `href="/under/lab/read@main/-/blob/docs/guide.md#md-fire"`},
		"/lab/read/-/tree/docs":  {`<a href="/under/lab/read/-/blob/readme.md">home</a>`, `<a href="/under/lab/read/-/blob/docs/b/c.md">next</a>`, `<pre><code><span class="k">func</span>`, `<span class="s">&#34;&lt;b&gt;&#34;</span>`},
		"/lab/read/-/tree/plain": {"<pre>a &lt;b&gt; &amp; <span class=\"odd\" data-c=\"U+202E\"></span>c\n</pre>"},
		"/lab/read/-/tree/long":  {`/-/blob/long/README.md">README.md`, "It is too long to be shown here."},
		"/lab/read/-/tree/deep":  {"It is too long, or nests too deeply, to be shown here."},
	} {
		got := w.get(path)
		for _, part := range want {
			if !strings.Contains(got.body, part) {
				t.Errorf("%s: the page has no %s:\n%s", path, part, got.body)
			}
		}
		if strings.Contains(got.body, "<script>alert") || strings.Contains(got.body, "onerror") || strings.Count(got.body, "</main>") != 1 || strings.Contains(got.body, "javascript:") {
			t.Errorf("%s: the page has what the README wrote:\n%s", path, got.body)
		}
	}
	for _, path := range []string{"/lab/read/-/tree/binary", "/lab/read/-/tree/img", "/lab/kiln"} {
		if got := w.get(path); got.status != 200 || strings.Contains(got.body, `id="readme"`) {
			t.Errorf("%s: got %d with a README", path, got.status)
		}
	}
}

// An image is what its bytes say, and nothing that a browser could run.
func TestImages(t *testing.T) {
	w := newWorld(t, withReadmes)
	for _, c := range []struct {
		path   string
		header []string
		status int
		kind   string
	}{
		{"/lab/read/-/raw/img/kiln.png?as=image", nil, 200, "image/png"},
		{"/lab/read/-/raw/img/pixels.txt?as=image", nil, 200, "image/png"},
		{"/lab/read/-/raw/img/kiln.svg?as=image", nil, 200, "image/svg+xml"},
		{"/lab/read/-/raw/img/large.svg?as=image", nil, 200, "image/svg+xml"},
		{"/lab/read/-/raw/img/kiln.svg?as=image", []string{"Sec-Fetch-Dest", "image"}, 200, "image/svg+xml"},
		{"/lab/read/-/raw/img/kiln.svg?as=image", []string{"Sec-Fetch-Dest", "document"}, 200, "text/plain; charset=utf-8"},
		{"/lab/read/-/raw/img/kiln.svg?as=image", []string{"Sec-Fetch-Dest", "iframe"}, 200, "text/plain; charset=utf-8"},
		{"/lab/read/-/raw/img/kiln.svg", nil, 200, "text/plain; charset=utf-8"},
		{"/lab/read/-/raw/img/kiln.png", nil, 200, "text/plain; charset=utf-8"},
		{"/lab/read/-/raw/img/not.png?as=image", nil, http.StatusUnsupportedMediaType, ""},
		{"/lab/read/-/raw/main.go?as=image", nil, http.StatusUnsupportedMediaType, ""},
		{"/lab/read/-/raw/none.png?as=image", nil, 404, ""},
	} {
		got := w.get(c.path, c.header...)
		if got.status != c.status || c.kind != "" && got.header.Get("Content-Type") != c.kind {
			t.Errorf("%s with %q: %d %s, want %d %s", c.path, c.header, got.status, got.header.Get("Content-Type"), c.status, c.kind)
		}
		if policy := got.header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "sandbox") || strings.Contains(policy, "script") {
			t.Errorf("%s: policy %q", c.path, policy)
		}
		if c.status == 200 && got.header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: may be sniffed", c.path)
		}
	}
	for path, want := range map[string]string{
		"/lab/read/-/blob/img/kiln.png":      `<img src="/under/lab/read/-/raw/img/kiln.png?as=image" alt="kiln.png">`,
		"/lab/read@main/-/blob/img/kiln.svg": `<img src="/under/lab/read@main/-/raw/img/kiln.svg?as=image" alt="kiln.svg">`,
		"/lab/read/-/blob/img/not.png":       "&lt;",
	} {
		if got := w.get(path); !strings.Contains(got.body, want) || strings.Contains(got.body, "<script>alert") || strings.Contains(path, "not") && strings.Contains(got.body, "<img") {
			t.Errorf("%s: the page has no %s:\n%s", path, want, got.body)
		}
	}
	if got := w.get("/lab/read/-/blob/img/kiln.svg"); !strings.Contains(text(got.body), "alert(1)") {
		t.Error("the source of an SVG is not shown")
	}
}

// Markdown is shown as it is meant, and as it is written where lines are asked for.
func TestRenderedFile(t *testing.T) {
	w := newWorld(t, withReadmes)
	const file, source = "/lab/read/-/blob/docs/Readme.markdown", `id="source"`
	const rendered = `See <a href="/under/lab/read/-/blob/readme.md">home</a> and <a href="/under/lab/read/-/blob/docs/b/c.md">next</a>.`
	got := w.get(file).body
	if !strings.Contains(got, rendered) || strings.Contains(got, source) || !strings.Contains(got, `<a href="/under`+file+`?view=source">Source</a>`) {
		t.Errorf("the page is\n%s", got)
	}
	for _, query := range []string{"?view=source", "?L1", "?L1-2&q=x", "?q=home", "?find=home", "?from=1"} {
		got := w.get(file + query).body
		if strings.Contains(got, rendered) || !strings.Contains(got, source) || !strings.Contains(got, `<a href="/under`+file+`">Rendered</a>`) {
			t.Errorf("%s is\n%s", query, got)
		}
	}
	if got := w.get("/lab/read/-/blob/readme.md").body; !strings.Contains(got, `<h3 id="md-kiln">Kiln</h3>`) || strings.Contains(got, "<script>alert") || strings.Contains(got, "onerror") || strings.Count(got, "</main>") != 1 || strings.Contains(got, "javascript:") {
		t.Errorf("the page has what the file wrote:\n%s", got)
	}
	// What cannot be rendered is shown as it is written.
	for path, link := range map[string]bool{"/lab/read/-/blob/long/README.md": false, "/lab/read/-/blob/deep/README.md": false, "/lab/read/-/blame/docs/Readme.markdown": false, "/lab/read/-/blob/main.go": false} {
		if got := w.get(path).body; !strings.Contains(got, source) || strings.Contains(got, `class="prose"`) || strings.Contains(got, ">Rendered</a>") != link {
			t.Errorf("%s is\n%s", path, got)
		}
	}
}
