package service_test

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/cmd/trawl/progress"
	"github.com/trawlsearch/trawl/cmd/trawl/service"
)

// TestReadyBeforeTheSurvey: a server whose repositories are all indexed is ready before
// it looks at which of them are due, which takes a second for 10,000. One that was given
// a source is ready when it has tried that.
func TestReadyBeforeTheSurvey(t *testing.T) {
	s := open(t)
	dir := filepath.Join(t.TempDir(), "kiln")
	commit(t, dir, "a.txt", "clay\n")
	r, err := s.Repositories().Add(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		first []string
		want  string
	}{
		{nil, "ready, survey"},
		{[]string{"removed meanwhile"}, "ready, survey"},
		{[]string{r.Name}, "survey, ready"},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		var steps []string
		surveyed := func() { steps = append(steps, "survey") }
		y := &service.Syncer{Service: s, Stay: true, Log: zerolog.Nop(), Display: progress.Lines(io.Discard, time.Now), Before: surveyed}
		y.Run(ctx, c.first, func() {
			steps = append(steps, "ready")
			cancel()
		})
		if got := strings.Join(steps, ", "); got != c.want {
			t.Errorf("first is %q: got %s, want %s", c.first, got, c.want)
		}
	}
}

// TestSlowFailuresRest: a source that takes minutes to fail takes a twentieth of
// the time of rounds, one that fails at once or succeeds is tried in each.
func TestSlowFailuresRest(t *testing.T) {
	ended := time.Date(2031, 2, 3, 4, 5, 6, 0, time.UTC)
	silent := errors.New("the remote has been silent")
	for _, c := range []struct {
		took time.Duration
		err  error
		rest time.Duration
	}{
		{3 * time.Minute, silent, time.Hour},
		{30 * time.Second, silent, 10 * time.Minute},
		{29 * time.Second, silent, 0},
		{time.Hour, nil, 0},
	} {
		until, ok := service.RestAfter(c.took, ended, c.err)
		if ok != (c.rest > 0) || ok && until.Sub(ended) != c.rest {
			t.Errorf("after %v and %v: it rests until %v, %t; want for %v", c.took, c.err, until, ok, c.rest)
		}
	}
}
