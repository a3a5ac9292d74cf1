package stream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/search/answer"
)

const ms = time.Millisecond

// TestTranscripts compares whole answers, on a clock that stands still while
// anything can run.
func TestTranscripts(t *testing.T) {
	glaze := func(out search.Outcome) searcher {
		return script(out,
			after(0, func(o search.Options, _ answer.Sink) { o.Report.SetLimit(10000); o.Report.Exclude(0, 2) }),
			after(300*ms, found(glazeContent())),
			after(350*ms, found(glazePath(), glazeRepo())),
			after(437*ms, finish(true)),
		)
	}
	missing := &query.Alert{
		Title:       "Some repositories could not be searched",
		Description: `The repository git.example.org/lab/mill matched by your repo: filter could not be searched because it does not contain the revision "v2".`,
	}
	tests := []struct {
		name, target string
		do           searcher
	}{
		// a search from its first tick to an alert, in both forms
		{"chunks", "/.api/search/stream?q=glaze&cm=true&cl=1&display=100", glaze(search.Outcome{Alert: missing})},
		{"lines", "/.api/search/stream?q=glaze", glaze(search.Outcome{})},

		// nothing found, at once and after more than five seconds
		{"nothing", "/search/stream?q=x", script(search.Outcome{}, after(3*ms, finish(true)))},
		{"nothing-slowly", "/search/stream?q=x", script(search.Outcome{}, after(11100*ms, finish(true)))},

		// matches that are sent as soon as they are found, in one batch
		{"at-once", "/search/stream?q=x", script(search.Outcome{}, after(0, found(glazePath())), after(0, finish(true)))},

		// commits, by message and by diff
		{"commits", "/.api/search/stream?q=type:diff+glaze", script(search.Outcome{}, after(1*ms, found(glazeCommits()...)), after(2*ms, finish(true)))},

		// a limit
		{"limit", "/search/stream?q=x&display=1", script(search.Outcome{},
			after(0, func(o search.Options, _ answer.Sink) { o.Report.SetLimit(3) }),
			after(1*ms, found(glazeContent())),
			after(2*ms, finish(true)),
		)},

		// requests that are not searched
		{"no-query", "/.api/search/stream", nothing},
		{"bad-display", "/.api/search/stream?q=x&display=ten", nothing},
		{"bad-pattern-type", "/.api/search/stream?q=syntax+x&t=bad", nothing},
		{"syntax-error", "/.api/search/stream?q=syntax+field+count+has+value+none,+none+is+not+a+number", nothing},
		{"missing-operand", "/.api/search/stream?q=syntax+expected+operand+at+5", nothing},
		{"parser-broken", "/.api/search/stream?q=broken", nothing},

		// errors of the search: explained, internal, internal but with results
		{"unsupported", "/search/stream?q=x", script(search.Outcome{Err: fmt.Errorf("search: %w", &query.SyntaxError{Message: "structural search is not supported"})})},
		{"context", "/search/stream?q=x", script(search.Outcome{Err: &query.ContextError{Name: "nosuch"}})},
		{"failed", "/search/stream?q=x", script(search.Outcome{Err: errors.New("secret detail")})},
		{"failed-late", "/search/stream?q=x", script(search.Outcome{Err: errors.New("secret detail")}, after(1*ms, found(glazePath())))},
		{"panic", "/search/stream?q=x", script(search.Outcome{}, after(1*ms, found(glazePath())), after(2*ms, func(search.Options, answer.Sink) { panic("secret detail") }))},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				body := ask(options(tt.do), tt.target)
				golden(t, "transcripts/"+tt.name+".txt", "GET "+tt.target+"\n\n"+body)
				if strings.Contains(body, "secret") {
					t.Errorf("the answer shows an internal error:\n%s", body)
				}
				if n := strings.Count(body, "event: done\n"); n != 1 || !strings.HasSuffix(body, "event: done\ndata: {}\n\n") {
					t.Errorf("done stands %d times, want once and last:\n%s", n, body)
				}
			})
		})
	}
}

// timedRecorder notes when events leave.
type timedRecorder struct {
	*httptest.ResponseRecorder
	began time.Time
	log   []string
}

func (r *timedRecorder) Write(p []byte) (int, error) {
	for _, event := range strings.Split(string(p), "event: ")[1:] {
		name, _, _ := strings.Cut(event, "\n")
		r.log = append(r.log, fmt.Sprintf("%v %s", time.Since(r.began), name))
	}
	return r.ResponseRecorder.Write(p)
}

func TestFlushTimes(t *testing.T) {
	big := func() query.Match {
		return &query.FileMatch{Repo: kiln, Path: strings.Repeat("p", 40_000)}
	}
	tests := []struct {
		name string
		do   searcher
		want []string
	}{
		{"the first matches leave at once", script(search.Outcome{}, after(50*ms, found(glazePath())), after(60*ms, finish(true))),
			[]string{"50ms filters", "50ms matches", "60ms filters", "60ms progress", "60ms done"}},
		{"a small answer leaves whole", script(search.Outcome{}, after(1*ms, found(glazePath())), after(1900*time.Microsecond, finish(true))),
			[]string{"1.9ms filters", "1.9ms matches", "1.9ms filters", "1.9ms progress", "1.9ms done"}},
		{"what was found at once leaves soon", script(search.Outcome{}, after(0, found(glazePath())), after(60*ms, finish(true))),
			[]string{"2ms filters", "2ms matches", "60ms filters", "60ms progress", "60ms done"}},
		{"much of it sooner", script(search.Outcome{}, after(1*ms, found(big(), big())), after(60*ms, finish(true))),
			[]string{"1ms filters", "1ms matches", "1ms matches", "60ms filters", "60ms progress", "60ms done"}},
		{"later ones wait for the tick", script(search.Outcome{}, after(50*ms, found(glazePath())), after(60*ms, found(glazePath())), after(210*ms, finish(true))),
			[]string{"50ms filters", "50ms matches", "200ms filters", "200ms matches", "200ms progress", "210ms filters", "210ms progress", "210ms done"}},
		{"unless they are many", script(search.Outcome{}, after(50*ms, found(glazePath())), after(60*ms, found(big())), after(70*ms, finish(true))),
			[]string{"50ms filters", "50ms matches", "60ms matches", "70ms filters", "70ms progress", "70ms done"}},
		{"many at first, after the filters", script(search.Outcome{}, after(50*ms, found(big(), big(), glazePath())), after(60*ms, finish(true))),
			[]string{"50ms filters", "50ms matches", "50ms matches", "50ms matches", "60ms filters", "60ms progress", "60ms done"}},
		{"a tick with nothing new is silent", script(search.Outcome{}, after(50*ms, found(glazePath())), after(700*ms, finish(true))),
			[]string{"50ms filters", "50ms matches", "200ms progress", "700ms filters", "700ms progress", "700ms done"}},
		{"counts alone", script(search.Outcome{}, after(50*ms, func(o search.Options, _ answer.Sink) { o.Report.Exclude(1, 0) }), after(300*ms, finish(true))),
			[]string{"200ms filters", "200ms progress", "300ms filters", "300ms progress", "300ms done"}},
		{"a sign of life every five seconds", script(search.Outcome{}, after(12100*ms, finish(true))),
			[]string{"5s progress", "10s progress", "12.1s progress", "12.1s done"}},
		{"what is left at the end comes after the filters", script(search.Outcome{}, after(10*ms, found(glazePath())), after(20*ms, found(glazePath())), after(30*ms, finish(true))),
			[]string{"10ms filters", "10ms matches", "30ms filters", "30ms matches", "30ms progress", "30ms done"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rec := &timedRecorder{httptest.NewRecorder(), time.Now(), nil}
				handler(options(tt.do)).ServeHTTP(rec, httptest.NewRequest("GET", "/search/stream?q=x", nil))
				if !slices.Equal(rec.log, tt.want) {
					t.Errorf("got\n  %s\nwant\n  %s", strings.Join(rec.log, "\n  "), strings.Join(tt.want, "\n  "))
				}
			})
		})
	}
}

func TestSearchOptions(t *testing.T) {
	tests := []struct {
		target string
		want   search.Options
		query  query.Query
	}{
		{"?q=a", search.Options{Display: -1}, query.Query{Text: "a"}},
		{"?q=a&t=regexp&display=7&cm=t&cl=3", search.Options{Display: 7, ContextLines: 3}, query.Query{Text: "a", PatternType: query.Regexp}},
		{"?q=a&cm=t", search.Options{Display: -1, ContextLines: 1}, query.Query{Text: "a"}},
		{"?q=a&cl=3", search.Options{Display: -1}, query.Query{Text: "a"}},
		{"?q=a&feat=search-debug", search.Options{Display: -1, Debug: true}, query.Query{Text: "a"}},
	}
	for _, tt := range tests {
		var got search.Options
		var text query.Query
		ask(options(func(_ context.Context, q *query.Query, o search.Options, _ answer.Sink) search.Outcome {
			got, text = o, *q
			return search.Outcome{}
		}), "/search/stream"+tt.target)
		if got.Report == nil || got.Trace == nil || got.Bookmark == nil || !strings.HasPrefix(got.Asker, "anonymous ") {
			t.Errorf("%s: options without results, trace, bookmark or who asks", tt.target)
		}
		if got.Visible == nil || !got.PublicVisible {
			t.Errorf("%s: anonymous clients see all", tt.target)
		}
		got.Report, got.Trace, got.Bookmark, got.Asker, got.ID, got.Visible, got.PublicVisible = nil, nil, nil, "", "", nil, false
		if !reflect.DeepEqual(got, tt.want) || text.Text != tt.query.Text || text.PatternType != tt.query.PatternType {
			t.Errorf("%s\ngot  %+v for %q as %q\nwant %+v for %q as %q", tt.target, got, text.Text, text.PatternType, tt.want, tt.query.Text, tt.query.PatternType)
		}
	}
}

func TestInternalErrorsAreLoggedInFull(t *testing.T) {
	tests := []struct {
		name, target string
		do           searcher
	}{
		{"error", "/search/stream?q=x", script(search.Outcome{Err: errors.New("secret detail")})},
		{"error with results", "/search/stream?q=x", script(search.Outcome{Err: errors.New("secret detail")}, after(0, found(glazePath())))},
		{"panic", "/search/stream?q=x", script(search.Outcome{}, after(0, func(search.Options, answer.Sink) { panic("secret detail") }))},
		{"parser", "/search/stream?q=broken", nothing},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			log := zerolog.New(&out)
			r := httptest.NewRequest("GET", tt.target, nil)
			handler(options(tt.do)).ServeHTTP(httptest.NewRecorder(), r.WithContext(log.WithContext(t.Context())))
			if !strings.Contains(out.String(), `"level":"error"`) || tt.name != "parser" && !strings.Contains(out.String(), "secret detail") {
				t.Errorf("the log does not tell the error:\n%s", out.String())
			}
		})
	}
}

func TestCancelledSearchShowsNoError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(10*ms, cancel)
		rec := httptest.NewRecorder()
		o := options(script(search.Outcome{}, after(time.Hour, finish(true))))
		handler(o).ServeHTTP(rec, httptest.NewRequest("GET", "/search/stream?q=x", nil).WithContext(ctx))
		body := rec.Body.String()
		if strings.Contains(body, "event: error") || strings.Contains(body, "event: alert") || !strings.HasSuffix(body, "event: done\ndata: {}\n\n") {
			t.Errorf("got an answer with an error, or without an end:\n%s", body)
		}
	})
}

// broken panics when an event is sent.
type broken struct{}

func (broken) Send([]byte) error { panic("broken") }
func (broken) Flush() error      { return nil }
func (broken) End() error        { return nil }

// A search whose events cannot be sent does not seem to run for ever.
func TestTraceEndsWithPanic(t *testing.T) {
	for name, q := range map[string]string{"search": "x", "refusal": "syntax bad"} {
		o := options(script(search.Outcome{}, after(0, found(glazePath())), after(0, finish(true))))
		e, r, sum := New(o), httptest.NewRequest(http.MethodGet, "/", nil), Summary{}
		e.parse = parse
		func() {
			defer func() { _ = recover() }()
			e.Run(http.Header{}, r, Params{Query: q}, broken{}, &sum)
			t.Errorf("%s: nothing panicked", name)
		}()
		outcome, _, _ := o.Traces.Find(sum.TraceID, auth.From(r.Context())).State(time.Now())
		if sum.Outcome != Failed || outcome != Failed {
			t.Errorf("%s: ended as %q, its trace as %q, want %q", name, sum.Outcome, outcome, Failed)
		}
	}
}

// BenchmarkStream sends a hundred thousand matches to a reader that is never
// slow.
func BenchmarkStream(b *testing.B) {
	const matches = 100_000
	batch := make([]query.Match, 100)
	for i := range batch {
		batch[i] = glazeContent()
	}
	for _, bb := range []struct{ name, target, encoding string }{
		{"lines", "/search/stream?q=x", ""},
		{"chunks", "/search/stream?q=x&cm=true", ""},
		{"chunks,gzip", "/search/stream?q=x&cm=true", "gzip"},
	} {
		b.Run("form="+bb.name, func(b *testing.B) {
			handler := handler(options(func(_ context.Context, _ *query.Query, o search.Options, sink answer.Sink) search.Outcome {
				for range matches / len(batch) {
					found(batch...)(o, sink)
				}
				o.Report.Finish(true)
				return search.Outcome{}
			}))
			req := httptest.NewRequest("GET", bb.target, nil)
			req.Header.Set("Accept-Encoding", bb.encoding)
			b.ReportAllocs()
			for b.Loop() {
				w := &discard{header: http.Header{}}
				handler.ServeHTTP(w, req)
				b.ReportMetric(float64(w.bytes)/matches, "bytes/match")
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*matches), "ns/match")
		})
	}
}

// discard is a response without a reader.
type discard struct {
	header http.Header
	bytes  int
}

func (d *discard) Header() http.Header { return d.header }
func (d *discard) WriteHeader(int)     {}
func (d *discard) Flush()              {}

func (d *discard) Write(p []byte) (int, error) {
	d.bytes += len(p)
	return len(p), nil
}
