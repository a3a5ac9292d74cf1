package backup_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/backup"
)

// flips is how many bits are flipped in each kind of destination:
//
//	TRAWL_FLIPS=10000 go test ./store/backup -run TestFlippedBits
func flips(t *testing.T) int {
	t.Helper()
	n, err := strconv.Atoi(os.Getenv("TRAWL_FLIPS"))
	if err != nil {
		return 100
	}
	return n
}

// TestFlippedBits: whichever bit of a destination flips, verify and restore both
// say so, verify names the file, and restore leaves nothing behind.
func TestFlippedBits(t *testing.T) {
	recipient, private := identity(t)
	for _, c := range []struct {
		name        string
		write, read backup.Keys
	}{
		{"plain", backup.Keys{}, backup.Keys{}},
		{"recipient", backup.Keys{Recipients: recipient}, backup.Keys{Identities: private}},
		{"passphrase", backup.Keys{Passphrase: "glaze"}, backup.Keys{Passphrase: "glaze"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.put("a", strings.Repeat("glaze ", 100))
			w.create(backup.Options{Keys: c.write})
			all := stored(t, w.dest)
			names := slices.Sorted(maps.Keys(all))
			rng := rand.New(rand.NewPCG(1, 2))
			for i := range flips(t) {
				name := names[i%len(names)]
				data := bytes.Clone(all[name])
				bit := rng.IntN(len(data) * 8)
				data[bit/8] ^= 1 << (bit % 8)
				w.flipped(c.read, name, data, fmt.Sprintf("bit %d of %s", bit, name))
				if err := w.dest.Put(context.Background(), name, bytes.Clone(all[name])); err != nil {
					t.Fatal(err)
				}
			}
			w.sound(c.read)
		})
	}
}

func (w *world) flipped(keys backup.Keys, name string, data []byte, what string) {
	w.Helper()
	ctx := context.Background()
	if err := w.dest.Put(ctx, name, data); err != nil {
		w.Fatal(err)
	}
	v, err := backup.Verify(ctx, w.dest, backup.VerifyOptions{Keys: keys})
	if err == nil && len(v.Damage) == 0 {
		w.Fatalf("%s: verify found nothing", what)
	}
	if err == nil && (len(v.Damage) != 1 || v.Damage[0].Name != name) {
		w.Fatalf("%s: verify found %+v", what, v.Damage)
	}
	fs := vfs.NewMem()
	if _, err := backup.Restore(ctx, w.dest, fs, "new", backup.RestoreOptions{Keys: keys}); err == nil {
		w.Fatalf("%s: it was restored", what)
	}
	if exists(fs, "new") || exists(fs, "new.restoring") {
		w.Fatalf("%s: restoring left something", what)
	}
}

// What is cut off, or gone, is told as well, and the next backup mends what it
// can.
func TestDamageIsNamedAndMended(t *testing.T) {
	ctx := context.Background()
	for _, how := range []string{"cut off", "gone", "longer", "empty"} {
		w := newWorld(t)
		w.pack("pack-1.pack", 6<<20)
		o := backup.Options{Mirrors: true}
		first := w.create(o)
		m := w.describe(backup.Keys{}, 0)
		var object backup.Object
		for _, f := range m.Body.Files {
			if strings.HasSuffix(f.Path, ".pack") {
				object = m.Objects[f.Parts[1].Object]
			}
		}
		name := path.Join("objects", object.Name[:2], object.Name)
		data := stored(t, w.dest)[name]
		var err error
		switch how {
		case "cut off":
			err = w.dest.Put(ctx, name, data[:100])
		case "gone":
			err = w.dest.Delete(ctx, name)
		case "longer":
			err = w.dest.Put(ctx, name, append(data, 0))
		case "empty":
			err = w.dest.Put(ctx, name, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		v, err := backup.Verify(ctx, w.dest, backup.VerifyOptions{})
		if how == "longer" {
			// No destination does that; it is an error of reading.
			if err == nil {
				t.Errorf("%s: verify found %+v, want an error", how, v.Damage)
			}
		} else if err != nil || len(v.Damage) != 1 || v.Damage[0].Name != name || !slices.Equal(v.Damage[0].Backups, []string{first.Backup}) ||
			!slices.Contains(v.Damage[0].Files, "mirrors/7.git/objects/pack/pack-1.pack") {
			t.Errorf("%s: got %+v, %v, want %s, its backup and its file", how, v.Damage, err, name)
		}
		_, err = backup.Restore(ctx, w.dest, vfs.NewMem(), "new", backup.RestoreOptions{})
		if err == nil || !strings.Contains(err.Error(), object.Name) {
			t.Errorf("%s: restore: got %v, want %s in it", how, err, name)
		}
		// The size tells that it is not what it was.
		w.create(o)
		w.sound(backup.Keys{})
		w.restore(backup.Keys{}, first.Backup, w.records, w.packs)
	}
}

func TestDeleteDamaged(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t)
	w.pack("pack-1.pack", 2<<20)
	o := backup.Options{Mirrors: true}
	first := w.create(o)
	second := w.create(o)
	all := stored(t, w.dest)
	for name, data := range all {
		data = bytes.Clone(data)
		data[len(data)/2] ^= 4
		if strings.HasSuffix(name, second.Backup) || len(data) >= 2<<20 {
			if err := w.dest.Put(ctx, name, data); err != nil {
				t.Fatal(err)
			}
		}
	}
	v, err := backup.Verify(ctx, w.dest, backup.VerifyOptions{DeleteDamaged: true})
	if err != nil || len(v.Damage) != 2 || !v.Damage[0].Deleted || !v.Damage[1].Deleted {
		t.Fatalf("got %+v, %v, want that a manifest and an object were deleted", v, err)
	}
	w.create(o)
	if v := w.sound(backup.Keys{}); v.Backups != 2 {
		t.Errorf("%d backups are sound, want 2", v.Backups)
	}
	w.restore(backup.Keys{}, first.Backup, w.records, w.packs)
}

// A damaged manifest keeps Prune from deleting what it may need.
func TestPruneBesideDamage(t *testing.T) {
	w := newWorld(t)
	w.create(backup.Options{})
	second := w.create(backup.Options{})
	for name, data := range stored(t, w.dest) {
		if strings.HasSuffix(name, second.Backup) {
			if err := w.dest.Put(context.Background(), name, data[:len(data)-1]); err != nil {
				t.Fatal(err)
			}
		}
	}
	before := len(stored(t, w.dest))
	_, err := backup.Prune(context.Background(), w.dest, backup.PruneOptions{Keep: backup.Keep{Last: 1}, Now: w.now}.Quick())
	if !errors.Is(err, store.ErrCorrupt) || len(stored(t, w.dest)) != before {
		t.Errorf("got %v, want that it refuses and deletes nothing", err)
	}
}
