package stream

import (
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/search/answer"
)

// TestSmallAnswersHaveALength: an answer of which nothing had to leave before its
// end is sent as a whole, compressed unless it is small; one that is long, or was seen to
// take a while, is not.
func TestSmallAnswersHaveALength(t *testing.T) {
	find := func(n int, wait <-chan struct{}) searcher {
		return func(_ context.Context, _ *query.Query, o search.Options, sink answer.Sink) search.Outcome {
			for range n {
				found(glazeContent())(o, sink)
			}
			if wait != nil {
				<-wait
			}
			o.Report.Finish(true)
			return search.Outcome{}
		}
	}
	tests := []struct {
		name, accepts, encoding string
		matches                 int
		waits, whole            bool
	}{
		{"nothing", "", "", 0, false, true},
		{"nothing, too small to be compressed", "gzip", "", 0, false, true},
		{"one", "", "", 1, false, true},
		{"one, compressed", "gzip", "gzip", 1, false, true},
		{"many", "", "", 100, false, false},
		{"many, compressed", "gzip", "gzip", 10_000, false, false},
		{"one of a search that goes on", "", "", 1, true, false},
		{"the same, compressed", "gzip", "gzip", 1, true, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			seen := make(chan struct{})
			wait := seen
			if !tt.waits {
				wait = nil
			}
			url := open(t, options(find(tt.matches, wait)))
			text, encoding, length := askWith(t, url, tt.accepts, seen)
			// On a machine that stands still an answer may seem to take a while.
			for tries := 1; tt.whole && length < 0 && tries < 50; tries++ {
				text, encoding, length = askWith(t, url, tt.accepts, nil)
			}
			if encoding != tt.encoding {
				t.Errorf("encoded as %q, want %q", encoding, tt.encoding)
			}
			if !strings.HasSuffix(text, "event: done\ndata: {}\n\n") || strings.Count(text, `"type":"content"`) != tt.matches {
				t.Errorf("got %.3000s, want %d matches and done", text, tt.matches)
			}
			if whole := length > 0; whole != tt.whole {
				t.Errorf("length is %d, want one: %t", length, tt.whole)
			}
		})
	}
}

// askWith returns the text of an answer, and the encoding and the length that its headers
// tell. It closes seen, unless that is nil, when the header has come.
func askWith(t *testing.T, url, accepts string, seen chan<- struct{}) (text, encoding string, length int64) {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, url+"/search/stream?q=x", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept-Encoding", accepts)
	resp, err := newClient(t).Do(req)
	if seen != nil {
		close(seen)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var body io.Reader = resp.Body
	if encoding = resp.Header.Get("Content-Encoding"); encoding != "" {
		if body, err = gzip.NewReader(resp.Body); err != nil {
			t.Fatal(err)
		}
	}
	all, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	return string(all), encoding, resp.ContentLength
}
