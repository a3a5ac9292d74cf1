package httpapi_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/auth"
)

// from returns a request of a client at an address.
func from(ctx context.Context, address string) *http.Request {
	r := httptest.NewRequest("GET", "/", nil)
	return r.WithContext(auth.WithActor(ctx, &auth.Actor{Address: address}))
}

func TestOneClientDoesNotKeepOthersOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := httpapi.NewAdmission(2, 100)
		begin := func(ctx context.Context, address string, bytes int64) (*httpapi.Work, *httptest.ResponseRecorder, error) {
			w := httptest.NewRecorder()
			work, err := a.Begin(w, from(ctx, address), bytes)
			return work, w, err
		}
		greedy, _, err := begin(t.Context(), "192.0.2.1", 1000)
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		_, w, err := begin(t.Context(), "192.0.2.1", 1)
		var refused *httpapi.Error
		if !errors.As(err, &refused) || refused.Status != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" || time.Since(start) > 11*time.Second {
			t.Errorf("second answer of a client that has all it may have: %v after %v, want 503 with Retry-After within 10 s", err, time.Since(start))
		}
		other, _, err := begin(t.Context(), "192.0.2.2", 20)
		if err != nil {
			t.Fatalf("another client beside it: %v", err)
		}
		other.Shrink(5)
		greedy.End()
		greedy.End()
		if !other.Grow(50) {
			t.Error("no room to grow once the first has ended")
		}

		// A client that leaves while it waits is let go at once.
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		start = time.Now()
		wg.Go(func() {
			if _, _, err := begin(ctx, "192.0.2.2", 90); err == nil {
				t.Error("admitted beyond the memory")
			}
		})
		synctest.Wait()
		cancel()
		wg.Wait()
		if time.Since(start) > 0 {
			t.Errorf("the client left, and its wait went on for %v", time.Since(start))
		}
		other.End()
	})
}

func TestRestLetsOthersCompute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := httpapi.NewAdmission(1, 100)
		first, err := a.Begin(httptest.NewRecorder(), from(t.Context(), "192.0.2.1"), 1)
		if err != nil {
			t.Fatal(err)
		}
		first.Rest()
		second, err := a.Begin(httptest.NewRecorder(), from(t.Context(), "192.0.2.2"), 1)
		if err != nil {
			t.Fatalf("while the other rests: %v", err)
		}
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := first.Resume(t.Context()); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		second.End()
		wg.Wait()
		first.End()
	})
}
