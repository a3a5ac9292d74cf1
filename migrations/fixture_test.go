package migrations_test

import (
	"archive/zip"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/trawlsearch/trawl/migrations"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/shard"
)

// fixtures are stores that programs of old formats wrote, by
// testdata/make.sh. A fixture is never made anew.
var fixtures = []struct {
	name string
	// index is the version of all shards.
	index shard.IndexVersion
}{
	{"format1-folded", shard.IndexFoldedLists}, // by commit 7c21a49, the last without exact lists
	{"format1-exact", shard.IndexExactLists},   // by commit 7c79646
}

// unpack makes the data directory "data" of a fixture on fs.
func unpack(t testing.TB, fs vfs.FS, name string) {
	t.Helper()
	r, err := zip.OpenReader("testdata/" + name + ".zip")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	dirs := []string{"data", "data/index"}
	for _, d := range dirs {
		if err := fs.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, e := range r.File {
		if !strings.HasSuffix(e.Name, "/") {
			unpackFile(t, fs, e)
		}
	}
	for _, d := range append(dirs, "") {
		dir, err := fs.OpenDir(d)
		if err == nil {
			err = errors.Join(dir.Sync(), dir.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func unpackFile(t testing.TB, fs vfs.FS, e *zip.File) {
	t.Helper()
	from, err := e.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	to, err := fs.Create("data/"+e.Name, vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(to, from)
	if err := errors.Join(err, to.Sync(), to.Close()); err != nil {
		t.Fatal(err)
	}
}

// contents are the names and texts of all files below data, but for the lock.
func contents(t testing.TB, fs vfs.FS) string {
	t.Helper()
	var out strings.Builder
	for _, dir := range []string{"data", "data/index"} {
		names, err := fs.List(dir)
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(names)
		for _, n := range names {
			if n == "index" || n == "LOCK" {
				continue
			}
			f, err := fs.Open(dir + "/" + n)
			if err != nil {
				t.Fatal(err)
			}
			b, err := io.ReadAll(f)
			if err := errors.Join(err, f.Close()); err != nil {
				t.Fatal(err)
			}
			out.WriteString(n + "\n" + string(b) + "\n")
		}
	}
	return out.String()
}

// check opens a store that has been migrated and looks whether all is there.
func check(t testing.TB, fs vfs.FS, index shard.IndexVersion) {
	t.Helper()
	s, err := store.Open("data", store.Options{FS: fs, CacheBytes: 1 << 20})
	if err != nil {
		t.Fatalf("open the migrated store: %v", err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	sn := s.Snapshot()
	defer sn.Close()
	var names []string
	for _, r := range sn.Repositories() {
		names = append(names, r.Name)
		for _, id := range append(r.Shards, r.History.Shards...) {
			if _, ok := sn.Shard(id); !ok {
				t.Errorf("shard %d of repository %s is gone", id, r.Name)
			}
		}
	}
	if got := strings.Join(names, " "); got != "glaze vault kiln" {
		t.Errorf("repositories are %q, want glaze, vault and kiln", got)
	}
	dead, history, symbols := 0, 0, 0
	for _, v := range sn.Shards() {
		if v.Header.Index != index {
			t.Errorf("shard %d has index version %d, want %d", v.ID, v.Header.Index, index)
		}
		if _, err := v.Documents(); err != nil {
			t.Errorf("documents of shard %d: %v", v.ID, err)
		}
		if v.Dead != nil {
			dead += v.Dead.Len()
		}
		if v.Header.IsHistory() {
			history++
		}
		if v.HasSymbols() {
			symbols++
		}
	}
	if dead == 0 || history == 0 || symbols == 0 {
		t.Errorf("there are %d dead documents, %d shards of commits and %d with symbols, want some of each", dead, history, symbols)
	}
}

// TestFixtures: a store of an old format is refused with the way out, is left
// alone by a plan, and has all it had after it was migrated, once.
func TestFixtures(t *testing.T) {
	for _, f := range fixtures {
		t.Run(f.name, func(t *testing.T) {
			fs := vfs.NewMem()
			unpack(t, fs, f.name)
			o := store.Options{FS: fs}
			before := contents(t, fs)
			for _, readOnly := range []bool{false, true} {
				_, err := store.Open("data", store.Options{FS: fs, ReadOnly: readOnly})
				var fe *store.FormatError
				if !errors.As(err, &fe) || !fe.Older() || fe.Found != 1 || !strings.Contains(err.Error(), "trawl migrate") {
					t.Errorf("Open, read only %t: %v, want an error that names format 1 and trawl migrate", readOnly, err)
				}
			}
			plan, shards, err := migrations.Plan("data", o)
			if err != nil || len(plan) != 1 || plan[0].From != 1 || plan[0].To != 2 || plan[0].Records != shards.All || shards.All < 2 {
				t.Fatalf("Plan: %+v, shards %+v, %v; want one step over all shards", plan, shards, err)
			}
			if outdated := shards.Outdated > 0; outdated != (f.index < shard.IndexNewest) {
				t.Errorf("Plan tells of %+v, want outdated ones only if all are", shards)
			}
			if contents(t, fs) != before {
				t.Error("refusing or planning changed the store")
			}
			for try, want := range []int{1, 0} {
				done, err := migrations.Run(t.Context(), "data", o)
				if err != nil || len(done) != want || want > 0 && done[0].Records != plan[0].Records {
					t.Fatalf("Run %d: %+v, %v; want %d steps as planned: %+v", try, done, err, want, plan)
				}
				check(t, fs, f.index)
			}
		})
	}
}

// TestNewer: a store of a newer program is neither opened nor migrated, and both
// numbers are told.
func TestNewer(t *testing.T) {
	fs := vfs.NewMem()
	unpack(t, fs, fixtures[0].name)
	f, err := fs.Create("data/FORMAT", vfs.WriteCategoryUnspecified)
	if err == nil {
		_, err = f.Write([]byte("9\n"))
	}
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	before := contents(t, fs)
	_, ran := migrations.Run(t.Context(), "data", store.Options{FS: fs})
	_, _, planned := migrations.Plan("data", store.Options{FS: fs})
	for what, err := range map[string]error{"Run": ran, "Plan": planned} {
		var fe *store.FormatError
		if !errors.As(err, &fe) || fe.Found != 9 || fe.Known != store.FormatNewest || fe.Older() {
			t.Errorf("%s on format 9: %v, want a FormatError with both numbers", what, err)
		}
	}
	if contents(t, fs) != before {
		t.Error("a store of a newer format was changed")
	}
}

// TestNothingThere: where there is no store there is nothing to migrate, and none
// is made.
func TestNothingThere(t *testing.T) {
	fs := vfs.NewMem()
	done, err := migrations.Run(t.Context(), "data", store.Options{FS: fs})
	if err != nil || len(done) > 0 {
		t.Errorf("Run without a store: %+v, %v; want nothing", done, err)
	}
	if _, err := fs.Stat("data"); err == nil {
		t.Error("Run made a data directory")
	}
}
