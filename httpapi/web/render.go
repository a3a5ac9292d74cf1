package web

import (
	"compress/gzip"
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"time"

	"github.com/trawlsearch/trawl/httpapi/auth"
)

// MaxPageBytes is the size of the largest page. Pages bound what they list, so a
// larger one is a bug of its template or of the data.
const MaxPageBytes = 4 << 20

// blockBytes is the size of a piece of a page. Between two of them the template
// stops for what else there is to do.
const blockBytes = 64 << 10

// ErrTooLarge says that a page is larger than MaxPageBytes.
var ErrTooLarge = fmt.Errorf("the page has more than %d bytes", MaxPageBytes)

// Page is a rendered page.
type Page struct {
	status int
	policy string
	blocks [][]byte
	bytes  int64
	// written is how much the template wrote, and zip what compresses it, nil for none.
	written int64
	zip     *gzip.Writer
	zipped  bool
	// step is called after each blockBytes of the template's output.
	step func() error
}

// Render renders a page whole, so that an error can still become the answer.
// The template ends when the context of the request does. It calls step, which
// may be nil, after each 64 KiB, and ends with its error. With a compressor, which is
// used until Render returns, the page is held and sent compressed.
func (t Templates) Render(r *http.Request, v View, zip *gzip.Writer, step func(context.Context) error) (*Page, error) {
	a := auth.From(r.Context())
	f := Frame{View: v, SiteAdmin: a.SiteAdmin(), Nonce: rand.Text(), Version: AssetVersion()}
	if a.User != nil {
		f.User = a.User.Name
	}
	parse := t[v.Page]
	if parse == nil {
		return nil, fmt.Errorf("no page %q", v.Page)
	}
	p := &Page{status: max(v.Status, http.StatusOK), policy: f.policy(), step: func() error {
		if step == nil {
			return r.Context().Err()
		}
		return step(r.Context())
	}}
	if p.zip = zip; zip != nil {
		p.zipped = true
		zip.Reset(stored{p})
	}
	err := parse().Execute(p, f)
	if err == nil && zip != nil {
		err = zip.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("render %s: %w", v.Page, err)
	}
	p.step, p.zip = nil, nil
	return p, nil
}

// Write takes the output of the template.
func (p *Page) Write(text []byte) (int, error) {
	before := p.written
	if p.written += int64(len(text)); p.written > MaxPageBytes {
		return 0, ErrTooLarge
	}
	for range p.written/blockBytes - before/blockBytes {
		if err := p.step(); err != nil {
			return 0, err
		}
	}
	if p.zip != nil {
		return p.zip.Write(text)
	}
	return stored{p}.Write(text)
}

// stored is where a page keeps what is to be sent.
type stored struct{ *Page }

// Write never copies earlier output: a growing buffer would hold up to three times its
// text.
func (p stored) Write(text []byte) (int, error) {
	n := len(text)
	p.bytes += int64(n)
	for len(text) > 0 {
		last := len(p.blocks) - 1
		if last < 0 || len(p.blocks[last]) == cap(p.blocks[last]) {
			p.add(len(text))
			continue
		}
		free := cap(p.blocks[last]) - len(p.blocks[last])
		taken := min(free, len(text))
		p.blocks[last] = append(p.blocks[last], text[:taken]...)
		text = text[taken:]
	}
	return n, nil
}

// add begins another block. The first is small, as most pages are.
func (p stored) add(least int) {
	size := blockBytes
	if len(p.blocks) == 0 {
		size = min(max(least, 8<<10), blockBytes)
	}
	p.blocks = append(p.blocks, make([]byte, 0, size))
}

// Bytes is the size of what is still to be sent.
func (p *Page) Bytes() int64 { return p.bytes }

// Send answers with the page, which has so long to leave. It calls sent after
// each block with the bytes that are left; what was sent is held no longer. A
// client that is gone misses nothing, so an error of the connection ends Send
// and is not returned.
func (p *Page) Send(w http.ResponseWriter, within time.Duration, sent func(left int64)) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", p.policy)
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	if p.zipped {
		h.Set("Content-Encoding", "gzip")
	}
	if within > 0 {
		// A server without deadlines is one of a test.
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(within))
	}
	w.WriteHeader(p.status)
	for i, block := range p.blocks {
		if _, err := w.Write(block); err != nil {
			return
		}
		p.blocks[i] = nil
		if p.bytes -= int64(len(block)); sent != nil {
			sent(p.bytes)
		}
	}
}
