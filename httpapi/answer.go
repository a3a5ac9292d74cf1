package httpapi

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"

	"github.com/trawlsearch/trawl/httpapi/compress"
)

// leastZipped is the size from which a body is worth compressing.
const leastZipped = 1 << 10

// WriteBody answers with a status and a body in pieces, compressed if the client
// allows. The content type is set already. That a client is gone is no error.
func WriteBody(w http.ResponseWriter, r *http.Request, status int, body ...[]byte) error {
	w.Header().Add("Vary", "Accept-Encoding")
	n := 0
	for _, piece := range body {
		n += len(piece)
	}
	if n < leastZipped || !compress.Accepts(r.Header.Get("Accept-Encoding")) {
		if n < leastZipped {
			body = [][]byte{slices.Concat(body...)}
		}
		w.WriteHeader(status)
		writeAll(w, body)
		return nil
	}
	w.Header().Set("Content-Encoding", "gzip")
	z, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
	if err != nil {
		return fmt.Errorf("compress answer: %w", err)
	}
	w.WriteHeader(status)
	writeAll(z, body)
	_ = z.Close()
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

// ServeJSON answers with a value as JSON, which no cache keeps.
func ServeJSON(w http.ResponseWriter, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode answer: %w", err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(append(body, '\n')) // a client that is gone misses nothing
	return nil
}
