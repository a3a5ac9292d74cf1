package stream

import (
	"bufio"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/httpapi/searchtest"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/search/answer"
)

// patience is how long a test waits for what must happen at all.
const patience = 30 * time.Second

func within[T any](t testing.TB, what string, c <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(patience):
		t.Fatalf("waited %v for %s", patience, what)
	}
	return v
}

// flood is a search that finds without end until it is told to stop, and says
// how many bytes of paths it got rid of.
type flood struct {
	sent    atomic.Int64
	stopped chan error
}

const floodMatchBytes = 10_000

func (f *flood) search(ctx context.Context, _ *query.Query, o search.Options, sink answer.Sink) search.Outcome {
	m := []query.Match{&query.FileMatch{Repo: kiln, Path: strings.Repeat("p", floodMatchBytes)}}
	for {
		o.Report.Add(m)
		if err := sink.Send(m); err != nil {
			f.stopped <- err
			return search.Outcome{Err: err}
		}
		f.sent.Add(floodMatchBytes)
	}
}

// dial sends a request for a stream and returns the connection, from which
// nothing has been read.
func dial(t *testing.T, url string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	// a small window keeps what the network itself holds small
	if err := conn.(*net.TCPConn).SetReadBuffer(16 << 10); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintf(conn, "GET /search/stream?q=flood HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	return conn
}

func TestSlowReaderStopsOnlyItsOwnSearch(t *testing.T) {
	f := &flood{stopped: make(chan error, 1)}
	url := open(t, options(func(ctx context.Context, q *query.Query, o search.Options, sink answer.Sink) search.Outcome {
		if q.Text == "flood" {
			return f.search(ctx, q, o, sink)
		}
		return nothing(ctx, q, o, sink)
	}))
	conn := dial(t, url)
	// The search stands still once its share of memory and the network's
	// buffers are full. Meanwhile others are served.
	client := newClient(t)
	before := int64(-1)
	for deadline := time.Now().Add(2 * time.Minute); f.sent.Load() == 0 || f.sent.Load() != before; {
		before = f.sent.Load()
		for range 50 {
			resp, err := client.Get(url + "/search/stream?q=other")
			if err != nil {
				t.Fatal(err)
			}
			if body := bodyOf(t, resp); !strings.HasSuffix(body, "event: done\ndata: {}\n\n") {
				t.Fatalf("another client was answered:\n%s", body)
			}
		}
		if time.Now().After(deadline) {
			t.Fatalf("the search of a client that reads nothing got rid of %d bytes and does not stop", f.sent.Load())
		}
	}
	if held := f.sent.Load(); held > 32<<20 {
		t.Errorf("%d bytes are under way to a client that reads nothing", held)
	}
	// A client that reads again gets more.
	stood := f.sent.Load()
	if _, err := io.CopyN(io.Discard, conn, stood+4<<20); err != nil {
		t.Errorf("read on: %v", err)
	}
	// One that leaves ends its search.
	conn.Close()
	within(t, "the search to be cancelled", f.stopped)
}

func TestVanishedReaderEndsItsSearch(t *testing.T) {
	f := &flood{stopped: make(chan error, 1)}
	o := options(f.search)
	o.WriteTimeout = 50 * time.Millisecond
	dial(t, open(t, o)) // and never read, and never closed
	within(t, "the search to be cancelled", f.stopped)
}

func TestClosedClientCancelsItsSearch(t *testing.T) {
	h := searchtest.NewHeld()
	url := open(t, options(h.Search))
	resp, err := newClient(t).Get(url + "/search/stream?q=x")
	if err != nil {
		t.Fatal(err)
	}
	searchtest.ReadEvent(t, bufio.NewReader(resp.Body))
	resp.Body.Close()
	within(t, "the search to be cancelled", h.Cancelled)
}

func TestGzipIsFlushedWithEveryEvent(t *testing.T) {
	h := searchtest.NewHeld()
	url := open(t, options(h.Search))
	for range 2 { // the second uses the first one's compressor
		req, err := http.NewRequestWithContext(t.Context(), "GET", url+"/search/stream?q=x", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept-Encoding", "gzip")
		resp, err := newClient(t).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if got := resp.Header.Get("Content-Encoding"); got != "gzip" {
			t.Fatalf("Content-Encoding = %q, want gzip", got)
		}
		zr, err := gzip.NewReader(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		r := bufio.NewReader(zr)
		for _, want := range []string{"filters", "matches"} {
			event := searchtest.ReadEvent(t, r)
			for strings.HasPrefix(event, "event: progress\n") { // which a slow machine may send first
				event = searchtest.ReadEvent(t, r)
			}
			if !strings.HasPrefix(event, "event: "+want+"\n") {
				t.Errorf("while the search runs: got %q, want %s", event, want)
			}
		}
		if h.Release != nil {
			close(h.Release)
		}
		rest, err := io.ReadAll(r)
		if err != nil || !strings.HasSuffix(string(rest), "event: done\ndata: {}\n\n") {
			t.Errorf("the rest is %q, %v; want it to end with done and a whole gzip stream", rest, err)
		}
		resp.Body.Close()
		h.Release = make(chan struct{})
	}
}
