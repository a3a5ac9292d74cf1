package search_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
)

// faultyFS passes each read of a file through fault, when that is set.
type faultyFS struct {
	vfs.FS
	fault atomic.Pointer[func(p []byte) error]
}

type faultyFile struct {
	vfs.File
	fs *faultyFS
}

func (fs *faultyFS) Open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	f, err := fs.FS.Open(name, opts...)
	if err != nil {
		return nil, err
	}
	return &faultyFile{f, fs}, nil
}

func (f *faultyFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.File.ReadAt(p, off)
	if fault := f.fs.fault.Load(); fault != nil && err == nil {
		err = (*fault)(p[:n])
	}
	return n, err
}

// damageCorpus has n shards with two documents each, made of few different
// trigrams.
func damageCorpus(t testing.TB, fs vfs.FS, n, filler int) *corpus {
	text := strings.Repeat(strings.Repeat(strings.Repeat(".", 99)+"\n", filler)+"ox ox yak\n", 10) + "end\n"
	var files []doc
	for i := range n {
		for j := range 2 {
			files = append(files, doc{repo: "r", path: fmt.Sprintf("%03d/%d", i, j), text: text})
		}
	}
	return newCorpusOn(t, fs, 2*postings.BlockCount(len(text)), nil, files)
}

// shardOf is the directory that damageCorpus gives a shard's documents.
func shardOf(path string) string { return path[:3] }

// Whatever single read of the index goes wrong, the search goes on: what it
// shows is right, the other shards are whole, and what is missing is reported.
func TestOneBadRead(t *testing.T) {
	faults := []struct {
		name string
		do   func(p []byte) error
	}{
		{"flipped bit", func(p []byte) error { p[len(p)/2] ^= 4; return nil }},
		{"error", func([]byte) error { return errors.New("input/output error") }},
	}
	queries := []string{"type:file yak", "(/o.\\s?o?x? yak$/ or file:1) count:all", "yak select:file"}
	fs := &faultyFS{FS: vfs.NewMem()}
	c := damageCorpus(t, fs, 6, 20)
	want := map[string][]string{}
	for _, text := range queries {
		want[text] = c.search(t, search.Settings{}, search.Options{}, text, query.Keyword).full()
	}
	c.close(t)
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			reported := 0
			for i, text := range queries {
				for k, more := 0, true; more; k++ {
					more = false
					c.open(t, fs)
					reads := 0
					// One worker plans while another verifies, so two may read at
					// once.
					var turn = make(chan struct{}, 1)
					fault := func(p []byte) error {
						turn <- struct{}{}
						defer func() { <-turn }()
						if reads++; reads == k+1 {
							more = true
							return f.do(p)
						}
						return nil
					}
					fs.fault.Store(&fault)
					a := c.try(context.Background(), t, search.Settings{Workers: 1 + i}, search.Options{Display: -1}, text, nil)
					fs.fault.Store(nil)
					c.close(t)
					where := fmt.Sprintf("%q, read %d", text, k)
					if a.outcome != (search.Outcome{}) {
						t.Fatalf("%s: got %+v, want an answer", where, a.outcome)
					}
					if checkDamaged(t, where, a, want[text]) {
						reported++
					}
				}
			}
			if reported < len(queries) {
				t.Errorf("%d bad reads were reported, want one a query at least", reported)
			}
		})
	}
}

// checkDamaged checks the answer of a search over a store with one bad shard,
// and reports whether that showed.
func checkDamaged(t *testing.T, where string, a attempt, want []string) bool {
	t.Helper()
	got := a.full()
	for _, line := range got {
		if !slices.Contains(want, line) {
			t.Fatalf("%s: got %.200s, which is wrong", where, line)
		}
	}
	lost := map[string]bool{}
	for _, line := range want {
		if !slices.Contains(got, line) {
			_, path, _ := strings.Cut(line, `"`)
			lost[shardOf(path)] = true
		}
	}
	if len(lost) > 1 {
		t.Fatalf("%s: lost documents of shards %v, want one at most", where, lost)
	}
	reported := strings.Contains(a.reasons(), "backend-missing")
	if len(lost) == 1 && !reported {
		t.Fatalf("%s: lost documents in silence", where)
	}
	if reported && (a.progress.Skipped[0].Title != "1 shard unreadable" || exhaustive(a)) {
		t.Fatalf("%s: got %+v, exhaustive %v", where, a.progress.Skipped, exhaustive(a))
	}
	return reported
}

// mutations damage a record so that the engine does not notice.
var mutations = []func(rng *rand.Rand, value []byte) []byte{
	func(*rand.Rand, []byte) []byte { return nil },
	func(_ *rand.Rand, v []byte) []byte { return v[:len(v)/2] },
	func(rng *rand.Rand, v []byte) []byte {
		if len(v) > 0 {
			v[rng.IntN(len(v))] ^= 1 << rng.IntN(8)
		}
		return v
	},
	func(rng *rand.Rand, v []byte) []byte {
		for i := range v {
			v[i] = byte(rng.Uint32())
		}
		return append(v, 0xff)
	},
}

// Whatever record of a shard is damaged, nothing panics and the other shards
// answer. Each damaged shard has one damaged record, in the order of keys.
func TestDamagedRecords(t *testing.T) {
	fs := vfs.NewMem()
	// A shard has 33 records; some shards stay whole.
	c := damageCorpus(t, fs, 36*len(mutations), 1)
	queries := []string{"type:file yak count:all", "type:file /o.\\s?o?x? yak$/ select:file", "type:file end", "type:path 1", "type:file e", "type:file not nothing"}
	want := map[string][]string{}
	for _, text := range queries {
		want[text] = c.search(t, search.Settings{}, search.Options{}, text, query.Keyword).full()
	}
	c.close(t)
	damaged, chunks := damageRecords(t, fs)
	c.open(t, fs)
	defer c.close(t)
	for _, text := range queries {
		for _, brute := range []bool{false, true} {
			a := c.try(context.Background(), t, search.Settings{Brute: brute}, search.Options{Display: -1}, text, nil)
			if a.outcome != (search.Outcome{}) {
				t.Fatalf("%q, brute %v: got %+v, want an answer", text, brute, a.outcome)
			}
			got := a.full()
			whole := 0
			for _, line := range want[text] {
				_, path, _ := strings.Cut(line, `"`)
				if damaged[shardOf(path)] {
					continue
				}
				whole++
				if !slices.Contains(got, line) {
					t.Errorf("%q, brute %v: lost %.100s, whose shard is whole", text, brute, line)
				}
			}
			unreadable := 0
			if i := slices.IndexFunc(a.progress.Skipped, func(s query.Skipped) bool { return s.Reason == "backend-missing" }); i >= 0 {
				fmt.Sscan(a.progress.Skipped[i].Title, &unreadable)
			}
			if text == queries[0] && brute && unreadable < chunks {
				t.Errorf("%q: %d shards are reported to be unreadable, want at least %d with a damaged chunk", text, unreadable, chunks)
			}
			if text == queries[0] && whole == 0 {
				t.Error("no shard stayed whole")
			}
		}
	}
}

// damageRecords damages the n-th record of the n-th shard, once for each
// mutation, behind the store's back. It returns the damaged shards by their
// directories and how many of them have a damaged chunk.
func damageRecords(t *testing.T, fs vfs.FS) (damaged map[string]bool, chunks int) {
	t.Helper()
	db, err := pebble.Open(fs.PathJoin("data", "index"), &pebble.Options{FS: fs, FormatMajorVersion: pebble.FormatNewest, Logger: silent{}})
	if err != nil {
		t.Fatal(err)
	}
	it, err := db.NewIter(nil)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 3))
	damaged = map[string]bool{}
	var shard []byte
	shards, record := -1, 0
	for ok := it.First(); ok; ok = it.Next() {
		key := it.Key()
		// A shard's records stand together under five bytes.
		if len(key) < 6 {
			continue
		}
		if key[0] != 's' {
			continue
		}
		if !bytes.Equal(shard, key[:5]) {
			shard, shards, record = bytes.Clone(key[:5]), shards+1, 0
		}
		if record == shards/len(mutations) {
			value := mutations[shards%len(mutations)](rng, bytes.Clone(it.Value()))
			if err := db.Set(bytes.Clone(key), value, nil); err != nil {
				t.Fatal(err)
			}
			damaged[fmt.Sprintf("%03d", shards)] = true
			if record == 0 {
				chunks++ // the text stands first
			}
		}
		record++
	}
	if err := errors.Join(it.Close(), db.Close()); err != nil {
		t.Fatal(err)
	}
	if chunks == 0 || len(damaged) < 100 {
		t.Fatalf("damaged %d shards, %d chunks; the store's records are not what this test takes them for", len(damaged), chunks)
	}
	return damaged, chunks
}

type silent struct{}

func (silent) Infof(string, ...any)              {}
func (silent) Errorf(string, ...any)             {}
func (silent) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
