package check_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/check"
	mirrors "github.com/trawlsearch/trawl/store/git"
	"github.com/trawlsearch/trawl/store/ingest"
)

// mirrored gives the world a mirror that ann alone may see, and returns it.
func (w *world) mirrored() *store.Repository {
	w.t.Helper()
	sn := w.st.Snapshot()
	kiln, err := sn.Repository("kiln")
	sn.Close()
	if err != nil {
		w.t.Fatal(err)
	}
	r, err := w.ix.Add(context.Background(), ingest.Source{Name: "lab/kiln", Location: "file://" + kiln.Source, Remote: true})
	if err != nil {
		w.t.Fatal(err)
	}
	w.rebuild(r.Name)
	err = w.st.Update(func(tx *store.Tx) error {
		r, err = tx.SetReaders(r.Name, &store.Readers{Users: []uint32{1}})
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// flip changes the record of a repository until it cannot be read.
func (w *world) flip(rng *rand.Rand, id uint32) {
	w.t.Helper()
	w.alter(func(db *pebble.DB) error {
		value, closer, err := db.Get(key('r', id))
		if err != nil {
			return err
		}
		flipped := slices.Clone(value)
		if err := closer.Close(); err != nil {
			return err
		}
		flipped[rng.IntN(len(flipped))] ^= 1 << rng.IntN(8)
		return db.Set(key('r', id), flipped, pebble.Sync)
	})
}

// fromMirror finds a repository by its mirror.
func (w *world) fromMirror(lost store.LostRepository) (store.Repository, bool) {
	origin, err := mirrors.Origin(context.Background(), w.st.GitDirs().Dir(&store.Repository{ID: lost.ID, Mirror: true}))
	return store.Repository{Name: fmt.Sprintf("recovered/%d", lost.ID), Source: origin, Mirror: true}, err == nil
}

// A flipped bit in the record of a private repository: until the repair a
// repository that is added again has no readers, and after the repair the
// repository is there with all its files, for site admins only.
func TestLostRepository(t *testing.T) {
	w := newWorld(t)
	defer func() { w.close() }()
	r := w.mirrored()
	seed := uint64(time.Now().UnixNano())
	rng := rand.New(rand.NewPCG(seed, 1))
	for w.st.Health().LostRepositories == 0 {
		w.flip(rng, r.ID)
	}
	again, err := w.ix.Add(context.Background(), ingest.Source{Name: "added", Location: "file:///nowhere", Remote: true})
	if err != nil || again.Readers == nil || again.Readers.Allow(1, nil) {
		t.Errorf("seed %d: added while a record is lost: readers are %+v, %v, want none", seed, again.Readers, err)
	}
	w.repairs(check.Options{}, check.Restore) // the source is unknown
	found := w.repairs(check.Options{Source: w.fromMirror}, check.Rebuild)
	names, err := check.Prepare(w.st, found, time.Now())
	if err != nil || len(names) != 1 {
		t.Fatalf("seed %d: Prepare: %q, %v, want one repository", seed, names, err)
	}
	if h := w.st.Health(); h.LostRepositories != 0 || len(h.Records) != 0 {
		t.Errorf("seed %d: after the repair: %+v", seed, h)
	}
	sn := w.st.Snapshot()
	got, err := sn.Repository(names[0])
	sn.Close()
	if err != nil || got.Readers == nil || got.Readers.Allow(1, nil) || got.ID == r.ID {
		t.Fatalf("seed %d: recovered %+v, %v, want another ID and no readers", seed, got, err)
	}
	if _, err := os.Stat(w.st.GitDirs().Dir(got)); err != nil {
		t.Errorf("seed %d: its mirror: %v", seed, err)
	}
	w.rebuild(names...)
	w.close()
	w.open()
	sn = w.st.Snapshot()
	defer sn.Close()
	if got, err = sn.Repository(names[0]); err != nil || got.Documents != r.Documents && r.Documents > 0 || got.Documents == 0 || got.Readers == nil {
		t.Errorf("seed %d: synced and opened again: %+v, %v", seed, got, err)
	}
	if _, err := w.st.Repositories().Recover(r.ID, store.Repository{Name: "twice"}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("seed %d: Recover of what is not lost: %v, want ErrNotFound", seed, err)
	}
}

// repairs checks and returns the finding about the lost record, whose repair is
// to be want.
func (w *world) repairs(o check.Options, want check.Repair) []check.Finding {
	w.t.Helper()
	o.Quick = true
	found := slices.DeleteFunc(w.check(o), func(f check.Finding) bool { return !strings.Contains(f.Problem, "the record of repository") })
	if len(found) != 1 || found[0].Repair != want {
		w.t.Fatalf("found %+v, want one record to %s", found, want)
	}
	return found
}

// What was added again under its name needs no repair: the damaged record is
// deleted.
func TestLostRepositoryAddedAgain(t *testing.T) {
	w := newWorld(t)
	defer func() { w.close() }()
	r := w.mirrored()
	w.alter(func(db *pebble.DB) error { return db.Set(key('r', r.ID), []byte("{"), pebble.Sync) })
	if _, err := w.ix.Add(context.Background(), ingest.Source{Name: r.Name, Location: r.Source, Remote: true}); err != nil {
		t.Fatal(err)
	}
	same := func(store.LostRepository) (store.Repository, bool) {
		return store.Repository{Name: r.Name, Source: r.Source, Mirror: true}, true
	}
	found := w.repairs(check.Options{Source: same}, check.Drop)
	if names, err := check.Prepare(w.st, found, time.Now()); err != nil || len(names) != 0 {
		t.Errorf("Prepare: %q, %v, want nothing to sync", names, err)
	}
	if h := w.st.Health(); h.LostRepositories != 0 {
		t.Errorf("%d repositories are lost after the repair, want none", h.LostRepositories)
	}
}
