package httpapi_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"strings"
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

func TestCloseEndsStreamsProperly(t *testing.T) {
	h := searchtest.NewHeld()
	s := newServer(h.Search)
	open(t, s)
	resp, err := newClient(t).Get(s.URL() + "/search/stream?q=x")
	if err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(resp.Body)
	searchtest.ReadEvent(t, r)
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
	within(t, "the search to be cancelled", h.Cancelled)
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
