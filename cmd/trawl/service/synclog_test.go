package service

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/httpapi/manage"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/ingest"
	"github.com/trawlsearch/trawl/store/shard"
)

// TestRecording: a log has the time of each step, also of one that is left and gone on
// with, and what follows the sync.
func TestRecording(t *testing.T) {
	logs, began := newSyncLogs(), time.Unix(1_700_000_000, 0)
	before := &store.Repository{ID: 7, Source: "https://me:secret@x/y", Generation: 1, Branches: []store.Branch{{Name: "main", Commit: "a"}, {Name: "gone", Commit: "g"}}}
	rec := logs.record(before, began)
	at := func(seconds int) time.Time { return began.Add(time.Duration(seconds) * time.Second) }
	for i, p := range []ingest.Progress{
		{Phase: "fetch", Note: "Receiving objects:  10% (1/10)"}, {Phase: "fetch", Note: "Receiving objects: 100% (10/10), done."}, {Phase: "wait"}, {Phase: "list"},
		{Phase: "index", Total: 5}, {Phase: "wait"}, {Phase: "index", Done: 5, Total: 5}, {Phase: "commit"},
	} {
		rec.note(p, at(i+1))
	}
	res := ingest.Result{Repository: &store.Repository{Branches: []store.Branch{{Name: "main", Commit: "b"}, {Name: "new", Commit: "n"}}, LastError: "fetch https://me:secret@x/y:\n\x1b[31mred"}, Added: 5}
	res.Reasons[shard.ReasonBinary] = 2
	rec.end(res, nil, at(10))
	logs.follow(ingest.Followed{Repository: 7, Phase: "symbols", Count: 3, Took: time.Second})
	logs.follow(ingest.Followed{Repository: 7, Phase: "symbols", Count: 4, Took: time.Second})
	logs.follow(ingest.Followed{Repository: 7, Phase: "history", Err: errors.New("damaged")})
	logs.follow(ingest.Followed{Repository: 8, Phase: "history", Count: 1})
	got, _ := logs.kept.Get(7)
	want := &manage.SyncLog{
		Began: began.UTC(), Took: 10 * time.Second, Reindexed: true, Added: 5, Skipped: []manage.SkippedCount{{Reason: "binary", Count: 2}},
		Steps: []manage.SyncStep{
			{Phase: "fetch", Took: 3 * time.Second}, {Phase: "wait", Took: 2 * time.Second}, {Phase: "list", Took: time.Second}, {Phase: "index", Took: 2 * time.Second, Count: 5},
			{Phase: "commit", Took: 2 * time.Second}, {Phase: "symbols", Took: 2 * time.Second, Count: 7}, {Phase: "history", Error: "damaged"},
		},
		Branches: []manage.BranchChange{{Name: "main", Before: "a", After: "b"}, {Name: "new", After: "n"}, {Name: "gone", Before: "g"}},
		Git:      []string{"Receiving objects: 100% (10/10), done."}, Error: "fetch https://x/y: [31mred",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if _, ok := logs.kept.Get(8); ok {
		t.Error("what followed no sync made a log")
	}
}

// TestSyncLogsAreBounded: unchanged sources leave the log as it is, and logs do not grow
// with what git or a repository says.
func TestSyncLogsAreBounded(t *testing.T) {
	logs, now := newSyncLogs(), time.Now()
	before := &store.Repository{ID: 1}
	logs.record(before, now).end(ingest.Result{AsBefore: true}, nil, now)
	logs.record(nil, now).end(ingest.Result{}, store.ErrNotFound, now)
	if _, ok := logs.kept.Get(1); ok {
		t.Error("an unchanged source made a log")
	}
	long := strings.Repeat("ä", 10_000)
	rec := logs.record(before, now)
	after := &store.Repository{}
	for i := range 1000 {
		rec.note(ingest.Progress{Phase: "fetch", Note: fmt.Sprint(i, long)}, now)
		after.Branches = append(after.Branches, store.Branch{Name: fmt.Sprint(i, long), Commit: strings.Repeat("a", 40)})
	}
	after.LastError = long
	rec.end(ingest.Result{Repository: after}, nil, now)
	got, _ := logs.kept.Get(1)
	bytes := len(got.Error)
	for _, line := range got.Git {
		bytes += len(line)
	}
	for _, b := range got.Branches {
		bytes += len(b.Name) + len(b.Before) + len(b.After)
	}
	if bytes > 16<<10 || got.MoreBranches != 1000-mostBranches || len(got.Git) == 0 || !strings.HasPrefix(got.Git[len(got.Git)-1], "999") {
		t.Errorf("got %d bytes, %d more branches, %d lines of git, want 16 KiB at most, and the last lines", bytes, got.MoreBranches, len(got.Git))
	}
	for id := range uint32(mostLogs) {
		logs.put(id+2, got)
	}
	if _, ok := logs.kept.Get(1); ok {
		t.Errorf("more than %d logs are kept", mostLogs)
	}
}

func TestCounted(t *testing.T) {
	for line, want := range map[string]string{
		"remote: Counting objects:  12% (1/8)": "Counting objects", "Receiving objects: 100% (8/8), 1 KiB, done.": "Receiving objects",
		"remote: Enumerating objects: 8, done.": "Enumerating objects", "remote: welcome": "", "fatal: nothing there": "", "": "", "x: ": "",
	} {
		if got := counted(line); got != want {
			t.Errorf("%q counts %q, want %q", line, got, want)
		}
	}
}
