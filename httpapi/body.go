package httpapi

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

// body is the response of a stream. It leaves event by event, compressed if
// the client allows. One of which nothing had to leave before its end is sent as
// a whole, with its length: that is one write, and the client need not wait for
// the end of the request. It is used by one goroutine.
type body struct {
	w   http.ResponseWriter
	ctl *http.ResponseController
	// whole is what was written as long as nothing has left, in memory of events.
	whole  []byte
	left   bool
	events *eventMemory
	// zip is nil when the client does not take gzip.
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

// newBody sets the headers of a stream. They leave with the first event. When
// too many streams are compressed already, this one is not. The caller calls release.
func newBody(w http.ResponseWriter, r *http.Request, compressors *compress.Pool, events *eventMemory, patience time.Duration) *body {
	b := &body{w: w, ctl: http.NewResponseController(w), compressors: compressors, events: events, patience: patience}
	if s, ok := r.Context().Value(http.ServerContextKey).(*http.Server); ok && s.WriteTimeout == patience {
		b.until = time.Now().Add(patience) // the server has just set that deadline
	}
	h := w.Header()
	h["Content-Type"] = eventStream
	h["Cache-Control"] = noCache
	h["X-Accel-Buffering"] = noBuffering
	h.Add("Vary", "Accept-Encoding")
	if r.ProtoMajor == 1 {
		h["Connection"] = keepAlive
	}
	if compress.Accepts(r.Header.Get("Accept-Encoding")) {
		if b.zip = compressors.Get(plain{b}); b.zip != nil {
			h.Set("Content-Encoding", "gzip")
		}
	}
	return b
}

// LineSender returns what sends one line of an answer and makes sure that it
// leaves, within a minute. It is used by one goroutine.
func LineSender(w http.ResponseWriter) func(line []byte) error {
	return (&body{w: w, ctl: http.NewResponseController(w), patience: defaultWriteTimeout}).sendNow
}

// sendNow writes one event and makes sure it leaves.
func (b *body) sendNow(event []byte) error {
	if err := b.Send(event); err != nil {
		return err
	}
	return b.Flush()
}

// Send implements event.Output, as do Flush and End.
func (b *body) Send(event []byte) error { return b.check(b.writeEvent(event)) }

// Flush makes what was written leave.
func (b *body) Flush() error {
	if b.zip != nil {
		if err := b.zip.Flush(); err != nil {
			return b.check(err)
		}
	}
	return b.check(b.leave())
}

// wholeBytes is how long an answer may be that is sent as a whole: it fits the memory
// of an event, and leaves at once as a piece of an event does.
const wholeBytes = event.UsualBytes

// plain writes what is not to be compressed, or has been.
type plain struct{ b *body }

func (p plain) Write(piece []byte) (int, error) {
	b := p.b
	if !b.left && len(b.whole)+len(piece) <= wholeBytes {
		if b.whole == nil {
			b.whole = b.events.get()
		}
		b.whole = append(b.whole, piece...)
		return len(piece), nil
	}
	if err := b.begin(); err != nil {
		return 0, err
	}
	return b.w.Write(piece)
}

// begin writes what was kept.
func (b *body) begin() error {
	b.left = true
	if len(b.whole) == 0 {
		return nil
	}
	_, err := b.w.Write(b.whole)
	b.events.put(b.whole)
	b.whole = nil
	return err
}

// leave has all that was written leave.
func (b *body) leave() error { return errors.Join(b.begin(), b.ctl.Flush()) }

func (b *body) check(err error) error {
	if err == nil {
		return nil
	}
	b.failed = true
	return fmt.Errorf("send event: %w", err)
}

// pieceBytes is how much of an event is written at once: a client at 1 KB/s is
// slow, and not gone, while large events leave.
const pieceBytes = 48 << 10

func (b *body) writeEvent(event []byte) error {
	for piece := range slices.Chunk(event, pieceBytes) {
		if err := b.extend(time.Now()); err != nil {
			return err
		}
		if err := b.writePiece(piece); err != nil {
			return err
		}
	}
	return nil
}

func (b *body) writePiece(piece []byte) error {
	if b.zip == nil {
		_, err := plain{b}.Write(piece)
		return err
	}
	_, err := b.zip.Write(piece)
	return err
}

// extend sets the write deadline of the connection: a client that vanished must
// not hold its search. Setting it costs as much as writing a small event, so it
// may be off by an eighth.
func (b *body) extend(now time.Time) error {
	if b.until.Sub(now) > b.patience*7/8 {
		return nil
	}
	b.until = now.Add(b.patience)
	err := b.ctl.SetWriteDeadline(b.until)
	if errors.Is(err, http.ErrNotSupported) {
		return nil
	}
	return err
}

// End has the response end with what was written.
func (b *body) End() error {
	if b.failed {
		return nil
	}
	if b.zip != nil {
		if err := b.zip.Close(); err != nil {
			return b.check(err)
		}
	}
	if !b.left {
		b.w.Header().Set("Content-Length", strconv.Itoa(len(b.whole)))
	}
	return b.check(b.leave())
}

// release gives back what a response works with, whether it has ended or not.
func (b *body) release() {
	b.events.put(b.whole)
	b.whole = nil
	if b.zip != nil {
		b.compressors.Put(b.zip)
		b.zip = nil
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
