package web_test

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/trawlsearch/trawl/httpapi/web"
)

var listPages = web.NewTemplates(fstest.MapFS{
	"p/list.html": {Data: []byte(`{{define "title"}}List{{end}}{{define "main"}}{{range .Data}}{{.}}{{end}}{{end}}`)},
}, "p", nil)

// list is a page of n KiB of text.
func list(n int) web.View {
	data := make([]string, n)
	for i := range data {
		data[i] = strings.Repeat("glaze, ", 1024/7+1)[:1024]
	}
	return web.View{Page: "list.html", Data: data}
}

func TestPageIsSentWhole(t *testing.T) {
	p, err := listPages.Render(httptest.NewRequest("GET", "/", nil), list(300), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	w, left := httptest.NewRecorder(), p.Bytes()
	p.Send(w, 0, func(n int64) {
		if n >= left {
			t.Errorf("%d bytes are left after a block, and %d were before", n, left)
		}
		left = n
	})
	if left != 0 || p.Bytes() != 0 || strings.Count(w.Body.String(), "glaze") != 300*146 {
		t.Errorf("%d bytes are left, and the page has %d words, want 0 and %d", left, strings.Count(w.Body.String(), "glaze"), 300*146)
	}
}

func TestPageThatIsTooLarge(t *testing.T) {
	_, err := listPages.Render(httptest.NewRequest("GET", "/", nil), list(web.MaxPageBytes>>10), nil, nil)
	if !errors.Is(err, web.ErrTooLarge) {
		t.Errorf("a page beyond the limit: %v, want %v", err, web.ErrTooLarge)
	}
}

// A template ends soon after its client left, and lets others go first until
// then.
func TestTemplateEndsWithItsClient(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r, steps := httptest.NewRequest("GET", "/", nil).WithContext(ctx), 0
	_, err := listPages.Render(r, list(3000), nil, func(ctx context.Context) error {
		if steps++; steps == 3 {
			cancel()
		}
		return ctx.Err()
	})
	if !errors.Is(err, context.Canceled) || steps != 3 {
		t.Errorf("the client left at step 3: ended at %d with %v", steps, err)
	}
	if _, err := listPages.Render(r, list(3000), nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("without steps: %v, want canceled", err)
	}
}

// A compressed page is the same page, and is held as small as it is sent.
func TestCompressedPage(t *testing.T) {
	z := gzip.NewWriter(io.Discard)
	p, err := listPages.Render(httptest.NewRequest("GET", "/", nil), list(3000), z, nil)
	if err != nil {
		t.Fatal(err)
	}
	if p.Bytes() > 300_000 {
		t.Errorf("the page takes %d bytes", p.Bytes())
	}
	w := httptest.NewRecorder()
	p.Send(w, 0, nil)
	plain, err := gzip.NewReader(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(plain)
	if n := strings.Count(string(text), "glaze"); err != nil || n != 3000*146 || w.Header().Get("Content-Encoding") != "gzip" {
		t.Errorf("%d words, %v, %v", n, err, w.Header())
	}
	if _, err := listPages.Render(httptest.NewRequest("GET", "/", nil), list(web.MaxPageBytes>>10), z, nil); !errors.Is(err, web.ErrTooLarge) {
		t.Errorf("a page beyond the limit: %v, want %v", err, web.ErrTooLarge)
	}
}
