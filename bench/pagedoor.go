package bench

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"time"
)

// pageDoor stands between a browser and the server. It passes on everything, and keeps
// when the first result of a stream came by. To read that, it asks for streams without
// compression.
type pageDoor struct {
	url    string
	server http.Server

	mu    sync.Mutex // guards first
	first time.Time
}

// openPageDoor opens a door to a server.
func openPageDoor(server string) (*pageDoor, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	d := &pageDoor{url: "http://" + listener.Addr().String()}
	d.server.Handler = &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: "http", Host: server})
			r.Out.Host = r.In.Host
			if strings.HasSuffix(r.In.URL.Path, "/search/stream") {
				r.Out.Header.Set("Accept-Encoding", "identity")
			}
		},
		FlushInterval: -1,
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) {
			w.WriteHeader(http.StatusBadGateway) // which the page shows
		},
		ModifyResponse: func(r *http.Response) error {
			if strings.HasPrefix(r.Header.Get("Content-Type"), "text/event-stream") {
				r.Body = &watchedStream{ReadCloser: r.Body, door: d}
			}
			return nil
		},
	}
	go d.server.Serve(listener) //nolint:errcheck // it ends by close
	return d, nil
}

// close ends the door and what goes through it.
func (d *pageDoor) close() { _ = d.server.Close() }

// forget has the next first result be the first.
func (d *pageDoor) forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.first = time.Time{}
}

// firstMatch returns when the first result came by, zero if none did.
func (d *pageDoor) firstMatch() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.first
}

// watchedStream is a stream of events that tells its door of the first with matches.
type watchedStream struct {
	io.ReadCloser
	door *pageDoor
	// end is what was read last, in which an event may have begun.
	end  []byte
	seen bool
}

var matchesEvent = []byte("event: matches\n")

// Read passes on what the stream has.
func (w *watchedStream) Read(b []byte) (int, error) {
	n, err := w.ReadCloser.Read(b)
	if errors.Is(err, context.Canceled) {
		err = io.EOF // the tab is closed; nobody reads on
	}
	if w.seen || n == 0 {
		return n, err
	}
	w.end = append(w.end, b[:n]...)
	if w.seen = bytes.Contains(w.end, matchesEvent); w.seen {
		w.door.mu.Lock()
		if w.door.first.IsZero() {
			w.door.first = time.Now()
		}
		w.door.mu.Unlock()
	}
	w.end = append(w.end[:0], w.end[max(0, len(w.end)-len(matchesEvent)+1):]...)
	return n, err
}
