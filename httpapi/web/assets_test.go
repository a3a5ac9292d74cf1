package web_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http/httptest"
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
