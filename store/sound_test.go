package store_test

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/trawlsearch/trawl/internal/race"
	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/shard"
)

// maker fills a store with something of an odd shape.
type maker struct {
	*testing.T
	s       *store.Store
	builder *postings.Builder
}

// file is a document and its text.
type file struct {
	path string
	text []byte
}

// shard commits a shard of a repository called name.
func (m *maker) shard(name string, sum func(blob []byte) []byte, files ...file) *store.Repository {
	m.Helper()
	r, err := m.s.Repositories().New(store.Repository{Name: name})
	m.must(err)
	w := m.s.NewShardWriterWith(m.builder)
	defer w.Close()
	for _, f := range files {
		blob := append(fmt.Appendf(nil, "blob %d\x00", len(f.text)), f.text...)
		d := shard.Document{Repository: r.ID, Path: f.path, OID: sum(blob), Mode: 0o100644, FileBytes: uint32(len(f.text))}
		m.must(w.AddDocument(d, f.text, true))
	}
	h, err := w.Finish(context.Background())
	m.must(err)
	next := *r
	next.Generation, next.Shards = 1, []uint32{h.ID}
	m.must(m.s.Commit(store.Change{Repositories: []*store.Repository{&next}, Add: []shard.Header{h}}))
	return &next
}

func (m *maker) must(err error) {
	if err != nil {
		m.Helper()
		m.Fatal(err)
	}
}

func sha1Of(blob []byte) []byte   { sum := sha1.Sum(blob); return sum[:] }
func sha256Of(blob []byte) []byte { sum := sha256.Sum256(blob); return sum[:] }

// oddTexts are of the lengths at which blocks, chunks and large texts begin and
// end.
func oddTexts() (texts [][]byte) {
	const block, chunk = postings.BlockBytes, 32 << 10
	for _, n := range []int{0, 1, 2, 3, block - 1, block, block + 1, chunk - 1, chunk, chunk + 1, 2 * chunk, 1<<20 - 1, 1 << 20, 1<<20 + 1} {
		texts = append(texts, bytes.Repeat([]byte("text\n"), n/5+1)[:n])
	}
	return append(texts, bytes.Repeat([]byte("\n"), 70_000), bytes.Repeat([]byte{0}, 70_000), bytes.Repeat([]byte("\u017f\u212a"), 5000))
}

// oddPaths are of all bytes, and of all lengths that a document may have.
func oddPaths() (paths []string) {
	for b := range 256 {
		paths = append(paths, string([]byte{byte(b)}), "dir/"+string([]byte{byte(b), byte(b)}))
	}
	return append(paths, "a\nb", "\xff\xfe/\xed\xa0\x80", strings.Repeat("p", 4096), strings.Repeat("p", shard.MaxPathBytes), strings.Repeat("\xff", shard.MaxPathBytes))
}

// soundShapes is what a data directory may hold. None of it is damage: it opens and is
// verified without a finding, and nothing of it is set aside.
var soundShapes = []struct {
	name string
	make func(*maker)
}{
	{"nothing", func(*maker) {}},
	{"a repository without a shard", func(m *maker) {
		_, err := m.s.Repositories().New(store.Repository{Name: "empty"})
		m.must(err)
	}},
	{"a shard of one document without text", func(m *maker) { m.shard("a", sha1Of, file{path: "a"}) }},
	{"a shard for each odd text", func(m *maker) {
		for i, text := range oddTexts() {
			m.shard(fmt.Sprint(i), sha1Of, file{"a", text})
		}
	}},
	{"a shard of all odd texts, and ids of SHA-256", func(m *maker) {
		var files []file
		for i, text := range oddTexts() {
			files = append(files, file{fmt.Sprint(i), text})
		}
		m.shard("a", sha256Of, files...)
	}},
	{"paths of all bytes and lengths", func(m *maker) {
		var files []file
		for _, p := range oddPaths() {
			files = append(files, file{p, []byte("text\n")})
		}
		m.shard("a", sha1Of, files...)
	}},
	{"a shard of as many documents as there can be", func(m *maker) {
		files := make([]file, postings.MaxBlocks)
		for i := range files {
			files[i].path = fmt.Sprint(i)
		}
		r := m.shard("a", sha1Of, files...)
		m.must(m.s.Commit(store.Change{Dead: map[uint32]*postings.Set{r.Shards[0]: postings.Full(postings.MaxBlocks)}}))
	}},
	{"dead documents: none, the last one, all", func(m *maker) {
		for i, dead := range []*postings.Set{postings.NewSet(), postings.NewSet(2), postings.Full(3)} {
			r := m.shard(fmt.Sprint(i), sha1Of, file{path: "a"}, file{path: "b"}, file{path: "c"})
			m.must(m.s.Commit(store.Change{Dead: map[uint32]*postings.Set{r.Shards[0]: dead}}))
		}
	}},
	{"as many branches as there can be", func(m *maker) {
		r := m.shard("a", sha1Of, file{path: "a"}, file{path: "b"})
		sets := make([]*postings.Set, store.MaxBranches)
		sets[1], sets[len(sets)-1] = postings.Full(2), postings.NewSet()
		m.must(m.s.Commit(store.Change{Away: map[store.ShardRepository][]*postings.Set{{Shard: r.Shards[0], Repository: r.ID}: sets}}))
	}},
	{"symbols: none, and thousands of one document", func(m *maker) {
		r := m.shard("a", sha1Of, file{path: "none"}, file{"many", []byte("text\n")})
		var symbols []shard.Symbol
		for i := range 20_000 {
			symbols = append(symbols, shard.Symbol{Name: fmt.Sprint("name", i), Kind: "k", Line: 1})
		}
		symbols = append(symbols, shard.Symbol{Name: strings.Repeat("n", 5000), Kind: "\xff", Line: 1<<32 - 1, Column: 1<<32 - 1})
		writeSymbols(m.T, m.s, r.Shards[0], map[int][]shard.Symbol{1: symbols}, shard.SymbolCounts{Version: shard.SymbolVersion, Documents: 2})
	}},
	{"commits", func(m *maker) { writeCommits(m, m.s, commits(3, 300)) }},
	{"a commit without message and files", func(m *maker) {
		all := commits(3, 1)
		all[0].message, all[0].files = "", nil
		writeCommits(m, m.s, all)
	}},
	{"records with ids and values of all lengths", func(m *maker) {
		for i, n := range []int{0, 1, 127, 128, 4096, 70_000} {
			var c store.Records
			c.Put(store.RecordSite, bytes.Repeat([]byte{byte(i * 51)}, min(n, 4096)), make([]byte, n))
			m.must(m.s.CommitRecords(&c))
		}
	}},
	{"repositories with odd names and facts", func(m *maker) {
		for _, name := range []string{"a", "A", strings.Repeat("n", 200), "ünï/\u2028", "a b", "recovered/1", "null", "{}"} {
			_, err := m.s.Repositories().New(store.Repository{Name: name, Source: "/a\nb/\"'\\", Description: "\x00\ufffd", Stars: 1<<31 - 1,
				Topics: []string{""}, Metadata: map[string]*string{"": nil}, Readers: &store.Readers{}})
			m.must(err)
		}
	}},
	{"thousands of repositories", func(m *maker) {
		for i := range 3000 {
			_, err := m.s.Repositories().New(store.Repository{Name: fmt.Sprint(i)})
			m.must(err)
		}
	}},
	{"a thousand shards", func(m *maker) {
		for i := range race.Scaled(1000, 200) {
			m.shard(fmt.Sprint(i), sha1Of, file{path: "a"})
		}
	}},
}

// Healthy data of any shape opens and is found sound: as it was written, in a
// checkpoint, after a crash, and after it was closed.
func TestSoundShapes(t *testing.T) {
	b := postings.NewBuilder()
	for _, shape := range soundShapes {
		t.Run(shape.name, func(t *testing.T) {
			fs := vfs.NewCrashableMem()
			m := &maker{t, open(t, fs), b}
			shape.make(m)
			want := m.sound("as it was written")
			c, err := m.s.Checkpoint()
			m.must(err)
			m.reopens("in a checkpoint", fs, c.Dir(), want)
			m.must(c.Close())
			for _, percent := range []int{0, 50, 100} {
				left := fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: rand.New(rand.NewPCG(1, uint64(percent)))})
				m.reopens(fmt.Sprintf("after a crash that left %d%% of what was not synced", percent), left, "data", want)
			}
			closeStore(t, m.s)
			m.reopens("closed", fs, "data", want)
		})
	}
}

func (m *maker) reopens(when string, fs vfs.FS, dir string, want []string) {
	m.Helper()
	s, err := store.Open(dir, store.Options{FS: fs, CacheBytes: 8 << 20})
	if err != nil {
		m.Fatalf("%s: %v", when, err)
	}
	defer closeStore(m, s)
	if got := (&maker{m.T, s, m.builder}).sound(when); !slices.Equal(got, want) {
		m.Errorf("%s: there are %d shards and repositories, want %d", when, len(got), len(want))
	}
}

// sound fails over anything that is found damaged. It returns what is there.
func (m *maker) sound(when string) (names []string) {
	m.Helper()
	sn := m.s.Snapshot()
	defer sn.Close()
	if h := sn.Health(); len(h.Aside)+len(h.Records)+h.LostRepositories > 0 {
		m.Errorf("%s: %+v", when, h)
	}
	for _, r := range sn.Repositories() {
		names = append(names, r.Name)
	}
	slices.Sort(names)
	for _, v := range sn.Shards() {
		names = append(names, fmt.Sprint("shard ", v.ID, " ", v.Header.Documents))
		m.must(v.Verify(context.Background(), shard.Verifying{
			Quick:   len(sn.Shards()) > 100,
			Builder: m.builder,
			Fault:   func(where, problem string) { m.Errorf("%s: shard %d, %s: %s", when, v.ID, where, problem) },
			Read:    func(int) {},
			Pause:   func(context.Context) error { return nil },
		}))
	}
	return names
}
