package service

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/ingest"
)

// TestRoom: each change is said once, other errors are nobody's business here,
// and what was left is taken up once there is room.
func TestRoom(t *testing.T) {
	var log bytes.Buffer
	var now error
	resumed := 0
	r := &room{ready: func() error { return now }, resume: func() { resumed++ }, log: zerolog.New(&log)}
	for _, step := range []struct {
		err     error
		stopped bool
		log     string
		resumed int
	}{
		{nil, false, "", 0},
		{errors.New("no such host"), false, "", 0},
		{fmt.Errorf("sync: %w: 12 MiB free", ingest.ErrLowDisk), true, "12 MiB free", 0},
		{fmt.Errorf("%w: 11 MiB free", ingest.ErrLowDisk), true, "", 0},
		{fmt.Errorf("commit: %w", store.ErrDiskFull), true, "", 0},
		{nil, false, "indexing goes on", 1},
		{nil, false, "", 1},
		{fmt.Errorf("%w: input/output error", store.ErrBroken), true, "input/output error", 1},
		{nil, false, "indexing goes on", 2},
	} {
		now = step.err
		log.Reset()
		r.look()
		if got := r.stopped() != nil; got != step.stopped {
			t.Errorf("%v: stopped %v, want %v", step.err, got, step.stopped)
		}
		if got := log.String(); step.log == "" && got != "" || !strings.Contains(got, step.log) {
			t.Errorf("%v: logged %q, want %q", step.err, got, step.log)
		}
		if resumed != step.resumed {
			t.Errorf("%v: resumed %d times, want %d", step.err, resumed, step.resumed)
		}
	}
}
