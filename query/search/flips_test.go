package search_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/trawlsearch/trawl/internal/race"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/ingest"
	"github.com/trawlsearch/trawl/store/shard"
)

// flipQueries are asked after every flip: each kind of document, by lists, by
// ranges of lists and without any.
var flipQueries = []string{
	"type:file glaze count:all", `type:file /s\w+t ash/ count:all`, "type:file case:yes Kiln count:all", "type:file 3 count:all file:md",
	"type:file nowhere", "type:path f1 count:all", "type:symbol k count:all", "type:commit fire count:all", "type:diff salt count:all",
	"repo:. select:repo count:all", "type:file word77 count:all",
}

// directory is the files of a closed data directory.
type directory map[string][]byte

func readDirectory(t testing.TB, fs vfs.FS, dir string) directory {
	t.Helper()
	out := directory{}
	names, err := fs.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		path := fs.PathJoin(dir, n)
		about, err := fs.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if about.IsDir() {
			for p, data := range readDirectory(t, fs, path) {
				out[p] = data
			}
			continue
		}
		f, err := fs.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(f)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		out[path] = data
	}
	return out
}

// write puts the files on a file system of its own.
func (d directory) write(t testing.TB) vfs.FS {
	t.Helper()
	fs := vfs.NewMem()
	if err := fs.MkdirAll("data/index", 0o755); err != nil {
		t.Fatal(err)
	}
	for path, data := range d {
		f, err := fs.Create(path, vfs.WriteCategoryUnspecified)
		if err != nil {
			t.Fatal(err)
		}
		// With the race detector on, the file system spoils what it is given.
		if _, err := f.Write(bytes.Clone(data)); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return fs
}

// flipCorpus is a data directory with everything in it: text of several chunks,
// dead documents, two branches, symbols, commits, small records.
func flipCorpus(t testing.TB) directory {
	t.Helper()
	rng := rand.New(rand.NewPCG(6, 6))
	fs := vfs.NewMem()
	c := &corpus{}
	c.open(t, fs)
	ix := ingest.New(c.st, ingest.Options{MinFreeBytes: -1, ShardBlocks: 64})
	ctx := context.Background()
	for i, commits := range []int{40, 15} {
		r := grownRepo(t, rng, commits)
		name := fmt.Sprint("r", i)
		if _, err := ix.Add(ctx, ingest.Source{Name: name, Location: r.dir}); err != nil {
			t.Fatal(err)
		}
		if _, err := c.st.Repositories().ChangeFacts(name, store.FactsChange{Branches: &[]string{"*"}}); err != nil {
			t.Fatal(err)
		}
		if _, err := ix.Sync(ctx, name, nil); err != nil {
			t.Fatal(err)
		}
		r.git("", "checkout", "-q", "-f", "main")
		r.git("", "branch", "old")
		var big strings.Builder
		for n := range 2_000 {
			fmt.Fprintf(&big, "word%d is %x%x and %x\n", n, rng.Uint64(), rng.Uint64(), rng.Uint64())
			if n%40 == 0 {
				fmt.Fprintf(&big, "func kiln%d() // glaze\n", rng.IntN(1000))
			}
		}
		if err := os.WriteFile(filepath.Join(r.dir, "big.go"), []byte(big.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		r.git("", "add", "-A")
		r.git("", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "glaze the big file")
		if _, err := ix.Sync(ctx, name, nil); err != nil {
			t.Fatal(err)
		}
	}
	if res, err := ix.Histories.Read(ctx, nil); err != nil || len(res.Failed) > 0 {
		t.Fatalf("History: %v, %q", err, res.Failed)
	}
	sn := c.st.Snapshot()
	for _, v := range sn.Shards() {
		if !v.Header.IsHistory() {
			c.symbolsOf(t, v)
		}
	}
	if err := sn.Close(); err != nil {
		t.Fatal(err)
	}
	for i := range 30 {
		var change store.Records
		change.Put(store.RecordUser, []byte(fmt.Sprint(i)), []byte(fmt.Sprintf("user %d", i)))
		if err := c.st.CommitRecords(&change); err != nil {
			t.Fatal(err)
		}
	}
	c.close(t)
	return readDirectory(t, fs, "data")
}

// flipped is what became of a store after a flip.
type flipped struct {
	// refused is why it was not opened.
	refused error
	// answers has the matches of each query, reported whether something was skipped
	// as unreadable.
	answers  [][]string
	reported []bool
	// records are the small records, or why they could not be read.
	records string
	health  store.Health
}

// ask opens a directory and asks everything twice, so that what was set aside by
// one search is met by the next.
func (d directory) ask(t testing.TB) (out flipped) {
	t.Helper()
	st, err := store.Open("data", store.Options{FS: d.write(t), CacheBytes: 8 << 20})
	if err != nil {
		return flipped{refused: err}
	}
	c := &corpus{st: st}
	defer func() {
		out.health = st.Health()
		if err := st.Close(); err != nil && !shard.IsDamage(err) {
			t.Errorf("close: %v", err)
		}
	}()
	set := search.Settings{Workers: 1, Damaged: func(shard uint32, damage error) {
		if _, err := st.SetAside(shard, damage, time.Unix(0, 0)); err != nil {
			t.Errorf("set shard %d aside: %v", shard, err)
		}
	}}
	for range 2 {
		for _, text := range flipQueries {
			a := c.try(context.Background(), t, set, search.Options{Display: -1}, text, nil)
			var lines []string
			for _, m := range a.matches {
				line, err := json.Marshal(m)
				if err != nil {
					t.Fatal(err)
				}
				lines = append(lines, string(line))
			}
			out.answers = append(out.answers, lines)
			out.reported = append(out.reported, a.outcome.Err != nil || strings.Contains(a.reasons(), "backend-missing") && !exhaustive(a))
		}
	}
	var records bytes.Buffer
	err = st.EachRecord(store.RecordRange{Kind: store.RecordUser}, func(id, value []byte) (bool, error) {
		fmt.Fprintf(&records, "%s=%s\n", id, value)
		return true, nil
	})
	if err == nil {
		out.records = records.String()
	}
	return out
}

// flip is one bit of one file.
type flip struct {
	path string
	bit  int
}

// flips draws bits: one half from all files alike, so that small ones are met,
// one half from all bits alike.
func (d directory) flips(rng *rand.Rand, n int) []flip {
	var paths []string
	total := 0
	for path, data := range d {
		if len(data) > 0 {
			paths = append(paths, path)
			total += 8 * len(data)
		}
	}
	slices.Sort(paths)
	var out []flip
	for len(out) < n {
		path := paths[rng.IntN(len(paths))]
		if len(out)%2 == 0 {
			at := rng.IntN(total)
			for _, path = range paths {
				if at -= 8 * len(d[path]); at < 0 {
					break
				}
			}
		}
		out = append(out, flip{path, rng.IntN(8 * len(d[path]))})
	}
	return out
}

// Whatever bit of a data directory is flipped, nothing panics, no wrong line is
// shown, and none is missing in silence. TRAWL_FLIPS sets how many are tried.
func TestFlippedBits(t *testing.T) {
	d := flipCorpus(t)
	want := d.ask(t)
	if want.refused != nil || want.records == "" || slices.Contains(want.reported, true) {
		t.Fatalf("before any flip: %+v", want)
	}
	for i, text := range flipQueries {
		if len(want.answers[i]) == 0 && text != "type:file nowhere" {
			t.Fatalf("%q finds nothing before any flip", text)
		}
	}
	n := 60 // which make oracle flips
	if race.Enabled {
		n = 20
	}
	if set, err := strconv.Atoi(os.Getenv("TRAWL_FLIPS")); err == nil {
		n = set
	}
	rng := rand.New(rand.NewPCG(10_000, 1))
	counts := map[string]int{}
	for _, f := range d.flips(rng, n) {
		data := d[f.path]
		data[f.bit/8] ^= 1 << (f.bit % 8)
		got := d.ask(t)
		counts[judgeFlip(t, f, got, want)]++
		data[f.bit/8] ^= 1 << (f.bit % 8)
		if t.Failed() {
			t.Fatalf("stopped at bit %d of %s", f.bit, f.path)
		}
	}
	t.Logf("%d flips of one bit: %v", n, counts)
	if n >= 60 && (counts["refused"] == 0 || counts["reported"] == 0) {
		t.Errorf("got %v, want some of each outcome: the test does not reach what it is for", counts)
	}
}

// judgeFlip fails if an answer is wrong, or short in silence, and says how the
// damage was met.
func judgeFlip(t *testing.T, f flip, got, want flipped) string {
	t.Helper()
	if got.refused != nil {
		return "refused"
	}
	outcome := "harmless"
	for i, lines := range got.answers {
		text := flipQueries[i%len(flipQueries)]
		for _, line := range lines {
			if !slices.Contains(want.answers[i], line) {
				t.Errorf("bit %d of %s, %q: got %.300s, which is wrong", f.bit, f.path, text, line)
			}
		}
		switch {
		case got.reported[i]:
			outcome = "reported"
		case !slices.Equal(lines, want.answers[i]):
			t.Errorf("bit %d of %s, %q: got %d matches of %d, and nothing was reported", f.bit, f.path, text, len(lines), len(want.answers[i]))
		}
	}
	if got.records != want.records {
		if got.records != "" {
			t.Errorf("bit %d of %s: got records %q, want %q or an error", f.bit, f.path, got.records, want.records)
		}
		outcome = "reported"
	}
	if outcome == "reported" && got.records == want.records && len(got.health.Aside) == 0 {
		t.Errorf("bit %d of %s: damage was reported, but nothing is set aside", f.bit, f.path)
	}
	return outcome
}
