package web_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/httpapi/web"
)

func TestServeAsset(t *testing.T) {
	const forever = "public, max-age=31536000, immutable"
	for _, c := range []struct {
		name, version, encoding string
		contentType, cache      string
	}{
		{"style.css", web.AssetVersion(), "gzip, br", "text/css; charset=utf-8", forever},
		{"style.css", web.AssetVersion(), "", "text/css; charset=utf-8", forever},
		{"forms.js", web.AssetVersion(), "", "text/javascript; charset=utf-8", forever},
		{"icon.svg", "0123456789abcdef", "", "image/svg+xml", "no-cache"},
	} {
		r, w := httptest.NewRequest("GET", "/", nil), httptest.NewRecorder()
		r.Header.Set("Accept-Encoding", c.encoding)
		if !web.ServeAsset(w, r, c.version, c.name) {
			t.Errorf("%+v: not found", c)
			continue
		}
		body := w.Body.Bytes()
		if zipped := w.Header().Get("Content-Encoding") == "gzip"; zipped != strings.Contains(c.encoding, "gzip") {
			t.Errorf("%+v: compressed %t", c, zipped)
		} else if zipped {
			z, err := gzip.NewReader(bytes.NewReader(body))
			if err != nil {
				t.Fatalf("%+v: %v", c, err)
			}
			if body, err = io.ReadAll(z); err != nil {
				t.Fatalf("%+v: %v", c, err)
			}
		}
		h := w.Header()
		if len(body) == 0 || h.Get("Content-Type") != c.contentType || h.Get("Cache-Control") != c.cache || h.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%+v: %d bytes with %v", c, len(body), h)
		}
	}
	for _, name := range []string{"", "nothing.js", "../frame.html", "assets/style.css", "style.css/"} {
		if web.ServeAsset(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil), web.AssetVersion(), name) {
			t.Errorf("there is an asset %q", name)
		}
	}
}

// Files of others are those that ORIGIN.md tells of, with what may be done with
// them.
func TestVendor(t *testing.T) {
	origin, err := os.ReadFile("assets/vendor/ORIGIN.md")
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]string{}
	for _, row := range regexp.MustCompile(`(?m)^\| (\S+\.(?:js|css)) \|.*\| ([0-9a-f]{64}) \|$`).FindAllStringSubmatch(string(origin), -1) {
		told[row[1]] = row[2]
	}
	entries, err := os.ReadDir("assets/vendor")
	if err != nil {
		t.Fatal(err)
	}
	total, seen := int64(0), 0
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		total += info.Size()
		name, zipped := strings.CutSuffix(e.Name(), ".gz")
		if !zipped {
			continue
		}
		seen++
		w := httptest.NewRecorder()
		if !web.ServeAsset(w, httptest.NewRequest("GET", "/", nil), web.AssetVersion(), "vendor/"+name) {
			t.Errorf("%s is not served", name)
		}
		if got := fmt.Sprintf("%x", sha256.Sum256(w.Body.Bytes())); got != told[name] {
			t.Errorf("%s has the SHA-256 %s, ORIGIN.md tells %q", name, got, told[name])
		}
		if found := regexp.MustCompile(`[^\w.]eval\(|new Function\(`).Find(w.Body.Bytes()); found != nil {
			t.Errorf("%s has %s, which the policy forbids", name, found)
		}
	}
	if seen != len(told) || seen == 0 {
		t.Errorf("%d files, but ORIGIN.md tells of %d", seen, len(told))
	}
	if total > 1<<20 {
		t.Errorf("they make the binary %d bytes larger", total)
	}
	w := httptest.NewRecorder()
	if !web.ServeAsset(w, httptest.NewRequest("GET", "/", nil), "", "vendor/LICENSES.txt") || strings.Count(w.Body.String(), "Permission is hereby granted") < 20 {
		t.Errorf("the licences served are\n%s", w.Body)
	}
}

// A page names all modules that its scripts come to import, each once.
func TestPagesNameTheirModules(t *testing.T) {
	files, err := filepath.Glob("assets/*.js")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	var follow func(name string, seen map[string]bool)
	follow = func(name string, seen map[string]bool) {
		text, err := os.ReadFile("assets/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range strings.Split(string(text), `from "./`)[1:] {
			if module, _, _ := strings.Cut(part, `"`); !seen[module] {
				seen[module] = true
				follow(module, seen)
			}
		}
	}
	most := 0
	for _, file := range files {
		want := map[string]bool{}
		follow(filepath.Base(file), want)
		w := httptest.NewRecorder()
		if err := serve(w, httptest.NewRequest("GET", "/", nil), web.View{Page: "one.html", Scripts: []string{filepath.Base(file)}}); err != nil {
			t.Fatal(err)
		}
		got := map[string]bool{}
		named := regexp.MustCompile(`<link rel="modulepreload" href="/-/assets/`+web.AssetVersion()+`/([^"]+)" nonce="[^"]+">`).FindAllStringSubmatch(w.Body.String(), -1)
		for _, m := range named {
			got[m[1]] = true
		}
		if !maps.Equal(got, want) || len(got) != len(named) {
			t.Errorf("%s imports %v, the page names %v", file, want, named)
		}
		most = max(most, len(got))
	}
	if most < 15 {
		t.Errorf("at most %d modules are imported, want those of the search page", most)
	}
}
