package event

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/query"
)

// output is functions as an Output; without flush nothing is done.
type output struct {
	send  func(event []byte) error
	flush func() error
}

func (o output) Send(event []byte) error { return o.send(event) }
func (o output) End() error              { return o.Flush() }

func (o output) Flush() error {
	if o.flush == nil {
		return nil
	}
	return o.flush()
}

func TestEventsTranscript(t *testing.T) {
	var out bytes.Buffer
	e := NewWriter(output{send: func(event []byte) error {
		out.Write(event)
		return nil
	}}, "https://code.example.org/-/trace/0123")
	filters := []query.SuggestedFilter{
		{Value: "type:file", Label: "Code", Count: 3, Exhaustive: true, Kind: "type"},
		{Value: `lang:"visual basic .net"`, Label: "Visual Basic .NET", Count: 2, Exhaustive: true, Kind: "lang"},
		{Value: "-file:(^|/)vendor/", Label: "<Exclude & vendor>", Count: 1, Exhaustive: true, Kind: "file"},
	}
	progress := query.Progress{Done: true, Repositories: 2, Matches: 5, Took: 437*time.Millisecond + 999*time.Microsecond, Skipped: []query.Skipped{
		{Reason: "excluded-archive", Title: "2 archived", Message: "Use `archived:yes`.", Severity: "info",
			SuggestedTitle: "include archived", SuggestedQuery: "archived:yes"},
		{Reason: "shard-timeout", Title: "1 timed out", Message: "One.\n* `r`", Severity: "warn"},
	}}
	for _, err := range []error{
		e.Filters(nil, false),
		e.Filters(filters, false),
		e.Matches(EndMatches(append(BeginMatches(nil), `{"type":"repo","repositoryID":1,"repository":"r"}`...))),
		e.Progress(query.Progress{}, false),
		e.Progress(progress, false),
		e.Filters(filters, true),
		e.Progress(progress, true),
		e.Alert(&query.Alert{Title: "No results", Description: "Try <another>.", Kind: "k", Proposed: []query.ProposedQuery{
			{Description: "wider", Query: "a or b"}, {Query: "c"},
		}}),
		e.Alert(&query.Alert{Title: "Bare"}),
		e.Error(`display must be an integer, got "ten"`),
		e.Done(),
		e.Done(),
	} {
		if err != nil {
			t.Error(err)
		}
	}
	const path = "testdata/events.txt"
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if out.String() != string(want) {
		t.Errorf("got:\n%s\nwant, from %s:\n%s", out.String(), path, want)
	}
	if events, n := e.Sent(); events != 10 || n != int64(out.Len()) {
		t.Errorf("counted %d events and %d bytes, want 10 and %d", events, n, out.Len())
	}
}

func TestEventsAfterDone(t *testing.T) {
	e := NewWriter(output{send: func([]byte) error { return nil }}, "")
	if err := e.Done(); err != nil {
		t.Fatal(err)
	}
	if err := e.Error("late"); !errors.Is(err, errAfterDone) {
		t.Errorf("an event after done gave %v, want %v", err, errAfterDone)
	}
}

func TestEventsStopAtAFailedWrite(t *testing.T) {
	broken := errors.New("connection reset")
	sends := 0
	e := NewWriter(output{send: func([]byte) error {
		sends++
		return broken
	}}, "")
	for i, err := range []error{e.Matches([]byte("[]")), e.Progress(query.Progress{}, false), e.Done()} {
		if !errors.Is(err, broken) {
			t.Errorf("event %d gave %v, want %v", i, err, broken)
		}
	}
	if sends != 1 {
		t.Errorf("%d events were sent on, want only the one that failed", sends)
	}
}

func TestEventsSizeLimit(t *testing.T) {
	var sent int
	e := NewWriter(output{send: func(event []byte) error {
		sent = len(event)
		return nil
	}}, "")
	// the frame, which is 16 bytes and the name, counts too
	fits := EndMatches(append(BeginMatches(nil), make([]byte, maxBytes-MatchesFrameBytes)...))
	if err := e.Matches(fits); err != nil || sent != maxBytes {
		t.Errorf("an event of the largest size gave %v and %d bytes", err, sent)
	}
	if err := e.Matches(append(fits, 'x')); err == nil {
		t.Errorf("an event over the limit was sent")
	}
	if err := e.Done(); err != nil {
		t.Errorf("done after a refused event gave %v", err)
	}
}

func TestEventsFiltersGiveWay(t *testing.T) {
	var got string
	e := NewWriter(output{send: func(event []byte) error {
		got = string(event)
		return nil
	}}, "")
	var filters []query.SuggestedFilter
	for i := range 1000 {
		filters = append(filters, query.SuggestedFilter{Value: fmt.Sprintf("repo:%d-%s", i, strings.Repeat("x", 20_000)), Kind: "repo"})
	}
	if err := e.Filters(filters, false); err != nil {
		t.Fatal(err)
	}
	if len(got) > maxBytes+16 || !strings.Contains(got, "repo:499-") || strings.Contains(got, "repo:500-") {
		t.Errorf("got an event of %d bytes, want the first half of the filters", len(got))
	}
}

// TestEventsTogether: events that follow at once leave together, others each by
// itself, and what fails stays failed.
func TestEventsTogether(t *testing.T) {
	var log strings.Builder
	broken := errors.New("broken pipe")
	var fails error
	e := NewWriter(output{
		send: func(event []byte) error {
			name, _, _ := strings.Cut(string(event), "\n")
			log.WriteString(name + ";")
			return nil
		},
		flush: func() error { log.WriteString("flush;"); return fails },
	}, "")
	both := func() error {
		if err := e.Progress(query.Progress{}, false); err != nil {
			return err
		}
		return e.Alert(&query.Alert{})
	}
	if err := errors.Join(e.Error("x"), e.Together(both), e.Together(func() error { return e.Together(both) })); err != nil {
		t.Fatal(err)
	}
	const want = "event: error;flush;event: progress;event: alert;flush;event: progress;event: alert;flush;"
	if log.String() != want {
		t.Errorf("got %s\nwant %s", log.String(), want)
	}
	fails = broken
	if err := e.Together(both); !errors.Is(err, broken) {
		t.Errorf("a flush that failed gave %v, want %v", err, broken)
	}
	fails = nil
	if err := e.Done(); !errors.Is(err, broken) {
		t.Errorf("done after it gave %v, want %v", err, broken)
	}
}
