package httpapi_test

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

// dialRaw connects, until the test ends.
func dialRaw(t *testing.T, url string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	return conn
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
	s := newServer(func(ctx context.Context, q *query.Query, o search.Options, sink answer.Sink) search.Outcome {
		if q.Text == "flood" {
			return f.search(ctx, q, o, sink)
		}
		return nothing(ctx, q, o, sink)
	})
	open(t, s)
	conn := dial(t, s.URL())
	// The search stands still once its share of memory and the network's
	// buffers are full. Meanwhile others are served.
	client := newClient(t)
	before := int64(-1)
	for deadline := time.Now().Add(2 * time.Minute); f.sent.Load() == 0 || f.sent.Load() != before; {
		before = f.sent.Load()
		for range 50 {
			resp, err := client.Get(s.URL() + "/search/stream?q=other")
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
	s := newServer(f.search)
	s.WriteTimeout = 50 * time.Millisecond
	open(t, s)
	dial(t, s.URL()) // and never read, and never closed
	within(t, "the search to be cancelled", f.stopped)
}

// held is a search that finds one match and then waits to be released or
// cancelled.
type held struct {
	release, cancelled chan struct{}
}

func newHeld() *held { return &held{make(chan struct{}), make(chan struct{})} }

func (h *held) search(ctx context.Context, _ *query.Query, o search.Options, sink answer.Sink) search.Outcome {
	found(glazePath())(o, sink)
	select {
	case <-h.release:
		o.Report.Finish(true)
		return search.Outcome{}
	case <-ctx.Done():
		close(h.cancelled)
		return search.Outcome{Err: ctx.Err()}
	}
}

// readEvent reads up to a blank line.
func readEvent(t *testing.T, r *bufio.Reader) string {
	t.Helper()
	var event strings.Builder
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatalf("read event: %v after %q", err, event.String())
		}
		if line == "\n" {
			return event.String()
		}
		event.WriteString(line)
	}
}

func TestClosedClientCancelsItsSearch(t *testing.T) {
	h := newHeld()
	s := newServer(h.search)
	open(t, s)
	resp, err := newClient(t).Get(s.URL() + "/search/stream?q=x")
	if err != nil {
		t.Fatal(err)
	}
	readEvent(t, bufio.NewReader(resp.Body))
	resp.Body.Close()
	within(t, "the search to be cancelled", h.cancelled)
}

func TestGzipIsFlushedWithEveryEvent(t *testing.T) {
	h := newHeld()
	s := newServer(h.search)
	open(t, s)
	for range 2 { // the second uses the first one's compressor
		req, err := http.NewRequestWithContext(t.Context(), "GET", s.URL()+"/search/stream?q=x", nil)
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
			event := readEvent(t, r)
			for strings.HasPrefix(event, "event: progress\n") { // which a slow machine may send first
				event = readEvent(t, r)
			}
			if !strings.HasPrefix(event, "event: "+want+"\n") {
				t.Errorf("while the search runs: got %q, want %s", event, want)
			}
		}
		if h.release != nil {
			close(h.release)
		}
		rest, err := io.ReadAll(r)
		if err != nil || !strings.HasSuffix(string(rest), "event: done\ndata: {}\n\n") {
			t.Errorf("the rest is %q, %v; want it to end with done and a whole gzip stream", rest, err)
		}
		resp.Body.Close()
		h.release = make(chan struct{})
	}
}

func TestCloseEndsStreamsProperly(t *testing.T) {
	h := newHeld()
	s := newServer(h.search)
	open(t, s)
	resp, err := newClient(t).Get(s.URL() + "/search/stream?q=x")
	if err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(resp.Body)
	readEvent(t, r)
	closed := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		closed <- s.Close(ctx)
	}()
	rest, err := io.ReadAll(r)
	if err != nil {
		t.Fatalf("read rest: %v", err)
	}
	resp.Body.Close()
	for _, want := range []string{`"reason":"server-closing"`, `"done":true`, `"exhaustive":false`} {
		if !strings.Contains(string(rest), want) {
			t.Errorf("the rest has no %s:\n%s", want, rest)
		}
	}
	if strings.Contains(string(rest), "event: error") || !strings.HasSuffix(string(rest), "event: done\ndata: {}\n\n") {
		t.Errorf("the rest has an error or no end:\n%s", rest)
	}
	within(t, "the search to be cancelled", h.cancelled)
	if err := within(t, "the server to close", closed); err != nil {
		t.Errorf("close: %v", err)
	}
}

func TestCloseCutsOffWhatDoesNotEnd(t *testing.T) {
	release := make(chan struct{})
	s := newServer(func(_ context.Context, _ *query.Query, o search.Options, sink answer.Sink) search.Outcome {
		found(glazePath())(o, sink)
		<-release // deaf to its context
		return search.Outcome{}
	})
	open(t, s)
	resp, err := newClient(t).Get(s.URL() + "/search/stream?q=x")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := s.Close(ctx); err == nil {
		t.Errorf("close waited for a search that never ends, or said nothing")
	}
	close(release)
}
