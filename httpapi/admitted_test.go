package httpapi_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trawlsearch/trawl/httpapi"
)

// ask sends a request on a connection of its own with a small window, and reads
// nothing.
func ask(t *testing.T, url, request string) {
	t.Helper()
	conn := dialRaw(t, url)
	if err := conn.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
}

// Clients that read nothing of their pages, or send nothing of their forms, keep
// others from no page, although there is one processor.
func TestSlowClientHoldsNoProcessor(t *testing.T) {
	s := newServer(nothing)
	s.Admission = httpapi.NewAdmission(1, 64<<20)
	s.Extra = []httpapi.Route{{Method: "POST", Path: "/form", Holds: 1, Handler: func(w http.ResponseWriter, r *http.Request) error {
		_, err := io.Copy(w, r.Body)
		return err
	}}}
	open(t, s)
	query := strings.Repeat("%22", 60_000) // of which the page is much larger than the buffers of a connection
	for range 4 {
		ask(t, s.URL(), "GET /search?q="+query+" HTTP/1.1\r\nHost: localhost\r\n\r\n")
		ask(t, s.URL(), "POST /form HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nabc")
	}
	client := newClient(t)
	for range 10 {
		resp, err := client.Get(s.URL() + "/help/api")
		if err != nil {
			t.Fatal(err)
		}
		if body := bodyOf(t, resp); resp.StatusCode != 200 {
			t.Fatalf("beside slow clients: %d %s", resp.StatusCode, body)
		}
	}
	body := strings.Repeat("clay", 10_000)
	resp, err := client.Post(s.URL()+"/form", "text/plain", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if got := bodyOf(t, resp); got != body {
		t.Errorf("%d bytes of a body arrived, want %d", len(got), len(body))
	}
}

// Of thousands of requests of one client at once few wait, the others are told
// to come again, and another client is served at once.
func TestManyRequestsOfOneClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		s := newServer(nothing)
		s.Admission = httpapi.NewAdmission(2, 64<<20)
		s.Extra = []httpapi.Route{
			{Method: "GET", Path: "/slow", Holds: 1 << 20, Handler: func(w http.ResponseWriter, r *http.Request) error {
				<-release
				return nil
			}},
		}
		handler := s.Handler()
		get := func(path, address string) *httptest.ResponseRecorder {
			r := httptest.NewRequest("GET", path, nil)
			r.RemoteAddr = address + ":1234"
			rec := httptest.NewRecorder()
			handler.ServeHTTP(rec, r)
			return rec
		}
		var wg sync.WaitGroup
		var refused, served atomic.Int64
		for range 3000 {
			wg.Go(func() {
				switch rec := get("/slow", "192.0.2.1"); {
				case rec.Code == http.StatusServiceUnavailable && rec.Header().Get("Retry-After") != "":
					refused.Add(1)
				case rec.Code == http.StatusOK:
					served.Add(1)
				default:
					t.Errorf("got %d without Retry-After", rec.Code)
				}
			})
		}
		synctest.Wait()
		began := time.Now()
		if rec := get("/help/api", "192.0.2.2"); rec.Code != 200 || time.Since(began) > 0 {
			t.Errorf("another client: %d after %v, want 200 at once", rec.Code, time.Since(began))
		}
		if n := refused.Load(); n < 2000 {
			t.Errorf("%d of 3000 were refused at once, want all but those that may wait", n)
		}
		time.Sleep(11 * time.Second) // none waits so long
		synctest.Wait()
		close(release)
		wg.Wait()
		if served.Load() == 0 || served.Load()+refused.Load() != 3000 {
			t.Errorf("%d served and %d refused of 3000", served.Load(), refused.Load())
		}
	})
}

// A page whose client left while it was made is no error of the server.
func TestPageOfClientThatLeft(t *testing.T) {
	var log strings.Builder
	s := newServer(nothing)
	s.Log = s.Log.Output(&log)
	s.Extra = []httpapi.Route{{Method: "GET", Path: "/made", Handler: func(_ http.ResponseWriter, r *http.Request) error {
		return fmt.Errorf("made: %w", r.Context().Err())
	}}}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s.Handler().ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/made", nil).WithContext(ctx))
	if strings.Contains(log.String(), `"error"`) {
		t.Errorf("logged %s", &log)
	}
}
