package progress_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"github.com/trawlsearch/trawl/cmd/trawl/progress"
	"github.com/trawlsearch/trawl/store/ingest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// clock is a time that only the test moves.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

// sync shows a sync of ten seconds per report.
func show(d *progress.Display, c *clock) {
	t := d.Start("lab/kiln")
	t.Report(ingest.Progress{Phase: "fetch"})
	t.Report(ingest.Progress{Phase: "fetch", Note: "Receiving objects: 10%"}) // too soon to be shown
	c.at = c.at.Add(10 * time.Second)
	t.Report(ingest.Progress{Phase: "fetch", Note: "Receiving objects: 90%"})
	t.Report(ingest.Progress{Phase: "list"})
	t.Report(ingest.Progress{Phase: "index", Done: 256, Total: 12345, Bytes: 5 << 20})
	t.Report(ingest.Progress{Phase: "index", Done: 512, Total: 12345, Bytes: 6 << 20}) // too soon
	t.Report(ingest.Progress{Phase: "commit"})
	t.Done(progress.Summary{Documents: 12345, TextBytes: 95_400_000, Added: 12345, Took: 12345 * time.Millisecond})
	u := d.Start("lab/clay")
	u.Report(ingest.Progress{Phase: "list"})
	u.Done(progress.Summary{Documents: 7})
	d.Start("lab/glaze").Fail(errors.New("told by the caller"))
}

func TestLines(t *testing.T) {
	var out bytes.Buffer
	c := &clock{}
	show(progress.Lines(&out, c.now), c)
	want := `lab/kiln: fetching
lab/kiln: fetching: Receiving objects: 90%
lab/kiln: comparing with what is indexed
lab/kiln: indexing 256 of 12,345 documents, 5.2 MB
lab/kiln: 12,345 documents, 95 MB of text (12,345 written, 0 removed) in 12.3s
lab/clay: comparing with what is indexed
lab/clay: up to date, 7 documents
`
	if got := out.String(); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestLog(t *testing.T) {
	var out bytes.Buffer
	c := &clock{}
	show(progress.Log(zerolog.New(&out).Level(zerolog.InfoLevel), &out, c.now), c)
	want := `{"level":"info","repo":"lab/kiln","done":256,"total":12345,"bytes":5242880,"message":"indexing"}
{"level":"info","repo":"lab/kiln","documents":12345,"added":12345,"removed":0,"took_ms":12345,"message":"synced"}
`
	if got := out.String(); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// Bars leave nothing behind but the lines about what was done, in one piece
// even when a log is written meanwhile.
func TestBars(t *testing.T) {
	var out bytes.Buffer
	d := progress.Bars(&out, time.Now)
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			task := d.Start(fmt.Sprintf("repo%d", i))
			for n := range 100 {
				task.Report(ingest.Progress{Phase: "index", Done: n, Total: 100, Bytes: int64(n)})
			}
			fmt.Fprintf(d, "log line %d\n", i)
			task.Done(progress.Summary{Documents: 100, Added: 100})
		})
	}
	all.Wait()
	fmt.Fprintln(d, "after the last bar")
	for i := range 4 {
		for _, want := range []string{fmt.Sprintf("log line %d\n", i), fmt.Sprintf("repo%d: 100 documents", i)} {
			if strings.Count(out.String(), want) != 1 {
				t.Errorf("%q stands %d times, want once, in:\n%q", want, strings.Count(out.String(), want), out.String())
			}
		}
	}
	if !strings.HasSuffix(out.String(), "after the last bar\n") {
		t.Errorf("does not end with the line after the last bar: %q", out.String())
	}
}

func TestSize(t *testing.T) {
	for _, c := range []struct {
		bytes int64
		want  string
	}{
		{0, "0 B"}, {999, "999 B"}, {1000, "1.0 kB"}, {9949, "9.9 kB"}, {9950, "10 kB"}, {999_499, "999 kB"},
		{999_500, "1.0 MB"}, {1_300_000_000, "1.3 GB"}, {1 << 62, "4611686 TB"},
	} {
		if got := progress.Size(c.bytes); got != c.want {
			t.Errorf("Size(%d): got %q, want %q", c.bytes, got, c.want)
		}
	}
}
