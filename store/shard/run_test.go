package shard_test

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/objstorage/objstorageprovider"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/store/engine"
	"github.com/trawlsearch/trawl/store/object"
	"github.com/trawlsearch/trawl/store/shard"
)

// site is an engine with shards and no records.
type site struct {
	fs     vfs.FS
	engine *engine.Engine
	to     shard.Destination
	// written are the runs that were written, by path.
	written map[string]shard.LocalFile
	bytes   map[string][]byte
}

func openSite(t testing.TB, fs vfs.FS) *site {
	t.Helper()
	s := &site{fs: fs, written: map[string]shard.LocalFile{}, bytes: map[string][]byte{}}
	budget := shard.NewBudget(8<<20, 8<<20, 8<<20)
	if err := fs.MkdirAll("index", 0o700); err != nil {
		t.Fatal(err)
	}
	var err error
	s.engine, err = engine.Open("index", engine.Options{FS: fs, Cache: budget.Blocks(), Event: func(string, error) {}})
	if err != nil {
		t.Fatal(err)
	}
	next := uint32(7)
	s.to = shard.Destination{
		FS: fs, Dir: "index", Options: s.engine.RunOptions(), Budget: budget,
		Number: func() (uint32, error) { next++; return next - 1, nil },
		Ingest: func(ctx context.Context, path string) error {
			return s.engine.Do(func() error { return s.engine.DB.Ingest(ctx, []string{path}) })
		},
		Update: func(f func(*pebble.DB) error) error {
			return s.engine.Do(func() error { return f(s.engine.DB) })
		},
		Mark: func(uint32, shard.SymbolCounts) error { return nil },
		Written: func(_ context.Context, f shard.LocalFile) error {
			s.written[fmt.Sprint(f.Shard, f.Part)] = f
			s.bytes[fmt.Sprint(f.Shard, f.Part)] = s.read(t, f.Path)
			return nil
		},
	}
	t.Cleanup(func() {
		if err := s.engine.DB.Close(); err != nil {
			t.Error(err)
		}
		budget.Blocks().Unref()
	})
	return s
}

func (s *site) read(t testing.TB, path string) []byte {
	t.Helper()
	f, err := s.fs.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// write writes a shard of n documents and its symbols.
func (s *site) write(t testing.TB, seed uint64, n int) shard.Header {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 0))
	w := shard.NewWriter(s.to, postings.NewBuilder())
	defer w.Close()
	for i := range n {
		text := []byte(strings.Repeat(fmt.Sprintf("int Function%d(long s%x);\n", i, rng.Uint64()), rng.IntN(2000)))
		sum := sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(text), text))
		d := shard.Document{Repository: 1, Path: fmt.Sprintf("src/%d.c", i), OID: sum[:], Mode: 0o100644, FileBytes: uint32(len(text)), Language: "C"}
		if err := w.AddDocument(d, text, true); err != nil {
			t.Fatal(err)
		}
	}
	h, err := w.Finish(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	symbols := shard.NewSymbolWriter(s.to)
	count, err := symbols.Copy(t.Context(), h, func(dst []shard.Symbol, document uint16) ([]shard.Symbol, error) {
		return append(dst, shard.Symbol{Name: fmt.Sprint("Function", document), Kind: "function", Line: 1, Column: 4}), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	h.Symbols = &shard.SymbolCounts{Version: shard.SymbolVersion, Symbols: count, Documents: n}
	return h
}

// TestRunsAreTheSameEachTime: a run has the same bytes, and so the same name, when it is
// written again, with documents of some kinds, which compress differently.
func TestRunsAreTheSameEachTime(t *testing.T) {
	var first []byte
	for i := range 4 {
		s := openSite(t, vfs.NewMem())
		rng := rand.New(rand.NewPCG(1, 2))
		w := shard.NewWriter(s.to, postings.NewBuilder())
		for n := range 160 {
			text := make([]byte, rng.IntN(4000))
			for i := range text {
				if text[i] = byte(rng.IntN(256)); n/20%2 == 0 {
					text[i] = "abcdefghijklmnopqrst"[text[i]%20]
				}
			}
			d := shard.Document{Repository: 1, Path: fmt.Sprintf("src/%d.c", n), OID: fmt.Appendf(nil, "%020d", n), Mode: 0o100644, Language: "C"}
			if err := w.AddDocument(d, text, n/20%2 == 0); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := w.Finish(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.Close()
		for _, run := range s.bytes {
			if i == 0 {
				first = run
			}
			if !bytes.Equal(run, first) {
				t.Fatalf("written once more, the run has other bytes: %d, and %d at first", len(run), len(first))
			}
		}
		if len(s.bytes) != 1 {
			t.Fatalf("%d runs, want 1", len(s.bytes))
		}
	}
}

// writeHistory writes a history shard.
func (s *site) writeHistory(t testing.TB) shard.Header {
	t.Helper()
	w := shard.NewWriter(s.to, postings.NewBuilder())
	defer w.Close()
	for i := range 300 {
		c := shard.Commit{Repository: 1, OID: fmt.Appendf(nil, "%020d", i), Position: uint32(i)}
		files := []shard.ChangedFile{{Path: "a.c", OldPath: "b.c", Status: 'R', Mode: 0o100644, Hunks: []byte("@@ -1 +1 @@\n-a\n+b\n")}}
		if err := w.AddCommit(c, fmt.Sprintf("commit %d\n", i), files); err != nil {
			t.Fatal(err)
		}
	}
	h, err := w.Finish(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// keys returns all that is there of a shard.
func (s *site) keys(t testing.TB, id uint32) map[string]string {
	t.Helper()
	lower, upper := shard.Keys(id)
	out := map[string]string{}
	err := engine.Each(s.engine.DB, &pebble.IterOptions{LowerBound: lower, UpperBound: upper}, func(k, v []byte) (bool, error) {
		out[string(k)] = string(v)
		return true, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// sound fails unless a shard passes all that is verified.
func (s *site) sound(t testing.TB, h shard.Header) {
	t.Helper()
	src := shard.Source{Reader: s.engine.DB, Budget: s.to.Budget}
	err := src.View(shard.New(h.ID, h), nil, nil, nil).Verify(t.Context(), shard.Verifying{
		Fault: func(where, problem string) { t.Errorf("shard %d: %s: %s", h.ID, where, problem) },
		Read:  func(int) {}, Pause: func(context.Context) error { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
}

// unfinished fails if a run that is not taken in is left.
func (s *site) unfinished(t testing.TB) {
	t.Helper()
	names, err := s.fs.List("index")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		if strings.HasPrefix(n, shard.RunPrefix) {
			t.Errorf("%s is left", n)
		}
	}
}

// give writes data to what Import passes, which may change what it is given.
func give(data []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(bytes.Clone(data))
		return err
	}
}

func contentOf(data []byte) object.Content {
	return object.Content{Size: int64(len(data)), SHA256: sha256.Sum256(data)}
}

// Runs go from one store to another, as they were written and as they are exported.
func TestExportImport(t *testing.T) {
	from, to := openSite(t, vfs.NewMem()), openSite(t, vfs.NewMem())
	headers := []shard.Header{from.write(t, 1, 300), from.write(t, 2, 1), from.writeHistory(t)}
	for _, h := range headers {
		parts := []shard.Part{shard.PartText, shard.PartSymbols}
		if h.IsHistory() {
			parts = parts[:1]
		}
		for _, part := range parts {
			name := fmt.Sprint(h.ID, part)
			written, data := from.written[name], from.bytes[name]
			if written.Content != contentOf(data) || written.Shard != h.ID || written.Part != part {
				t.Errorf("%s: Written heard %+v, and the file has %d bytes", name, written, len(data))
			}
			for range 2 { // the second time in the place of the first
				if err := to.to.Import(t.Context(), written.File, give(data)); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			}
			again, err := from.to.Export(t.Context(), from.engine.DB, h.ID, part)
			if err != nil {
				t.Fatal(err)
			}
			exported := from.read(t, again.Path)
			if again.Content != contentOf(exported) || !bytes.Equal(exported, data) {
				t.Errorf("%s: Export made %d bytes, other than the %d written", name, len(exported), len(data))
			}
			if err := from.fs.Remove(again.Path); err != nil {
				t.Fatal(err)
			}
		}
		got, want := to.keys(t, h.ID), from.keys(t, h.ID)
		if len(got) != len(want) || len(want) < 10 {
			t.Errorf("shard %d has %d keys, want %d", h.ID, len(got), len(want))
		}
		for k, v := range want {
			if got[k] != v {
				t.Fatalf("shard %d: key %x has another value", h.ID, k)
			}
		}
		to.sound(t, h)
	}
	from.unfinished(t)
	to.unfinished(t)
	if _, err := to.to.Export(t.Context(), to.engine.DB, 99, shard.PartText); !errors.Is(err, engine.ErrCorrupt) {
		t.Errorf("Export of nothing: got %v", err)
	}
	if _, err := to.to.Export(t.Context(), to.engine.DB, headers[2].ID, shard.PartSymbols); !errors.Is(err, engine.ErrCorrupt) {
		t.Errorf("Export of symbols that are not there: got %v", err)
	}
	to.unfinished(t)
}

// table makes a table of what f writes.
func (s *site) table(t testing.TB, o sstable.WriterOptions, f func(w *sstable.Writer) error) []byte {
	t.Helper()
	file, err := s.fs.Create("table", vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	w := sstable.NewWriter(objstorageprovider.NewFileWritable(file), o)
	if err := errors.Join(f(w), w.Close()); err != nil {
		t.Fatal(err)
	}
	return s.read(t, "table")
}

// A file that is not the run it should be is refused, and nothing of it is there.
func TestImportRefuses(t *testing.T) {
	from := openSite(t, vfs.NewMem())
	h := from.write(t, 1, 100)
	text, symbols := from.bytes[fmt.Sprint(h.ID, shard.PartText)], from.bytes[fmt.Sprint(h.ID, shard.PartSymbols)]
	flipped := bytes.Clone(text)
	flipped[len(text)/2]++
	key := func(part byte) []byte { return []byte{'s', 0, 0, 0, byte(h.ID), part, 1, 2} }
	o := from.to.Options
	older := o
	older.TableFormat = sstable.TableFormatPebblev4
	made := func(o sstable.WriterOptions, f func(w *sstable.Writer) error) []byte { return from.table(t, o, f) }
	file := func(data []byte) shard.File {
		return shard.File{Shard: h.ID, Part: shard.PartText, Content: contentOf(data)}
	}
	good := file(text)
	type fault struct {
		name string
		file shard.File
		data []byte
		want string
	}
	with := func(change func(f *shard.File)) shard.File {
		f := good
		change(&f)
		return f
	}
	faults := []fault{
		{"another byte", good, flipped, "its SHA-256 is"},
		{"fewer bytes", good, text[:len(text)-1], "bytes instead of"},
		{"more bytes", good, append(bytes.Clone(text), 0), "it has more than"},
		{"no bytes", good, nil, "it has 0 bytes"},
		{"another shard", with(func(f *shard.File) { f.Shard++ }), text, "is not one of it"},
		{"no shard", with(func(f *shard.File) { f.Shard = 0 }), text, "no such run"},
		{"another part", with(func(f *shard.File) { f.Part = shard.PartSymbols }), text, "is not one of it"},
		{"no part", with(func(f *shard.File) { f.Part = 3 }), text, "no such run"},
		{"the symbols", file(symbols), symbols, "is not one of it"},
	}
	for name, data := range map[string][]byte{
		"a flipped bit": flipped, "half of it": text[:len(text)/2], "without its end": text[:len(text)-1],
		"text": bytes.Repeat([]byte("text\n"), 1000), "one byte": {1}, "zeros": make([]byte, 10000),
		"nothing in it":   made(o, func(*sstable.Writer) error { return nil }),
		"a record":        made(o, func(w *sstable.Writer) error { return w.Set([]byte("r"), nil) }),
		"a range deleted": made(o, func(w *sstable.Writer) error { return w.DeleteRange(key(1), key(2)) }),
		"a range key":     made(o, func(w *sstable.Writer) error { return w.RangeKeySet(key(1), key(2), nil, nil) }),
		"both": made(o, func(w *sstable.Writer) error {
			return errors.Join(w.Set(key(1), nil), w.DeleteRange(key(1), key(2)))
		}),
		"a key deleted":   made(o, func(w *sstable.Writer) error { return w.Delete(key(1)) }),
		"a key merged":    made(o, func(w *sstable.Writer) error { return w.Merge(key(1), []byte("a")) }),
		"another format":  made(older, func(w *sstable.Writer) error { return w.Set(key(1), nil) }),
		"a key before it": made(o, func(w *sstable.Writer) error { return errors.Join(w.Set([]byte("s"), nil), w.Set(key(1), nil)) }),
		"a key behind it": made(o, func(w *sstable.Writer) error { return errors.Join(w.Set(key(1), nil), w.Set([]byte("t"), nil)) }),
		"a symbol among it": made(o, func(w *sstable.Writer) error {
			return errors.Join(w.Set(key(1), nil), w.Set(key(7), nil), w.Set(key(9), nil))
		}),
	} {
		faults = append(faults, fault{name, file(data), data, ""})
	}
	to := openSite(t, vfs.NewMem())
	for _, c := range faults {
		err := to.to.Import(t.Context(), c.file, give(c.data))
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "import the ") {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
		if !engine.IsDamage(err) && !errors.As(err, new(*object.ContentError)) {
			t.Errorf("%s: got %v, which does not say that it is damage", c.name, err)
		}
		to.unfinished(t)
		if n := len(to.keys(t, c.file.Shard)); n > 0 {
			t.Fatalf("%s: %d keys are there", c.name, n)
		}
	}
	if err := to.to.Import(t.Context(), good, func(io.Writer) error { return io.ErrClosedPipe }); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("a source that fails: got %v", err)
	}
	to.unfinished(t)
}

// crashSites takes what a crash would leave of a disk.
type crashSites struct {
	mem  *vfs.MemFS
	mu   sync.Mutex
	on   bool
	rng  *rand.Rand
	left []*vfs.MemFS
}

func (c *crashSites) String() string { return "crashes" }

// MaybeError fails nothing.
func (c *crashSites) MaybeError(op errorfs.Op) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.on && op.Kind.ReadOrWrite() == errorfs.OpIsWrite {
		c.left = append(c.left, c.mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 50 * c.rng.IntN(3), RNG: c.rng}))
	}
	return nil
}

// A crash anywhere in an import leaves all of the run or nothing.
func TestImportCrash(t *testing.T) {
	from := openSite(t, vfs.NewMem())
	h := from.write(t, 1, 100)
	name := fmt.Sprint(h.ID, shard.PartText)
	want := len(from.keys(t, h.ID)) - 1 // without the symbols
	for k := range from.keys(t, h.ID) {
		if k[5] == 6 || k[5] == 7 {
			want--
		}
	}
	c := &crashSites{mem: vfs.NewCrashableMem(), rng: rand.New(rand.NewPCG(1, 2))}
	to := openSite(t, errorfs.Wrap(c.mem, c))
	if err := to.engine.DB.Set([]byte("a"), nil, pebble.Sync); err != nil {
		t.Fatal(err)
	}
	c.on = true
	if err := to.to.Import(t.Context(), from.written[name].File, give(from.bytes[name])); err != nil {
		t.Fatal(err)
	}
	c.on = false
	whole, absent := 0, 0
	for _, fs := range c.left {
		s := openSite(t, fs)
		switch n := len(s.keys(t, h.ID)); n {
		case want:
			whole++
		case 0:
			absent++
		default:
			t.Fatalf("%d keys of %d are there", n, want)
		}
		if err := s.to.Import(t.Context(), from.written[name].File, give(from.bytes[name])); err != nil || len(s.keys(t, h.ID)) != want {
			t.Fatalf("the next import: %v", err)
		}
	}
	t.Logf("%d crashes left the run, %d nothing", whole, absent)
	if whole == 0 || absent == 0 {
		t.Errorf("%d crashes left the run, %d nothing; want some of both", whole, absent)
	}
}

// fullDisk is a disk on which nothing can be written from some call on.
type fullDisk struct{ left int }

func (*fullDisk) String() string { return "full disk" }

func (f *fullDisk) MaybeError(op errorfs.Op) error {
	if op.Kind != errorfs.OpFileWrite && op.Kind != errorfs.OpCreate && op.Kind != errorfs.OpFileSync {
		return nil
	}
	if f.left--; f.left == 0 {
		return errFull
	}
	return nil
}

var errFull = errors.New("no space left on device")

// A disk without space ends an import or an export, and nothing is left of it.
func TestImportDiskFull(t *testing.T) {
	from := openSite(t, vfs.NewMem())
	h := from.write(t, 1, 100)
	name := fmt.Sprint(h.ID, shard.PartText)
	disk := &fullDisk{}
	to := openSite(t, errorfs.Wrap(vfs.NewMem(), disk))
	for n := 1; n <= 3; n++ {
		disk.left = n
		if err := to.to.Import(t.Context(), from.written[name].File, give(from.bytes[name])); !errors.Is(err, errFull) {
			t.Errorf("import, call %d: got %v", n, err)
		}
		to.unfinished(t)
		if len(to.keys(t, h.ID)) > 0 {
			t.Errorf("import, call %d: something is there", n)
		}
	}
	disk.left = 0
	if err := to.to.Import(t.Context(), from.written[name].File, give(from.bytes[name])); err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= 3; n++ {
		disk.left = n
		if _, err := to.to.Export(t.Context(), to.engine.DB, h.ID, shard.PartText); !errors.Is(err, errFull) {
			t.Errorf("export, call %d: got %v", n, err)
		}
		to.unfinished(t)
	}
}
