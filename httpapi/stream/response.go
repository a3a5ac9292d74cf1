package stream

import (
	"compress/gzip"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/trawlsearch/trawl/httpapi/compress"
	"github.com/trawlsearch/trawl/httpapi/stream/event"
)

// Response is the response of a stream. It leaves event by event, compressed if
// the client allows. One of which nothing had to leave before its end is sent as
// a whole, with its length: that is one write, and the client need not wait for
// the end of the request. A whole one that is small is not compressed. It is used by one
// goroutine.
type Response struct {
	w   http.ResponseWriter
	ctl *http.ResponseController
	// whole is what was written as long as nothing has left, in memory of events.
	whole  []byte
	left   bool
	events *eventPool
	// mayZip says that the client takes gzip and nothing is compressed yet. zip is nil
	// then, and when nothing will be.
	mayZip      bool
	zip         *gzip.Writer
	compressors *compress.Pool
	// patience is how long pieceBytes of an event may take to leave, until about
	// when that was last allowed.
	patience time.Duration
	until    time.Time
	failed   bool
}

// The values of headers that every stream has, which all share.
var (
	eventStream = []string{"text/event-stream"}
	noCache     = []string{"no-cache"}
	noBuffering = []string{"no"}
	keepAlive   = []string{"keep-alive"}
)

// NewResponse sets the headers of a stream. They leave with the first event. The caller
// calls Release.
func (e *Endpoint) NewResponse(w http.ResponseWriter, r *http.Request) *Response {
	out := &Response{w: w, ctl: http.NewResponseController(w), compressors: e.o.Compressors, events: &e.events, patience: e.o.WriteTimeout}
	if s, ok := r.Context().Value(http.ServerContextKey).(*http.Server); ok && s.WriteTimeout == out.patience {
		out.until = time.Now().Add(out.patience) // the server has just set that deadline
	}
	h := w.Header()
	h["Content-Type"] = eventStream
	// What a handler has said is to be kept nowhere stays so; else securityHeaders has
	// set another value.
	if h.Get("Cache-Control") != "no-store" {
		h["Cache-Control"] = noCache
	}
	h["X-Accel-Buffering"] = noBuffering
	h.Add("Vary", "Accept-Encoding")
	if r.ProtoMajor == 1 {
		h["Connection"] = keepAlive
	}
	out.mayZip = compress.Accepts(r.Header.Get("Accept-Encoding"))
	return out
}

// Send implements event.Output, as do Flush and End.
func (r *Response) Send(event []byte) error { return r.check(r.writeEvent(event)) }

// Flush makes what was written leave.
func (r *Response) Flush() error {
	if err := r.compress(); err != nil {
		return r.check(err)
	}
	if r.zip != nil {
		if err := r.zip.Flush(); err != nil {
			return r.check(err)
		}
	}
	return r.check(r.leave())
}

// compress has what was written, and all that follows, leave compressed if it may. When
// too many streams are compressed already, this one is not.
func (r *Response) compress() error {
	if !r.mayZip {
		return nil
	}
	r.mayZip = false
	if r.zip = r.compressors.Get(plain{r}); r.zip == nil {
		return nil
	}
	r.w.Header().Set("Content-Encoding", "gzip")
	kept := r.whole
	r.whole = nil
	_, err := r.zip.Write(kept)
	r.events.put(kept)
	return err
}

// wholeBytes is how long an answer may be that is sent as a whole: it fits the memory
// of an event, and leaves at once as a piece of an event does.
const wholeBytes = event.UsualBytes

// plain writes what is not to be compressed, or has been.
type plain struct{ r *Response }

func (p plain) Write(piece []byte) (int, error) {
	r := p.r
	if !r.left && len(r.whole)+len(piece) <= wholeBytes {
		if r.whole == nil {
			r.whole = r.events.get()
		}
		r.whole = append(r.whole, piece...)
		return len(piece), nil
	}
	if err := r.begin(); err != nil {
		return 0, err
	}
	return r.w.Write(piece)
}

// begin writes what was kept.
func (r *Response) begin() error {
	r.left = true
	if len(r.whole) == 0 {
		return nil
	}
	_, err := r.w.Write(r.whole)
	r.events.put(r.whole)
	r.whole = nil
	return err
}

// leave has all that was written leave.
func (r *Response) leave() error { return errors.Join(r.begin(), r.ctl.Flush()) }

func (r *Response) check(err error) error {
	if err == nil {
		return nil
	}
	r.failed = true
	return fmt.Errorf("send event: %w", err)
}

// pieceBytes is how much of an event is written at once: a client at 1 KB/s is
// slow, and not gone, while large events leave.
const pieceBytes = 48 << 10

func (r *Response) writeEvent(event []byte) error {
	for piece := range slices.Chunk(event, pieceBytes) {
		if err := r.extend(time.Now()); err != nil {
			return err
		}
		if err := r.writePiece(piece); err != nil {
			return err
		}
	}
	return nil
}

func (r *Response) writePiece(piece []byte) error {
	if len(r.whole)+len(piece) >= compress.Least {
		if err := r.compress(); err != nil {
			return err
		}
	}
	if r.zip == nil {
		_, err := plain{r}.Write(piece)
		return err
	}
	_, err := r.zip.Write(piece)
	return err
}

// extend sets the write deadline of the connection: a client that vanished must
// not hold its search. Setting it costs as much as writing a small event, so it
// may be off by an eighth.
func (r *Response) extend(now time.Time) error {
	if r.until.Sub(now) > r.patience*7/8 {
		return nil
	}
	r.until = now.Add(r.patience)
	err := r.ctl.SetWriteDeadline(r.until)
	if errors.Is(err, http.ErrNotSupported) {
		return nil
	}
	return err
}

// End has the response end with what was written.
func (r *Response) End() error {
	if r.failed {
		return nil
	}
	if r.zip != nil {
		if err := r.zip.Close(); err != nil {
			return r.check(err)
		}
	}
	if !r.left {
		r.w.Header().Set("Content-Length", strconv.Itoa(len(r.whole)))
	}
	return r.check(r.leave())
}

// Release gives back what a response works with, whether it has ended or not.
func (r *Response) Release() {
	r.events.put(r.whole)
	r.whole = nil
	if r.zip != nil {
		r.compressors.Put(r.zip)
		r.zip = nil
	}
}

// canFlush reports whether what is written to w can be made to leave.
func canFlush(w http.ResponseWriter) bool {
	for {
		switch t := w.(type) {
		case http.Flusher, interface{ FlushError() error }:
			return true
		case interface{ Unwrap() http.ResponseWriter }:
			w = t.Unwrap()
		default:
			return false
		}
	}
}
