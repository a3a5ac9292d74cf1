package bench

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// TestWatchedStream: the first result is seen however the stream is cut, and the stream
// goes on as it is.
func TestWatchedStream(t *testing.T) {
	const stream = "event: progress\ndata: {\"event: matches\":1}\n\nevent: matches\ndata: []\n\nevent: matches\ndata: []\n\n"
	for name, cut := range map[string]func(io.Reader) io.Reader{
		"whole": func(r io.Reader) io.Reader { return r }, "bytes": iotest.OneByteReader, "halves": iotest.HalfReader,
	} {
		d := &pageDoor{}
		w := &watchedStream{ReadCloser: io.NopCloser(cut(strings.NewReader(stream))), door: d}
		got, err := io.ReadAll(w)
		if err != nil || string(got) != stream {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		if d.firstMatch().IsZero() || len(w.end) >= len(matchesEvent) {
			t.Errorf("%s: no result was seen, or %d bytes are kept", name, len(w.end))
		}
		d.forget()
		if !d.firstMatch().IsZero() {
			t.Errorf("%s: the first result is not forgotten", name)
		}
	}
	d := &pageDoor{}
	w := &watchedStream{ReadCloser: io.NopCloser(strings.NewReader("event: progress\ndata: {\"event: matches\":1}\n\n")), door: d}
	if _, err := io.ReadAll(w); err != nil || !d.firstMatch().IsZero() {
		t.Errorf("a stream without results: one was seen, %v", err)
	}
}

func TestPagesReport(t *testing.T) {
	good := func() PagesReport {
		var r PagesReport
		r.Home.add(PageLoad{Transferred: 150_000})
		r.File.add(PageLoad{Transferred: 200_000, Whole: time.Second})
		for _, whole := range []time.Duration{900, 500, 20} {
			r.Followed.add(PageLoad{Whole: whole * time.Millisecond})
		}
		r.FirstResults = []time.Duration{10 * time.Millisecond, 150 * time.Millisecond, time.Second}
		r.LongTasks = []time.Duration{50 * time.Millisecond}
		r.PageBytes, r.LastReached = 200<<20, true
		return r
	}
	r := good()
	if wrong := r.Wrong(); len(wrong) > 0 {
		t.Errorf("at the limits: %q", wrong)
	}
	for want, spoil := range map[string]func(*PagesReport){
		"home page takes 150001":   func(r *PagesReport) { r.Home.add(PageLoad{Transferred: 150_001}) },
		"file takes 200001":        func(r *PagesReport) { r.File.add(PageLoad{Transferred: 200_001}) },
		"painted 700.0 ms after a": func(r *PagesReport) { r.Followed.add(PageLoad{Whole: time.Second}) },
		"painted 151.0 ms after":   func(r *PagesReport) { r.FirstResults[1] = 151 * time.Millisecond },
		"not answer for 51.0 ms":   func(r *PagesReport) { r.LongTasks = append(r.LongTasks, 51*time.Millisecond) },
		"page takes 201 MiB":       func(r *PagesReport) { r.PageBytes = 201 << 20 },
		"last of 0 results is not": func(r *PagesReport) { r.LastReached = false },
	} {
		r := good()
		spoil(&r)
		var out bytes.Buffer
		if err := r.Write(&out); err != nil {
			t.Fatal(err)
		}
		if wrong := r.Wrong(); len(wrong) != 1 || !strings.Contains(wrong[0], want) || !slices.Contains(strings.Split(out.String(), "\n"), wrong[0]) {
			t.Errorf("want one fault with %q, got %q, printed\n%s", want, wrong, &out)
		}
	}
}
