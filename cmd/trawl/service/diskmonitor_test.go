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

// TestRoom: each change is logged once, other errors are ignored here, and
// postponed work resumes once there is room.
func TestRoom(t *testing.T) {
	var log bytes.Buffer
	var now error
	resumed := 0
	r := &DiskMonitor{ready: func() error { return now }, resume: func() { resumed++ }, log: zerolog.New(&log)}
	for _, step := range []struct {
		err     error
		notice  string
		log     string
		resumed int
	}{
		{nil, "", "", 0},
		{errors.New("no such host"), "", "", 0},
		{fmt.Errorf("sync: %w: 12 MiB free", ingest.ErrLowDisk), "disk is nearly full", "12 MiB free", 0},
		{fmt.Errorf("%w: 11 MiB free", ingest.ErrLowDisk), "disk is nearly full", "", 0},
		{fmt.Errorf("commit: %w", store.ErrDiskFull), "disk is full", "", 0},
		{nil, "", "indexing goes on", 1},
		{nil, "", "", 1},
		{fmt.Errorf("%w: input/output error", store.ErrBroken), "disk fails", "input/output error", 1},
		{nil, "", "indexing goes on", 2},
	} {
		now = step.err
		log.Reset()
		r.look()
		if got := r.Notice(); !strings.HasSuffix(got, step.notice) || (r.stopped() == nil) != (step.notice == "") || (got == "") != (step.notice == "") {
			t.Errorf("%v: stopped %v, notice %q, want %q", step.err, r.stopped(), got, step.notice)
		}
		if got := log.String(); step.log == "" && got != "" || !strings.Contains(got, step.log) {
			t.Errorf("%v: logged %q, want %q", step.err, got, step.log)
		}
		if resumed != step.resumed {
			t.Errorf("%v: resumed %d times, want %d", step.err, resumed, step.resumed)
		}
	}
}
