package backup_test

import (
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/trawlsearch/trawl/store/backup"
)

func TestRecord(t *testing.T) {
	fs := vfs.NewMem()
	r, err := backup.LastRun(fs, "data")
	if r != (backup.Record{}) || err != nil {
		t.Fatalf("of nothing: got %+v, %v, want nothing", r, err)
	}
	good := backup.Run{Started: time.Date(2031, 2, 3, 4, 5, 6, 0, time.UTC), Destination: "/backups", Backup: "a", Bytes: 2, SentBytes: 1, TookMillis: 3}
	bad := backup.Run{Started: good.Started.Add(time.Hour), Destination: "/backups", Error: "disk is full"}
	for _, run := range []backup.Run{good, bad} {
		if err := backup.Note(fs, "data", run); err != nil {
			t.Fatal(err)
		}
	}
	r, err = backup.LastRun(fs, "data")
	if err != nil || r.Last == nil || *r.Last != bad || r.LastGood == nil || *r.LastGood != good {
		t.Errorf("got %+v and %+v, %v; want %+v and %+v", r.Last, r.LastGood, err, bad, good)
	}
}
