package backup_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trawlsearch/trawl/store/backup"
)

func TestKeep(t *testing.T) {
	at := func(days ...string) []backup.Backup {
		var all []backup.Backup
		for _, d := range days {
			created, err := time.Parse("2006-01-02 15", d)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, backup.Backup{ID: strings.NewReplacer("-", "", " ", "h").Replace(d[2:]), Created: created})
		}
		return all
	}
	all := at("2029-12-31 10", "2030-01-01 10", "2030-01-31 08", "2030-01-31 20", "2030-02-03 23", "2030-02-04 01", "2030-02-04 02")
	for _, c := range []struct {
		keep backup.Keep
		want string
	}{
		{backup.Keep{}, ""},
		{backup.Keep{Last: 1}, "300204h02"},
		{backup.Keep{Last: 3}, "300203h23 300204h01 300204h02"},
		{backup.Keep{Last: 99}, "291231h10 300101h10 300131h08 300131h20 300203h23 300204h01 300204h02"},
		// the newest of a period, and only periods that have one count
		{backup.Keep{Daily: 2}, "300203h23 300204h02"},
		{backup.Keep{Daily: 3}, "300131h20 300203h23 300204h02"},
		// the third of February 2030 is a Sunday, and the first of January in the
		// week of the day before
		{backup.Keep{Weekly: 2}, "300203h23 300204h02"},
		{backup.Keep{Weekly: 9}, "300101h10 300203h23 300204h02"},
		{backup.Keep{Monthly: 9}, "291231h10 300131h20 300204h02"},
		{backup.Keep{Yearly: 2}, "291231h10 300204h02"},
		// rules add up
		{backup.Keep{Last: 2, Yearly: 2}, "291231h10 300204h01 300204h02"},
	} {
		kept := slices.Sorted(maps.Keys(c.keep.Choose(all, time.Date(2030, 2, 5, 0, 0, 0, 0, time.UTC))))
		if got := strings.Join(kept, " "); got != c.want {
			t.Errorf("%+v: got %s, want %s", c.keep, got, c.want)
		}
	}
}

func (w *world) prune(keep backup.Keep, dry bool) backup.Pruned {
	w.Helper()
	return w.pruneAs(backup.PruneOptions{Keep: keep, DryRun: dry})
}

func (w *world) pruneAs(o backup.PruneOptions) backup.Pruned {
	w.Helper()
	o.Now = w.now
	res, err := backup.Prune(context.Background(), w.dest, o.Quick())
	if err != nil {
		w.Fatal(err)
	}
	return res
}

func TestPrune(t *testing.T) {
	recipient, private := identity(t)
	for _, keys := range []backup.Keys{{}, {Recipients: recipient, Identities: private}} {
		w := newWorld(t)
		o := backup.Options{Keys: keys, Mirrors: true}
		w.put("a", "1")
		w.pack("pack-1.pack", 2<<20)
		w.create(o)
		if err := w.fs.Remove("data/mirrors/7.git/objects/pack/pack-1.pack"); err != nil {
			t.Fatal(err)
		}
		delete(w.packs, "mirrors/7.git/objects/pack/pack-1.pack")
		w.pack("pack-2.pack", 1<<20)
		w.create(o)
		last := w.create(o)

		before := stored(t, w.dest)
		dry := w.prune(backup.Keep{Last: 2}, true)
		if len(dry.Removed) != 1 || dry.Bytes < 2<<20 || len(stored(t, w.dest)) != len(before) {
			t.Errorf("dry run: got %+v, want that one backup and its pack would go", dry)
		}
		// It needs no key to know what to delete.
		done := w.prune(backup.Keep{Last: 2}, false)
		if len(done.Removed) != 1 || len(done.Kept) != 2 || done.Objects != dry.Objects || done.Bytes != dry.Bytes || done.Busy {
			t.Errorf("got %+v, want what the dry run said", done)
		}
		if got, want := len(stored(t, w.dest)), len(before)-done.Objects-1; got != want {
			t.Errorf("%d files are left, want %d", got, want)
		}
		w.sound(keys)
		w.restore(keys, last.Backup, w.records, w.packs)
		if again := w.prune(backup.Keep{Last: 2}, false); again.Objects != 0 || len(again.Removed) != 0 {
			t.Errorf("again: got %+v, want nothing", again)
		}
		// What was deleted is sent again when it is needed again.
		w.pack("pack-3.pack", 1<<20)
		w.create(o)
		w.sound(keys)
		if _, err := backup.Prune(context.Background(), w.dest, backup.PruneOptions{}); err == nil {
			t.Error("without a rule nothing may be deleted")
		}
	}
}

// Beside a backup in progress objects stay; a dead one does not block Prune for
// long.
func TestPruneBesideCreate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.pack("pack-1.pack", 1<<20)
		w.create(backup.Options{Mirrors: true})
		if err := w.fs.RemoveAll("data/mirrors"); err != nil {
			t.Fatal(err)
		}
		w.create(backup.Options{Mirrors: true})
		end, err := backup.HoldCreate(w.dest)
		if err != nil {
			t.Fatal(err)
		}
		if got := w.prune(backup.Keep{Last: 1}, false); !got.Busy || got.Objects != 0 || len(got.Removed) != 1 {
			t.Errorf("beside a create: got %+v, want that objects stay", got)
		}
		end()
		if err := w.dest.Put(context.Background(), "locks/create-dead", []byte("7")); err != nil {
			t.Fatal(err)
		}
		// It tells that it waits before it does; the clock stands still otherwise.
		begun, told := time.Now(), 0
		got := w.pruneAs(backup.PruneOptions{Keep: backup.Keep{Last: 1}, Report: func(p backup.Progress) {
			if told++; p.Phase != backup.PhaseWatch || !time.Now().Equal(begun) {
				t.Errorf("told %+v after %v, want that it waits at once", p, time.Since(begun))
			}
		}})
		if got.Busy || got.Objects == 0 {
			t.Errorf("beside the lock of a create that was killed: got %+v, want that objects go", got)
		}
		if told != 1 || time.Now().Equal(begun) {
			t.Errorf("told %d times in %v, want once, of a wait", told, time.Since(begun))
		}
		if w.pruneAs(backup.PruneOptions{Keep: backup.Keep{Last: 1}, Report: func(p backup.Progress) { t.Errorf("reported %+v without another run", p) }}); t.Failed() {
			return
		}
		w.sound(backup.Keys{})
	})
}

// A backup waits for a prune to end.
func TestCreateBesidePrune(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.create(backup.Options{})
		end, err := backup.HoldPrune(w.dest)
		if err != nil {
			t.Fatal(err)
		}
		waited := make(chan bool, 1)
		o := backup.Options{Report: func(p backup.Progress) {
			if p.Phase == backup.PhaseWait && len(waited) == 0 {
				waited <- true
			}
		}}
		done := make(chan error)
		go func() {
			_, err := w.tryCreate(o)
			done <- err
		}()
		<-waited
		if len(w.list()) != 1 {
			t.Error("it did not wait")
		}
		end()
		if err := <-done; err != nil || len(w.list()) != 2 {
			t.Errorf("after the prune: %v, %d backups", err, len(w.list()))
		}
	})
}

// The clock was wrong, and is set back: what is made then is the newest backup
// all the same, which is kept and restored.
func TestClockSetBack(t *testing.T) {
	w := newWorld(t)
	w.put("a", "1")
	ahead := w.create(backup.Options{})
	w.now = w.now.AddDate(-5, 0, 0)
	w.put("a", "2")
	after := w.create(backup.Options{})
	if !after.Created.After(ahead.Created) {
		t.Errorf("created %v, want after %v", after.Created, ahead.Created)
	}
	w.restore(backup.Keys{}, "", w.records, nil)
	// Years pass for the clock that is right; until then nothing goes that is
	// dated in the future, of one day by rules, though it was made on many.
	w.put("a", "3")
	again := w.create(backup.Options{})
	for _, keep := range []backup.Keep{{Last: 1}, {Daily: 1}} {
		if res := w.prune(keep, false); len(res.Kept) != 3 {
			t.Errorf("%+v: kept %+v, want all three", keep, res.Kept)
		}
	}
	w.now = w.now.AddDate(6, 0, 0)
	if res := w.prune(backup.Keep{Last: 1}, false); len(res.Kept) != 1 || res.Kept[0].ID != again.Backup {
		t.Errorf("kept %+v, want %s", res.Kept, again.Backup)
	}
}
