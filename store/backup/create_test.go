package backup_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"strings"
	"testing"

	"filippo.io/age"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/backup"
	"github.com/trawlsearch/trawl/store/object"
	"github.com/trawlsearch/trawl/store/shard"
)

// identity makes a key pair.
func identity(t testing.TB) (recipient, private string) {
	t.Helper()
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	return id.Recipient().String() + "\n", id.String() + "\n"
}

// Backups of all kinds of destinations: a first, one of a change, one of none.
func TestCreateAndRestore(t *testing.T) {
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
			w.put("a", "1")
			w.shard("large", 64<<10)
			w.pack("pack-1.pack", 9<<20)
			o := backup.Options{Keys: c.write, Program: "test", Mirrors: true}
			first := w.create(o)
			atFirst, packsAtFirst := maps.Clone(w.records), maps.Clone(w.packs)
			if first.SentBytes < 9<<20 || first.SentObjects != first.Objects || first.ReadBytes != first.Bytes {
				t.Errorf("first: %+v, want that all of it was read and sent", first)
			}

			w.put("a", "2")
			w.shard("small", 16<<10)
			w.pack("pack-2.pack", 1<<20)
			second := w.create(o)
			if second.SentBytes > 2<<20 || second.ReadBytes > 2<<20 || second.Bytes < 9<<20 {
				t.Errorf("second: %+v, want that what is new was read and sent", second)
			}

			third := w.create(o)
			if third.SentBytes > 100<<10 {
				t.Errorf("third: %+v, want that next to nothing was sent", third)
			}
			// What the data directory knows of backups is only there to save time.
			if err := w.fs.RemoveAll("data/backup"); err != nil {
				t.Fatal(err)
			}
			if r := w.create(o); c.name != "recipient" && r.SentBytes > 100<<10 {
				t.Errorf("without what is known: %+v, want that next to nothing was sent", r)
			}

			v := w.sound(c.read)
			if v.Backups != 4 || !v.Decrypted {
				t.Errorf("verified %+v, want 4 backups, all of them decrypted", v)
			}
			w.restore(c.read, first.Backup, atFirst, packsAtFirst)
			w.restore(c.read, second.Backup, w.records, w.packs)
			w.restore(c.read, "", w.records, w.packs)
		})
	}
}

// An encrypted destination reveals neither names nor text.
func TestEncryptedTellsNothing(t *testing.T) {
	w := newWorld(t)
	w.put("kiln", "a secret that must not show")
	recipient, _ := identity(t)
	w.create(backup.Options{Keys: backup.Keys{Recipients: recipient}, Program: "trawl v1"})
	for name, data := range stored(t, w.dest) {
		for _, secret := range []string{"secret", "kiln", "FORMAT", "index", ".log", "trawl v1", recipient[:20]} {
			if strings.Contains(name, secret) || bytes.Contains(data, []byte(secret)) {
				t.Errorf("%s shows %q", name, secret)
			}
		}
	}
	// Without a key, what is stored can still be verified.
	if v := w.sound(backup.Keys{}); v.Decrypted || v.Objects == 0 {
		t.Errorf("verified without a key: %+v", v)
	}
	m := w.describe(backup.Keys{}, 0)
	if m.Body != nil || len(m.Objects) == 0 {
		t.Errorf("described without a key: %+v", m)
	}
}

func (w *world) list() []backup.Backup {
	w.Helper()
	all, err := backup.List(context.Background(), w.dest)
	if err != nil {
		w.Fatal(err)
	}
	return all
}

func (w *world) describe(keys backup.Keys, i int) *backup.Manifest {
	w.Helper()
	m, err := backup.Describe(context.Background(), w.dest, keys, w.list()[i])
	if err != nil {
		w.Fatal(err)
	}
	return m
}

func TestKeys(t *testing.T) {
	recipient, private := identity(t)
	_, other := identity(t)
	w := newWorld(t)
	w.put("a", "1")
	restore := func(dest object.Store, keys backup.Keys) error {
		_, err := backup.Restore(context.Background(), dest, vfs.NewMem(), "new", backup.RestoreOptions{Keys: keys})
		return err
	}
	create := func(dest object.Store, keys backup.Keys) error {
		w.dest = dest
		_, err := w.tryCreate(backup.Options{Keys: keys})
		return err
	}
	plain, sealed, phrase := object.NewFolder(vfs.NewMem(), "p"), object.NewFolder(vfs.NewMem(), "s"), object.NewFolder(vfs.NewMem(), "w")
	for dest, keys := range map[object.Store]backup.Keys{plain: {}, sealed: {Recipients: recipient}, phrase: {Passphrase: "glaze"}} {
		if err := create(dest, keys); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name string
		err  error
		want string
	}{
		// reading
		{"no key", restore(sealed, backup.Keys{}), "give the identity or the passphrase"},
		{"recipients only", restore(sealed, backup.Keys{Recipients: recipient}), "give the identity or the passphrase"},
		{"another key", restore(sealed, backup.Keys{Identities: other}), "not that of this backup"},
		{"one of two keys", restore(sealed, backup.Keys{Identities: other + private}), ""},
		{"a passphrase where there is none", restore(sealed, backup.Keys{Passphrase: "glaze"}), "not made with a passphrase"},
		{"the passphrase", restore(phrase, backup.Keys{Passphrase: "glaze"}), ""},
		{"another passphrase", restore(phrase, backup.Keys{Passphrase: "gloss"}), "not that of this backup"},
		{"keys that are none", restore(sealed, backup.Keys{Identities: "glaze"}), "read identities"},
		{"more than is needed", restore(plain, backup.Keys{Identities: private, Passphrase: "glaze"}), ""},

		// writing
		{"plain into encrypted", create(sealed, backup.Keys{}), "are encrypted: give recipients or the passphrase"},
		{"encrypted into plain", create(plain, backup.Keys{Recipients: recipient}), "are not encrypted"},
		{"recipients that are none", create(object.NewFolder(vfs.NewMem(), "r"), backup.Keys{Recipients: "glaze"}), "read recipients"},
		{"recipients to a passphrase", create(phrase, backup.Keys{Recipients: recipient}), ""},
	} {
		switch {
		case c.want == "" && c.err != nil:
			t.Errorf("%s: %v", c.name, c.err)
		case c.want != "" && (c.err == nil || !strings.Contains(c.err.Error(), c.want)):
			t.Errorf("%s: got %v, want %q in it", c.name, c.err, c.want)
		}
	}
}

// An interrupted run blocks no other, and the objects it sent are not sent
// again, encrypted or not.
func TestContinue(t *testing.T) {
	recipient, _ := identity(t)
	for _, keys := range []backup.Keys{{}, {Recipients: recipient}} {
		w := newWorld(t)
		w.pack("pack-1.pack", 9<<20)
		o := backup.Options{Keys: keys, Workers: 1, Mirrors: true}
		n := 0
		interrupted := errors.New("interrupted")
		o.Yield = func(context.Context) error {
			if n++; n > 2 {
				return interrupted
			}
			return nil
		}
		if _, err := w.tryCreate(o); !errors.Is(err, interrupted) {
			t.Fatalf("got %v", err)
		}
		r, err := backup.LastRun(w.fs, "data")
		if err != nil || r.Last == nil || r.LastGood != nil || !strings.Contains(r.Last.Error, "interrupted") || r.Last.Destination != "backups" {
			t.Errorf("record: got %+v, %v", r.Last, err)
		}
		if all := w.list(); len(all) != 0 {
			t.Errorf("there are backups: %v", all)
		}
		// As after a crash: the process has forgotten everything.
		w.close()
		w.open()
		o.Yield = nil
		res := w.create(o)
		if most := res.Bytes - 2*backup.PartBytes + 64<<10; res.SentBytes > most {
			t.Errorf("encrypted %t: sent %d bytes of %d again, want at most %d", keys.Encrypts(), res.SentBytes, res.Bytes, most)
		}
		if exists(w.fs, "data/checkpoint") {
			t.Error("the checkpoint stayed")
		}
		if r, err := backup.LastRun(w.fs, "data"); err != nil || r.LastGood == nil || r.LastGood.Backup != res.Backup || r.LastGood.SentBytes != res.SentBytes {
			t.Errorf("record: got %+v, %v, want %+v in it", r.LastGood, err, res)
		}
		w.sound(backup.Keys{})
	}
}

func TestNothingThere(t *testing.T) {
	ctx, dest := context.Background(), object.NewFolder(vfs.NewMem(), "none")
	_, list := backup.List(ctx, dest)
	_, verify := backup.Verify(ctx, dest, backup.VerifyOptions{})
	_, prune := backup.Prune(ctx, dest, backup.PruneOptions{Keep: backup.Keep{Last: 1}})
	_, restore := backup.Restore(ctx, dest, vfs.NewMem(), "new", backup.RestoreOptions{})
	for what, err := range map[string]error{"list": list, "verify": verify, "prune": prune, "restore": restore} {
		if !errors.Is(err, backup.ErrNoBackups) {
			t.Errorf("%s: got %v, want ErrNoBackups", what, err)
		}
	}
}

func TestRestoreKeepsWhatIsThere(t *testing.T) {
	w := newWorld(t)
	w.put("a", "1")
	w.create(backup.Options{})
	fs := vfs.NewMem()
	into := func(dir string, o backup.RestoreOptions) error {
		_, err := backup.Restore(context.Background(), w.dest, fs, dir, o)
		return err
	}
	// an empty directory is filled, what an earlier attempt left goes
	for _, dir := range []string{"deep/empty/.restoring/index", "deep/empty/mirrors/1.git", "deep/empty/lost+found", "deep/none.restoring/index"} {
		if err := fs.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{"deep/empty", "deep/none"} {
		if err := into(dir, backup.RestoreOptions{}); err != nil {
			t.Fatal(err)
		}
		same(t, fs, dir, w.records)
	}
	if exists(fs, "deep/empty/mirrors") || !exists(fs, "deep/empty/lost+found") {
		t.Error("mirrors that no backup has stayed, or what a file system has went")
	}
	// anything else does not
	if err := into("deep/empty", backup.RestoreOptions{}); !errors.Is(err, backup.ErrNotEmpty) {
		t.Errorf("over a data directory: got %v, want ErrNotEmpty", err)
	}
	for dir, what := range map[string]string{
		"mirrors without a restore": "mirrors", "something else beside a restore": ".restoring x", "a data directory beside a restore": ".restoring index",
	} {
		for _, name := range strings.Fields(what) {
			if err := fs.MkdirAll(dir+"/"+name, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := into(dir, backup.RestoreOptions{}); !errors.Is(err, backup.ErrNotEmpty) {
			t.Errorf("over %s: got %v, want ErrNotEmpty", dir, err)
		}
	}
	if err := into("other", backup.RestoreOptions{Backup: "nosuch"}); !errors.Is(err, backup.ErrNoSuchBackup) {
		t.Errorf("of an ID that there is not: got %v, want ErrNoSuchBackup", err)
	}
	held, err := fs.Lock("busy.restoring.lock")
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if err := into("busy", backup.RestoreOptions{}); err == nil || !strings.Contains(err.Error(), "another restore") {
		t.Errorf("beside another: got %v", err)
	}
	for _, dir := range []string{"other", "other.restoring", "deep/none.restoring", "deep/none.restoring.lock", "deep/empty/.restoring", "deep/empty/.restoring.lock"} {
		if _, err := fs.Stat(dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is there: %v", dir, err)
		}
	}
}

// A restore that was killed when all but the index was in its place is begun
// again, though a server was started there meanwhile, which says what is wrong.
func TestRestoreAfterAServer(t *testing.T) {
	w := newWorld(t)
	w.put("a", "1")
	w.create(backup.Options{})
	fs := vfs.NewMem()
	if err := fs.MkdirAll("new/.restoring/index", 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := fs.Create("new/FORMAT", vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintln(f, store.FormatNewest); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Open("new", store.Options{FS: fs}); !shard.IsDamage(err) || !strings.Contains(err.Error(), "restore") {
		t.Errorf("opened with %v, want what is damaged and what to do", err)
	}
	if _, err := backup.Restore(context.Background(), w.dest, fs, "new", backup.RestoreOptions{}); err != nil {
		t.Fatal(err)
	}
	same(t, fs, "new", w.records)
}

// meddled is a file system on which another restore ends right before one has
// the lock.
type meddled struct {
	vfs.FS
	meddle func()
}

func (m meddled) Lock(name string) (io.Closer, error) {
	m.meddle()
	return m.FS.Lock(name)
}

// TestRestoreLooksAgain: what another restore has brought meanwhile stays.
func TestRestoreLooksAgain(t *testing.T) {
	w := newWorld(t)
	w.put("a", "1")
	w.create(backup.Options{})
	fs := vfs.NewMem()
	if err := fs.MkdirAll("new", 0o755); err != nil {
		t.Fatal(err)
	}
	other := func() {
		if _, err := backup.Restore(context.Background(), w.dest, fs, "new", backup.RestoreOptions{}); err != nil {
			t.Error(err)
		}
	}
	if _, err := backup.Restore(context.Background(), w.dest, meddled{fs, other}, "new", backup.RestoreOptions{}); !errors.Is(err, backup.ErrNotEmpty) {
		t.Errorf("over what another has restored: got %v, want ErrNotEmpty", err)
	}
	same(t, fs, "new", w.records)
}

// A backup of a newer program is refused with both numbers, wherever they
// stand.
func TestNewerFormats(t *testing.T) {
	for _, what := range []string{"repository", "manifest", "data"} {
		w := newWorld(t)
		w.create(backup.Options{})
		m := w.describe(backup.Keys{}, 0)
		name, data := m.Name(), []byte(nil)
		want := uint32(9)
		switch what {
		case "repository":
			name = "repository"
			data = backup.SealVersion("repository", 9, []byte("{}"))
		case "manifest":
			data = backup.SealVersion("manifest", 9, []byte("whatever it is then"))
		case "data":
			m.Body.DataFormat = 9
			var err error
			if data, err = m.Encode(); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.dest.Put(context.Background(), name, data); err != nil {
			t.Fatal(err)
		}
		_, err := backup.Restore(context.Background(), w.dest, vfs.NewMem(), "new", backup.RestoreOptions{})
		var newer *backup.FormatError
		if !errors.As(err, &newer) || newer.Found != want || newer.Known == 0 || errors.Is(err, store.ErrCorrupt) {
			t.Errorf("%s: got %v, want a FormatError about 9", what, err)
		}
	}
}
