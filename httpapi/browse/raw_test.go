package browse_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/internal/gitrepo"
)

const mainGo = "package main\n\nfunc main() { println(\"new\") }\n"

func TestRaw(t *testing.T) {
	w := newWorld(t)
	head := w.kiln.Git("rev-parse", "HEAD")
	for _, tt := range []struct {
		method, path string
		status       int
		body         string
	}{
		// files
		{"GET", "/lab/kiln/-/raw/main.go", 200, mainGo},
		{"GET", "/lab/kiln@main/-/raw/main.go", 200, mainGo},
		{"GET", "/lab/kiln@HEAD/-/raw/main.go", 200, mainGo},
		{"GET", "/lab/kiln@/-/raw/main.go", 200, mainGo},
		{"GET", "/lab/kiln@" + head + "/-/raw/main.go", 200, mainGo},
		{"GET", "/lab/kiln@" + head[:9] + "/-/raw/main.go", 200, mainGo},
		{"GET", "/lab/kiln@v1.0/-/raw/main.go", 200, "package main\n\nfunc main() { println(\"<b>&\") }\n"},
		{"GET", "/lab/kiln@feature/-x/y/-/raw/docs/guide.md", 200, "# Firing\n"},
		{"GET", "/lab/kiln@HEAD~1/-/raw/docs/a&b/x.txt", 200, "x\n"},
		{"GET", "/lab/kiln/-/raw/docs%2Fguide.md", 200, "# Firing\n"},
		{"GET", "/lab/kiln/-/raw/page.html", 200, "<script>alert(1)</script>\n"},
		{"GET", "/lab/kiln/-/raw/photo.png", 200, "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"},
		{"HEAD", "/lab/kiln/-/raw/main.go", 200, ""},
		{"HEAD", "/lab/kiln/-/raw/nothing", 404, ""},

		// what leads elsewhere is shown, not followed
		{"GET", "/lab/kiln/-/raw/link", 200, "/etc/passwd"},
		{"GET", "/lab/kiln/-/raw/link/x", 404, "file does not exist: \"link/x\"\n"},
		{"GET", "/lab/kiln/-/raw/clay", 404, "\"clay\" is a submodule: commit 1111111111111111111111111111111111111111 of another repository\n"},

		// directories
		{"GET", "/lab/kiln/-/raw", 200, ".gitattributes\nclay\ndocs/\nlink\nmain.go\npage.html\nphoto.png\nrun.sh"},
		{"GET", "/lab/kiln/-/raw/docs", 200, "a&amp;b/\nguide.md"},
		{"HEAD", "/lab/kiln/-/raw", 200, ""},
		{"HEAD", "/lab/kiln/-/raw/docs", 200, ""},
		{"HEAD", "/lab/none/-/raw", 404, ""},

		// what is not there
		{"GET", "/lab/kiln/-/raw/nothing", 404, "file does not exist: \"nothing\"\n"},
		{"GET", "/lab/kiln/-/raw/main.go/x", 404, "file does not exist: \"main.go/x\"\n"},
		{"GET", "/lab/none/-/raw/main.go", 404, "repository not found\n"},
		{"GET", "/lab/secret/-/raw/plan.txt", 404, "repository not found\n"},
		{"GET", "/lab/secret@nothing/-/raw/nothing", 404, "repository not found\n"},
		{"GET", "/lab/kiln@nothing/-/raw/main.go", 404, "revision not found: \"nothing\"\n"},
		{"GET", "/lab/next/-/raw/main.go", 404, "Repository unavailable while cloning.\n"},
		{"GET", "/lab/empty/-/raw", 404, "the repository has no commit yet\n"},
		{"HEAD", "/lab/empty/-/raw", 200, ""},
		{"POST", "/lab/kiln/-/raw/main.go", 405, ""},

		// options, ranges and places outside
		{"GET", "/lab/kiln@--output=x/-/raw/main.go", 404, "revision not found: \"--output=x\"\n"},
		{"GET", "/lab/kiln@-/-/raw/main.go", 404, "revision not found: \"-\"\n"},
		{"GET", "/lab/kiln@v1.0..HEAD/-/raw/main.go", 404, "revision not found: \"v1.0..HEAD\"\n"},
		{"GET", "/lab/kiln@HEAD:docs/-/raw/guide.md", 404, "revision not found: \"HEAD:docs\"\n"},
		{"GET", "/lab/kiln@HEAD%0Av1.0/-/raw/main.go", 404, "revision not found: \"HEAD\\nv1.0\"\n"},
		{"GET", "/lab/kiln@%00/-/raw/main.go", 404, "revision not found: \"\\x00\"\n"},
		{"GET", "/lab/kiln/-/raw/--help", 404, "file does not exist: \"--help\"\n"},
		{"GET", "/lab/kiln/-/raw/%00", 404, "file does not exist: \"/\\x00\"\n"},
		{"GET", "/lab/kiln/-/raw/docs%5C..%5Cmain.go", 404, "file does not exist: \"docs\\\\..\\\\main.go\"\n"},
	} {
		got := w.ask(tt.method, tt.path)
		if got.status != tt.status || got.body != tt.body {
			t.Errorf("%s %s: got %d %q, want %d %q", tt.method, tt.path, got.status, got.body, tt.status, tt.body)
		}
		h := got.header
		if tt.status != 405 && (h.Get("Content-Type") != "text/plain; charset=utf-8" || h.Get("X-Content-Type-Options") != "nosniff" ||
			h.Get("X-Robots-Tag") != "noindex" || h.Get("Content-Disposition") != "") {
			t.Errorf("%s %s: header is %v, want plain text and no more", tt.method, tt.path, h)
		}
	}
	if got := w.ask("HEAD", "/lab/kiln/-/raw/main.go").header.Get("Content-Length"); got != fmt.Sprint(len(mainGo)) {
		t.Errorf("HEAD of a file: length %q, want %d", got, len(mainGo))
	}
}

// Paths that lead up are redirected to what they come to, which is always a
// path of this server.
func TestRawTraversal(t *testing.T) {
	w := newWorld(t)
	for _, path := range []string{
		"/lab/kiln/-/raw/../../../../etc/passwd", "/lab/kiln/-/raw/%2e%2e/%2e%2e/etc/passwd", "/lab/kiln/-/raw/docs/..%2f..%2f..%2fetc%2fpasswd",
		"/lab/kiln/-/raw//etc/passwd", "//example.org/-/raw/x", "/lab/kiln/-/raw/..", "/%2e%2e/lab/kiln/-/raw", "/lab/kiln/-/raw/docs/",
	} {
		got := w.get(path)
		to := got.header.Get("Location")
		if got.status != http.StatusMovedPermanently || !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") || strings.Contains(to, "..") {
			t.Errorf("%s: got %d to %q, want a redirect to a clean path", path, got.status, to)
		}
		if strings.Contains(got.body, "root:") {
			t.Errorf("%s: got %q", path, got.body)
		}
	}
}

func TestRawOfPrivate(t *testing.T) {
	w := newWorld(t, func(w *world) { w.Gate.Anonymous = auth.AnonymousNo })
	path := "/lab/secret/-/raw/plan.txt"
	if got := w.get(path); got.status != 401 || got.body != "Private mode requires authentication.\n" {
		t.Errorf("without a token: got %d %q, want 401", got.status, got.body)
	}
	if got := w.get(path, w.As("ann")...); got.status != 200 || got.body != "bury the clay\n" {
		t.Errorf("as ann: got %d %q, want the file", got.status, got.body)
	}
	missing := w.get("/lab/none/-/raw/plan.txt", w.As("bob")...)
	if got := w.get(path, w.As("bob")...); got.status != missing.status || got.body != missing.body {
		t.Errorf("as bob: got %d %q, want what there is for a repository that does not exist", got.status, got.body)
	}
	if got := w.get(path + "?token=" + w.Tokens["ann"]); got.status != 200 {
		t.Errorf("with a token in the URL: got %d, want 200", got.status)
	}
}

// files lists what an archive holds: "mode name text" or "mode name -> target".
func files(t *testing.T, format, text string) []string {
	t.Helper()
	var out []string
	if format == "zip" {
		z, err := zip.NewReader(strings.NewReader(text), int64(len(text)))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range z.File {
			r, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			data, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, fmt.Sprintf("%s %s %q", f.Mode(), f.Name, data))
		}
		return out
	}
	for r := tar.NewReader(strings.NewReader(text)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		switch h.Typeflag {
		case tar.TypeXGlobalHeader:
			continue
		case tar.TypeSymlink:
			data = []byte(h.Linkname)
		}
		out = append(out, fmt.Sprintf("%s %s %q", h.FileInfo().Mode(), h.Name, data))
	}
}

// Attributes of the repository change nothing in an archive.
func TestArchive(t *testing.T) {
	w := newWorld(t)
	whole := []string{
		`-rw-r--r-- .gitattributes "main.go export-ignore\ndocs/** eol=crlf text\n"`, `drwxr-xr-x clay/ ""`, `-rw-r--r-- docs/a&b/x.txt "x\n"`,
		`-rw-r--r-- docs/guide.md "# Firing\n"`, `Lrwxrwxrwx link "/etc/passwd"`, `-rw-r--r-- main.go "package main\n\nfunc main() { println(\"new\") }\n"`,
		`-rw-r--r-- page.html "<script>alert(1)</script>\n"`, `-rw-r--r-- photo.png "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"`, `-rwxr-xr-x run.sh "#!/bin/sh\n"`,
	}
	docs := []string{`-rw-r--r-- docs/a&b/x.txt "x\n"`, `-rw-r--r-- docs/guide.md "# Firing\n"`}
	for _, tt := range []struct {
		path, accept, format string
		want                 []string
	}{
		{"/lab/kiln/-/raw", "application/zip", "zip", whole},
		{"/lab/kiln/-/raw", "application/x-tar", "tar", whole},
		{"/lab/kiln/-/raw", "image/png, application/zip;q=0.5, */*", "zip", whole},
		{"/lab/kiln/-/raw?format=tar", "application/zip", "tar", whole},
		{"/lab/kiln@main/-/raw/docs?format=zip", "", "zip", docs},
		{"/lab/kiln/-/raw/docs?format=tar", "", "tar", docs},
		{"/lab/kiln/-/raw/docs/guide.md?format=zip", "", "zip", docs[1:]},
		{"/lab/kiln/-/raw/link?format=tar", "", "tar", whole[4:5]},
	} {
		got := w.get(tt.path, "Accept", tt.accept)
		if got.status != 200 || got.header.Get("Content-Disposition") != "Attachment; filename=kiln."+tt.format {
			t.Fatalf("%s: got %d, header %v", tt.path, got.status, got.header)
		}
		if list := files(t, tt.format, got.body); !slices.Equal(list, tt.want) {
			t.Errorf("%s as %s:\n got %q\nwant %q", tt.path, tt.format, list, tt.want)
		}
	}
	for _, path := range []string{"/lab/kiln/-/raw/nothing?format=zip", "/lab/kiln/-/raw/clay?format=tar", "/lab/secret/-/raw?format=zip"} {
		if got := w.get(path); got.status != 404 || got.header.Get("Content-Disposition") != "" {
			t.Errorf("%s: got %d and %v, want 404 and no attachment", path, got.status, got.header)
		}
	}
	for _, accept := range []string{"*/*", "text/plain, application/zip", "text/html,*/*;q=0.8", ";", "application/zipper"} {
		if got := w.get("/lab/kiln/-/raw/main.go", "Accept", accept); got.body != mainGo {
			t.Errorf("Accept %q: got %.20q, want the file", accept, got.body)
		}
	}
	if got := w.ask("HEAD", "/lab/kiln/-/raw?format=zip"); got.status != 200 || got.header.Get("Content-Type") != "application/zip" {
		t.Errorf("HEAD of an archive: got %d, %v", got.status, got.header)
	}
}

// hostile makes a commit of a tree with names that git itself would not make.
func hostile(s *gitrepo.Repo, names ...string) {
	blob := s.Feed("clay\n", "hash-object", "-w", "--stdin")
	id := make([]byte, 20)
	if _, err := fmt.Sscanf(blob, "%x", &id); err != nil {
		s.Fatal(err)
	}
	var tree bytes.Buffer
	for _, n := range names {
		fmt.Fprintf(&tree, "100644 %s\x00%s", n, id)
	}
	oid := s.Feed(tree.String(), "hash-object", "-w", "-t", "tree", "--literally", "--stdin")
	s.Git("update-ref", "refs/heads/main", s.Feed("Odd names\n", "commit-tree", oid))
}

var oddNames = []string{
	"\"><img src=x onerror=alert(1)>", "%2e%2e", "--output=x", "..", ".git", "a\nb: c\r\nX-Evil: 1", "a\tb", "bad\xff\xfeutf", "javascript:alert(1)",
	"{{.}}", strings.Repeat("n", 4096), `..\..\up`, "C:",
}

func TestHostileNames(t *testing.T) {
	w := newWorld(t)
	odd := w.git("odd")
	slices.Sort(oddNames)
	hostile(odd, oddNames...)
	w.AddSource("lab/odd=" + odd.Dir)
	w.Sync("lab/odd")
	for _, name := range oddNames {
		got := w.get("/lab/odd/-/raw/" + escape(name))
		switch name {
		case "..":
			if got.status != http.StatusMovedPermanently || got.header.Get("Location") != "/lab/odd/-" {
				t.Errorf("raw %q: got %d to %q", name, got.status, got.header.Get("Location"))
			}
		default:
			if got.status != 200 || got.body != "clay\n" || got.header.Get("X-Evil") != "" {
				t.Errorf("raw %q: got %d %q", name, got.status, got.body)
			}
		}
	}
	for _, format := range []string{"zip", "tar"} {
		list := files(t, format, w.get("/lab/odd/-/raw?format="+format).body)
		if len(list) != len(oddNames) {
			t.Errorf("%s has %d files, want %d: %q", format, len(list), len(oddNames), list)
		}
		for _, f := range list {
			if strings.Contains(f, " .. ") || strings.Contains(f, `\`+`..\`) || strings.Contains(f, " C: ") {
				t.Errorf("%s holds %q, which leads out", format, f)
			}
		}
	}
}

// A client that goes away takes what works for it along.
func TestClientGone(t *testing.T) {
	if testing.Short() {
		t.Skip("makes large pages for slow clients")
	}
	w := newWorld(t)
	big := w.git("big")
	noise := make([]byte, 24<<20)
	rand.NewChaCha8([32]byte{}).Read(noise)
	big.Write("noise", string(noise))
	big.Commit("Make noise")
	w.AddSource("lab/big=" + big.Dir)
	w.Sync("lab/big")
	for _, path := range []string{"/lab/big/-/raw/noise", "/lab/big/-/raw?format=zip", "/lab/big/-/raw?format=tar"} {
		ctx, cancel := context.WithCancel(t.Context())
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := w.Client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(resp.Body, make([]byte, 1000)); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		cancel()
		resp.Body.Close()
	}
	if got := w.get("/lab/big/-/raw/noise"); got.body != string(noise) || got.header.Get("Content-Length") != fmt.Sprint(len(noise)) {
		t.Errorf("the file has %d bytes, length %s; want %d", len(got.body), got.header.Get("Content-Length"), len(noise))
	}
}

// escape writes every byte as URLs do.
func escape(name string) string {
	var b strings.Builder
	for i := range len(name) {
		fmt.Fprintf(&b, "%%%02X", name[i])
	}
	return b.String()
}
