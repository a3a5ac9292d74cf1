package loopback_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"

	"github.com/trawlsearch/trawl/cmd/trawl/loopback"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func clientOf(h http.HandlerFunc) *http.Client {
	return &http.Client{Transport: &loopback.Transport{Handler: h}}
}

func TestAnswer(t *testing.T) {
	c := clientOf(func(w http.ResponseWriter, r *http.Request) {
		sent, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Kind", "glaze")
		w.WriteHeader(http.StatusTeapot)
		w.Header().Set("X-Late", "too late")
		_, _ = io.WriteString(w, r.Method+" "+r.Host+" "+r.RequestURI+" "+r.RemoteAddr+" "+string(sent))
	})
	resp, err := c.Post("http://trawl/a?b=c", "text/plain", strings.NewReader("body"))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if want := "POST trawl /a?b=c 127.0.0.1:0 body"; string(got) != want {
		t.Errorf("body: got %q, want %q", got, want)
	}
	if resp.StatusCode != http.StatusTeapot || resp.Header.Get("X-Kind") != "glaze" || resp.Header.Get("X-Late") != "" {
		t.Errorf("status %d, header %v: want 418 and the header as it was then", resp.StatusCode, resp.Header)
	}
}

// A line must be readable before the handler writes the next.
func TestAnswerStreams(t *testing.T) {
	next := make(chan bool)
	c := clientOf(func(w http.ResponseWriter, _ *http.Request) {
		for range next {
			_, _ = io.WriteString(w, "line\n")
			_ = http.NewResponseController(w).Flush()
		}
	})
	go func() { next <- true }()
	resp, err := c.Get("http://trawl/")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewReader(resp.Body)
	for range 3 {
		if line, err := lines.ReadString('\n'); line != "line\n" {
			t.Fatalf("got %q, %v; want a line", line, err)
		}
		next <- true
	}
	close(next)
	if rest, err := io.ReadAll(lines); string(rest) != "line\n" || err != nil {
		t.Errorf("after the end: got %q, %v", rest, err)
	}
}

func TestCloseCancelsTheHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := false
		c := clientOf(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusOK)
			<-r.Context().Done()
			ended = true
		})
		resp, err := c.Get("http://trawl/")
		if err != nil {
			t.Fatal(err)
		}
		if resp.Body.Close(); !ended {
			t.Error("Close returned before the handler had ended")
		}
	})
}

func TestCancelBeforeTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clientOf(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		ctx, cancel := context.WithCancel(t.Context())
		go cancel()
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://trawl/", nil)
		if err != nil {
			t.Fatal(err)
		}
		if resp, err := c.Do(req); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, %v; want context.Canceled", resp, err)
		}
	})
}

func TestPanicCutsOff(t *testing.T) {
	for _, value := range []any{http.ErrAbortHandler, "broken"} {
		c := clientOf(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "begun")
			panic(value)
		})
		resp, err := c.Get("http://trawl/")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(resp.Body); string(got) != "begun" || err == nil {
			t.Errorf("panic(%v): read %q, %v; want the beginning and an error", value, got, err)
		}
		_ = resp.Body.Close()
	}
}
