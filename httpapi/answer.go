package httpapi

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"

	"github.com/trawlsearch/trawl/httpapi/compress"
)

// zippedWrites is how much of a compressed body is written at once. A compressor writes
// some hundred bytes at a time.
const zippedWrites = 16 << 10

// compressors are those of a server, by the size of what they compress: a download that a
// client reads slowly keeps its own for minutes, and there are few for those.
type compressors struct{ answers, downloads *compress.Pool }

const (
	// largeBody is the size from which a body is a download.
	largeBody = 1 << 20
	// mostDownloads is how many downloads are compressed at once.
	mostDownloads = 4
)

// newCompressors returns so many compressors in all, of which an eighth is for downloads, and
// one of each at least.
func newCompressors(all int) compressors {
	downloads := max(1, min(all/8, mostDownloads))
	return compressors{compress.NewPool(max(1, all-downloads)), compress.NewPool(downloads)}
}

func (c compressors) pool(size int64) *compress.Pool {
	if size > largeBody {
		return c.downloads
	}
	return c.answers
}

// of returns a compressor for an answer of so many bytes, which goes back to the pool of that
// size. It is nil if the answer leaves as it is: see mayZip, or too many are in use.
func (c compressors) of(w http.ResponseWriter, r *http.Request, size int64) *gzip.Writer {
	w.Header().Add("Vary", "Accept-Encoding")
	if !mayZip(r, size) {
		return nil
	}
	return c.pool(size).Get(io.Discard)
}

// SetLength sets the headers of an answer to HEAD about a body of so many bytes. The length of
// one that GET may answer compressed is not known.
func SetLength(w http.ResponseWriter, r *http.Request, size int64) {
	w.Header().Add("Vary", "Accept-Encoding")
	if !mayZip(r, size) {
		w.Header().Set("Content-Length", strconv.FormatInt(size, 10))
	}
}

// mayZip reports whether the client takes an answer of so many bytes compressed, and that is
// worth it. A range is one of the bytes as they are.
func mayZip(r *http.Request, size int64) bool {
	return size >= compress.Least && r.Header.Get("Range") == "" && compress.Accepts(r.Header.Get("Accept-Encoding"))
}

// Body is the body of an answer that is text. It leaves while it is written, compressed if
// the client allows. It is used by one goroutine.
type Body struct {
	w io.Writer
	// zip is nil for a body that leaves as it is.
	zip  *gzip.Writer
	out  *bufio.Writer
	pool *compress.Pool
}

// NewBody returns the body of an answer of so many bytes before it is compressed, and sets
// the headers that say how it leaves. The caller calls Release.
func NewBody(w http.ResponseWriter, r *http.Request, size int64) *Body {
	from := newCompressors(1) // of a handler that is called by itself
	if s := recordOf(r.Context()).server; s != nil {
		from = s.compressors
	}
	b := &Body{w: w, pool: from.pool(size)}
	if b.zip = from.of(w, r, size); b.zip != nil {
		b.out = bufio.NewWriterSize(w, int(min(size, zippedWrites)))
		b.zip.Reset(b.out)
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Del("Content-Length")
	}
	return b
}

// Compressed reports whether the body leaves compressed. Its length is not known then.
func (b *Body) Compressed() bool { return b.zip != nil }

// Write writes a part of the body.
func (b *Body) Write(p []byte) (int, error) {
	if b.zip == nil {
		return b.w.Write(p)
	}
	return b.zip.Write(p)
}

// End ends a body that is whole.
func (b *Body) End() error {
	if b.zip == nil {
		return nil
	}
	if err := b.zip.Close(); err != nil {
		return err
	}
	return b.out.Flush()
}

// Release gives back what the body works with, whether it has ended or not.
func (b *Body) Release() {
	if b.zip != nil {
		b.pool.Put(b.zip)
		b.zip = nil
	}
}

// WriteBody answers with a status and a body in pieces, compressed if the client
// allows. The content type is set already. That a client is gone is no error.
func WriteBody(w http.ResponseWriter, r *http.Request, status int, body ...[]byte) error {
	n := 0
	for _, piece := range body {
		n += len(piece)
	}
	if n < compress.Least {
		body = [][]byte{slices.Concat(body...)}
	}
	b := NewBody(w, r, int64(n))
	defer b.Release()
	w.WriteHeader(status)
	writeAll(b, body)
	_ = b.End()
	return nil
}

// writeAll writes pieces until one cannot leave.
func writeAll(w io.Writer, body [][]byte) {
	for _, piece := range body {
		if _, err := w.Write(piece); err != nil {
			return
		}
	}
}

// ServeJSON answers with a value as JSON, which no cache keeps. It leaves compressed if the
// client allows: below /.api/ a session counts only for requests that no other site can
// cause, and elsewhere an answer shows nothing of its address, so nobody sees the sizes of
// answers to queries of their own beside what another may see.
func ServeJSON(w http.ResponseWriter, r *http.Request, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode answer: %w", err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	return WriteBody(w, r, http.StatusOK, append(body, '\n'))
}
