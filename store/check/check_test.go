package check_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/trawlsearch/trawl/internal/gitrepo"
	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/check"
	"github.com/trawlsearch/trawl/store/identity"
	"github.com/trawlsearch/trawl/store/ingest"
	"github.com/trawlsearch/trawl/store/shard"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a data directory with two repositories, their histories and
// symbols, a user with a token, and an organisation.
type world struct {
	t   *testing.T
	dir string
	st  *store.Store
	ix  *ingest.Indexer
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	gitrepo.Run(t, dir, nil, "", args...)
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, dir: filepath.Join(t.TempDir(), "data")}
	w.open()
	for _, name := range []string{"kiln", "mill"} {
		dir := filepath.Join(t.TempDir(), name)
		git(t, "", "init", "-q", "-b", "main", dir)
		big := strings.Repeat("func "+name+"() // Gla\u017fe\n", 5000)
		for path, text := range map[string]string{"a.go": "package " + name + "\n", "b/MA\u017fS.txt": "fired\n", "big.go": big, "empty": ""} {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, path)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, path), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		git(t, dir, "add", "-A")
		git(t, dir, "commit", "-qm", "first "+name)
		git(t, dir, "branch", "old")
		git(t, dir, "mv", "a.go", "c.go")
		git(t, dir, "commit", "-qm", "second")
		if _, err := w.ix.Add(context.Background(), ingest.Source{Name: name, Location: dir}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.st.Repositories().ChangeFacts(name, store.FactsChange{Branches: &[]string{"*"}}); err != nil {
			t.Fatal(err)
		}
	}
	w.rebuild("kiln", "mill")
	reg, err := identity.Open(w.st, identity.Options{})
	if err != nil {
		t.Fatal(err)
	}
	week := 7 * 24 * time.Hour
	u, err := reg.CreateUser(identity.Author{}, identity.NewUser{Name: "ann", Email: "ann@example.org", EmailVerified: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := reg.CreateToken(identity.Author{UserID: u.ID, User: u.Name}, identity.NewToken{User: u.ID, Scopes: []string{identity.ScopeAll}, Lifetime: &week}); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) open() {
	w.t.Helper()
	var err error
	if w.st, err = store.Open(w.dir, store.Options{CacheBytes: 8 << 20}); err != nil {
		w.t.Fatal(err)
	}
	w.ix = ingest.New(w.st, ingest.Options{MinFreeBytes: -1, ShardBlocks: 256})
}

func (w *world) close() {
	w.t.Helper()
	if err := w.st.Close(); err != nil {
		w.t.Error(err)
	}
}

// rebuild syncs repositories and reads their histories, one after the other, so that
// no two share a shard, and writes the symbols of new shards.
func (w *world) rebuild(names ...string) {
	w.t.Helper()
	ctx := context.Background()
	for _, name := range names {
		if _, err := w.ix.Sync(ctx, name, nil); err != nil {
			w.t.Fatal(err)
		}
		if res, err := w.ix.Histories.Read(ctx, nil); err != nil || len(res.Failed) > 0 {
			w.t.Fatalf("History: %v, %q", err, res.Failed)
		}
	}
	sn := w.st.Snapshot()
	defer sn.Close()
	for _, v := range sn.Shards() {
		if !v.Header.IsHistory() && !v.HasSymbols() && v.Quarantine == nil {
			w.symbols(v)
		}
	}
}

// symbols writes a symbol for each line of text that defines a function.
func (w *world) symbols(v shard.View) {
	w.t.Helper()
	docs, err := v.Documents()
	if err != nil {
		w.t.Fatal(err)
	}
	sw, text := w.st.NewSymbolWriter(), v.Text()
	defer sw.Close()
	defer text.Close()
	if err := sw.Begin(v); err != nil {
		w.t.Fatal(err)
	}
	for i := range docs.Len() {
		data, err := text.Slice(docs.TextStart[i], docs.TextStart[i+1])
		if err != nil {
			w.t.Fatal(err)
		}
		var found []shard.Symbol
		for n, line := range bytes.Split(data, []byte("\n")) {
			if bytes.HasPrefix(line, []byte("func ")) {
				found = append(found, shard.Symbol{Name: fmt.Sprintf("%s%d\u017f", line[5:9], n), Kind: "function", Language: "Go", Line: uint32(n + 1)})
			}
		}
		if err := sw.Add(uint16(i), found); err != nil {
			w.t.Fatal(err)
		}
	}
	if err := errors.Join(sw.Seal(), sw.Finish(context.Background(), shard.SymbolCounts{Documents: docs.Len()})); err != nil {
		w.t.Fatal(err)
	}
}

// alter changes keys behind the back of the store.
func (w *world) alter(change func(*pebble.DB) error) {
	w.t.Helper()
	w.close()
	if err := os.Remove(filepath.Join(w.dir, "index", "SEAL")); err != nil {
		w.t.Fatal(err)
	}
	db, err := pebble.Open(filepath.Join(w.dir, "index"), &pebble.Options{FormatMajorVersion: pebble.FormatNewest, Logger: quiet{}})
	if err != nil {
		w.t.Fatal(err)
	}
	if err := errors.Join(change(db), db.Close()); err != nil {
		w.t.Fatal(err)
	}
	w.open()
}

type quiet struct{}

func (quiet) Infof(string, ...any)              {}
func (quiet) Errorf(string, ...any)             {}
func (quiet) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

func (w *world) check(o check.Options) []check.Finding {
	w.t.Helper()
	var out []check.Finding
	if err := check.Store(context.Background(), w.st, o, func(f check.Finding) { out = append(out, f) }); err != nil {
		w.t.Fatal(err)
	}
	return out
}

func (w *world) repository(name string) *store.Repository {
	w.t.Helper()
	sn := w.st.Snapshot()
	defer sn.Close()
	r, err := sn.Repository(name)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

func TestSoundStore(t *testing.T) {
	w := newWorld(t)
	defer func() { w.close() }()
	for _, quick := range []bool{false, true} {
		last, total := int64(-1), int64(0)
		pauses := 0
		found := w.check(check.Options{
			Quick:  quick,
			Report: func(d, of int64) { last, total = d, of },
			Pause:  func(context.Context) error { pauses++; return nil },
		})
		if len(found) > 0 {
			t.Errorf("quick %v: got %+v, want nothing", quick, found)
		}
		if last != total || total == 0 || pauses == 0 {
			t.Errorf("quick %v: the last report is %d of %d, %d pauses; want all and some", quick, last, total, pauses)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := check.Store(ctx, w.st, check.Options{}, func(check.Finding) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v", err)
	}
}

func key(prefix byte, id uint32, rest ...byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{prefix}, id), rest...)
}

// posting is the key of the list of three bytes.
func posting(shard uint32, part, field byte, trigram string) []byte {
	return append(key('s', shard, part, field), trigram...)
}

func list(numbers ...uint16) []byte { return postings.Encode(nil, postings.NewSet(numbers...)) }

// Whatever is changed behind the engine's checksums is found, and made anew
// without a change to the other repository.
func TestDamage(t *testing.T) {
	set := func(key, value []byte) func(*pebble.DB) error {
		return func(db *pebble.DB) error { return db.Set(key, value, pebble.Sync) }
	}
	remove := func(key []byte) func(*pebble.DB) error {
		return func(db *pebble.DB) error { return db.Delete(key, pebble.Sync) }
	}
	w := newWorld(t)
	defer func() { w.close() }()
	for _, c := range []struct {
		name, where, problem string
		// quick says that a quick check finds it too.
		quick  bool
		change func(files, history, repository uint32) func(*pebble.DB) error
	}{
		// text and what stands beside it
		{"chunk", "text", "checksum differs", true, func(s, _, _ uint32) func(*pebble.DB) error {
			return set(key('s', s, 1, 0, 0, 0, 0), append([]byte("12345678"), make([]byte, 32<<10)...))
		}},
		{"chunk that does not unpack", "text", "corrupt input", true, func(s, _, _ uint32) func(*pebble.DB) error {
			return set(key('s', s, 1, 0, 0, 0, 0), []byte("12345678 no text"))
		}},
		{"chunk gone", "text", "chunk is missing", true, func(s, _, _ uint32) func(*pebble.DB) error { return remove(key('s', s, 1, 0, 0, 0, 1)) }},
		{"chunk too many", "header", "should not be there", true, func(s, _, _ uint32) func(*pebble.DB) error { return set(key('s', s, 1, 0, 1, 0, 0), []byte("x")) }},
		{"documents", "documents", "document page", true, func(s, _, _ uint32) func(*pebble.DB) error { return set(key('s', s, 2, 0, 0), []byte{1, 2}) }},
		{"newlines", "documents", "newline table", true, func(s, _, _ uint32) func(*pebble.DB) error { return remove(key('s', s, 3)) }},
		{"newlines differ", "text", "newlines", true, func(s, _, _ uint32) func(*pebble.DB) error {
			return func(db *pebble.DB) error {
				value, closer, err := db.Get(key('s', s, 3))
				if err != nil {
					return err
				}
				value = bytes.Clone(value)
				value[0]++
				return errors.Join(closer.Close(), db.Set(key('s', s, 3), value, pebble.Sync))
			}
		}},
		// lists
		{"list", "lists", `"pac" of the content has`, false, func(s, _, _ uint32) func(*pebble.DB) error { return set(posting(s, 4, 1, "pac"), list(200)) }},
		{"list gone", "lists", `"pac" of the content is missing`, false, func(s, _, _ uint32) func(*pebble.DB) error { return remove(posting(s, 4, 1, "pac")) }},
		{"list of nothing", "lists", `"qzq" of the content is of no text`, false, func(s, _, _ uint32) func(*pebble.DB) error { return set(posting(s, 4, 1, "qzq"), list(0)) }},
		{"list no list", "lists", "unknown tag", true, func(s, _, _ uint32) func(*pebble.DB) error { return set(posting(s, 4, 1, "pac"), []byte{9}) }},
		{"exact list gone", "lists", "as it stands is missing", false, func(s, _, _ uint32) func(*pebble.DB) error { return remove(posting(s, 4, 0, "Gla")) }},
		{"path list", "lists", "of the paths", false, func(s, _, _ uint32) func(*pebble.DB) error { return remove(posting(s, 4, 2, "big")) }},
		{"wide letters", "lists", "wide letters", false, func(s, _, _ uint32) func(*pebble.DB) error { return set(key('s', s, 5, 1), list()) }},
		// symbols
		{"symbol list", "lists", "of the symbols", false, func(s, _, _ uint32) func(*pebble.DB) error { return remove(posting(s, 7, 3, "kil")) }},
		{"symbols", "symbols", "symbols: corrupt", true, func(s, _, _ uint32) func(*pebble.DB) error { return changeFirst(key('s', s, 6), []byte{200}) }},
		{"symbols gone", "symbols", "there are", true, func(s, _, _ uint32) func(*pebble.DB) error { return changeFirst(key('s', s, 6), nil) }},
		// history
		{"commits", "commits", "commit page", true, func(_, h, _ uint32) func(*pebble.DB) error { return set(key('s', h, 9, 0, 0), []byte{1, 2}) }},
		{"people", "record", "people", true, func(_, _, r uint32) func(*pebble.DB) error { return set(key('a', r), []byte{200}) }},
		// small records
		{"header gone", "aside", "header is missing", true, func(s, _, _ uint32) func(*pebble.DB) error { return remove(key('h', s)) }},
		{"dead", "documents", "goes beyond", true, func(s, _, _ uint32) func(*pebble.DB) error { return set(key('k', s), list(9999)) }},
		{"branches", "aside", "branches", true, func(s, _, r uint32) func(*pebble.DB) error {
			return set(binary.BigEndian.AppendUint32(key('b', s), r), []byte{9})
		}},
		{"stray record", "record", "which there is not", true, func(s, _, _ uint32) func(*pebble.DB) error { return set(key('k', 999), list(1)) }},
		{"stray shard", "reference", "no repository refers to it", true, func(s, _, _ uint32) func(*pebble.DB) error {
			return set(key('h', 999), []byte(`{"id":999}`))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w.t = t
			kiln, mill := w.repository("kiln"), w.repository("mill")
			w.alter(c.change(kiln.Shards[0], kiln.History.Shards[0], kiln.ID))
			for _, quick := range []bool{true, false} {
				found := w.check(check.Options{Quick: quick})
				told := slices.ContainsFunc(found, func(f check.Finding) bool {
					return f.Where == c.where && strings.Contains(f.Problem, c.problem)
				})
				if told != (c.quick || !quick) {
					t.Errorf("quick %v: got %+v, want %q in %q told: %v", quick, found, c.problem, c.where, !told)
				}
				if quick {
					continue
				}
				names, err := check.Prepare(w.st, found, time.Now())
				if err != nil {
					t.Fatal(err)
				}
				if slices.Contains(names, "mill") {
					t.Errorf("mill is to be made anew for %+v", found)
				}
				w.rebuild(names...)
			}
			if found := w.check(check.Options{Quick: c.quick}); len(found) > 0 {
				t.Errorf("after the repair: got %+v, want nothing", found)
			}
			if now := w.repository("mill"); !slices.Equal(now.Shards, mill.Shards) || !slices.Equal(now.History.Shards, mill.History.Shards) {
				t.Errorf("shards of mill were %v and %v, are %v and %v", mill.Shards, mill.History.Shards, now.Shards, now.History.Shards)
			}
		})
	}
	w.t = t
}

// changeFirst gives the first key with a prefix a value, or removes it.
func changeFirst(prefix, value []byte) func(*pebble.DB) error {
	return func(db *pebble.DB) error {
		it, err := db.NewIter(&pebble.IterOptions{LowerBound: prefix})
		if err != nil {
			return err
		}
		it.First()
		first := bytes.Clone(it.Key())
		if err := it.Close(); err != nil || !bytes.HasPrefix(first, prefix) {
			return fmt.Errorf("no key %x: %w", prefix, err)
		}
		if value == nil {
			return db.Delete(first, pebble.Sync)
		}
		return db.Set(first, value, pebble.Sync)
	}
}

// Damaged and dangling records of accounts are reported. Only a backup restores
// them, but for those that no user misses.
func TestAccounts(t *testing.T) {
	w := newWorld(t)
	defer func() { w.close() }()
	user := key('i', 0)[:1]
	record := func(kind string, id ...byte) []byte { return append(append(bytes.Clone(user), kind...), id...) }
	w.alter(func(db *pebble.DB) error {
		return errors.Join(
			db.Set(record("u", 0, 0, 0, 9), []byte("{"), pebble.Sync),
			db.Set(record("nbob"), []byte{'u', 0, 0, 0, 8}, pebble.Sync),
			db.Delete(record("eann@example.org"), pebble.Sync),
			db.Set(record("p", 0, 0, 0, 7), []byte("{}"), pebble.Sync),
			db.Set(record("Aapp"), []byte("["), pebble.Sync),
			db.Set(record(string(rune(store.RecordJobStep)), 0, 0, 0, 1, 0, 0, 0, 1), []byte("{}"), pebble.Sync),
			db.Set(record(string(rune(store.RecordJob)), 0, 0, 0, 2), []byte("{"), pebble.Sync),
			db.Set(record(string(rune(store.RecordJob)), 0, 0, 0, 3), []byte(`{"id":4}`), pebble.Sync),
			db.Set(record(string(rune(store.RecordJobStep)), 0, 0, 0, 3, 0, 0, 0, 1), []byte("{}"), pebble.Sync),
			db.Set(record(string(rune(store.RecordJobResult)), 0, 0, 0, 2, 0, 0, 0, 1), []byte("found"), pebble.Sync),
			db.Set(record(string(rune(store.RecordJobResult)), 9), []byte("found"), pebble.Sync),
			db.Set(record(string(rune(store.RecordSession)), make([]byte, 32)...), []byte("{"), pebble.Sync),
			db.Set(record(string(rune(store.RecordSession)), bytes.Repeat([]byte{1}, 32)...), []byte(`{"user":77}`), pebble.Sync),
			db.Set(record(string(rune(store.RecordSession)), 1, 2), []byte(`{"user":1}`), pebble.Sync),
			db.Set(record(string(rune(store.RecordReset)), 0, 0, 0, 1), []byte("\x00"), pebble.Sync),
			db.Set(record("?", 1), nil, pebble.Sync),
			db.Set(key('r', 77), []byte(`{"id":78}`), pebble.Sync))
	})
	found := w.check(check.Options{Quick: true})
	for _, want := range []string{"user 00000009", `"bob" is not the name`, "password of user 00000007: there is no user 7", "OAuth app 617070", "kind that there is not", "repository 77"} {
		if !slices.ContainsFunc(found, func(f check.Finding) bool {
			return f.Where == "record" && f.Repair == check.Restore && strings.Contains(f.Problem, want)
		}) {
			t.Errorf("%q is not told in %+v", want, found)
		}
	}
	if h := w.st.Health(); h.LostRepositories != 1 {
		t.Errorf("%d repositories are lost, want 1", h.LostRepositories)
	}

	const unmissed = 10
	dropped := 0
	for _, f := range found {
		if f.Repair == check.Drop {
			dropped++
		}
	}
	if _, err := check.Prepare(w.st, found, time.Now()); err != nil || dropped != unmissed {
		t.Errorf("%d can be dropped, %v, want %d: %+v", dropped, err, unmissed, found)
	}
	left := w.check(check.Options{Quick: true})
	if len(left) != len(found)-unmissed || slices.ContainsFunc(left, func(f check.Finding) bool { return f.Repair == check.Drop }) {
		t.Errorf("of %d findings %d are left after a repair, want the %d that only a backup has: %+v", len(found), len(left), len(found)-unmissed, left)
	}
}

// A flipped bit in a table is found by its file and by its shard.
func TestFlippedTable(t *testing.T) {
	w := newWorld(t)
	w.close()
	tables, err := filepath.Glob(filepath.Join(w.dir, "index", "*.sst"))
	if err != nil || len(tables) == 0 {
		t.Fatalf("tables: %q, %v", tables, err)
	}
	largest, data := "", []byte(nil)
	for _, path := range tables {
		if b, err := os.ReadFile(path); err == nil && len(b) > len(data) {
			largest, data = path, b
		}
	}
	data[100] ^= 8
	if err := os.WriteFile(largest, data, 0o644); err != nil {
		t.Fatal(err)
	}
	w.open()
	defer func() { w.close() }()
	found := w.check(check.Options{})
	table := slices.ContainsFunc(found, func(f check.Finding) bool {
		return f.Where == "table" && strings.Contains(f.Problem, filepath.Base(largest))
	})
	if shard := slices.ContainsFunc(found, func(f check.Finding) bool { return f.Repair == check.Rebuild }); !table || !shard {
		t.Fatalf("got %+v, want the table %s and a shard in it", found, largest)
	}
	names, err := check.Prepare(w.st, found, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	w.rebuild(names...)
	if again := w.check(check.Options{}); slices.ContainsFunc(again, func(f check.Finding) bool { return f.Where != "table" }) {
		t.Errorf("after the repair: got %+v, want at most the table, until the engine rewrites it", again)
	}
}

// TestCheckMirrors: each mirror is verified, whatever is wrong with another.
func TestCheckMirrors(t *testing.T) {
	w := newWorld(t)
	defer w.close()
	for _, name := range []string{"a", "b", "c"} {
		src := ingest.Source{Name: name, Location: "https://git.example.org/" + name, Remote: true}
		if _, err := w.ix.Add(t.Context(), src); err != nil {
			t.Fatal(err)
		}
	}
	var found []check.Finding
	o := check.Options{Mirror: func(_ context.Context, r *store.Repository, fault func(string)) error {
		switch r.Name {
		case "a":
			return errors.New("git is busy")
		case "b":
			fault("missing blob")
			fault("missing tree")
		case "kiln":
			t.Error("a repository of this machine is taken for a mirror")
		}
		return nil
	}}
	if err := check.Store(t.Context(), w.st, o, func(f check.Finding) { found = append(found, f) }); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range found {
		got = append(got, fmt.Sprintf("%s %v: %s; %s", f.Where, f.Repositories, f.Problem, f.Repair))
	}
	slices.Sort(got) // they come as the store has them
	want := []string{"mirror [a]: not verified: git is busy; none", "mirror [b]: missing blob; fetch", "mirror [b]: missing tree; fetch"}
	if !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
	names, err := check.Prepare(w.st, found, time.Now())
	if mirrors := check.Mirrors(found); len(names) > 0 || err != nil || !slices.Equal(mirrors, []string{"b"}) {
		t.Errorf("to be synced %q, %v, to be fetched anew %q; want b alone, anew", names, err, mirrors)
	}
	ctx, cancel := context.WithCancel(t.Context())
	o.Mirror = func(context.Context, *store.Repository, func(string)) error { cancel(); return ctx.Err() }
	if err := check.Store(ctx, w.st, o, func(f check.Finding) { t.Errorf("after it was cancelled: %+v", f) }); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v", err)
	}
}
