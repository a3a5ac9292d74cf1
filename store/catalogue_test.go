package store

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/store/shard"
)

// checkIndexes compares each index of a catalogue with what a look at all records
// finds.
func checkIndexes(t *testing.T, c *catalogue) {
	t.Helper()
	var all []*Repository
	c.byID.Scan(func(id uint32, r *Repository) bool {
		if r.ID != id || c.named(r.Name) != r {
			t.Errorf("repository %d is %+v, and %q is %+v", id, r, r.Name, c.named(r.Name))
		}
		all = append(all, r)
		return true
	})
	if c.byName.Len() != len(all) {
		t.Errorf("%d repositories have %d names", len(all), c.byName.Len())
	}
	slices.SortFunc(all, CompareListed)
	if got := slices.Collect(c.listed.Scan); !slices.Equal(got, all) {
		t.Errorf("%d repositories are listed of %d, or in another order", len(got), len(all))
	}
	for m := range marks {
		want := slices.DeleteFunc(slices.Clone(all), func(r *Repository) bool { return !m.Of(r) })
		slices.SortFunc(want, func(a, b *Repository) int { return cmp.Compare(a.ID, b.ID) })
		if got := slices.Collect((&Snapshot{c: c}).Marked(m)); !slices.Equal(got, want) {
			t.Errorf("mark %d: got %d repositories, want %d", m, len(got), len(want))
		}
		checkIDs(t, fmt.Sprintf("mark %d", m), c.ids[m].IDs, all, m.Of)
	}
	checkIDs(t, "all", c.all.IDs, all, func(*Repository) bool { return true })
	for _, word := range words {
		checkIDs(t, "default branch "+word, c.withDefault(word), all, func(r *Repository) bool { return len(r.Branches) > 0 && r.Branches[0].Name == word })
	}
	for seconds := range int64(4) {
		checkIDs(t, fmt.Sprintf("newer than %d", seconds), c.newerThan(seconds), all, func(r *Repository) bool { return MarkDated.Of(r) && r.History.Newest > seconds })
	}
	facts := c.facts.of(c)
	for _, word := range words {
		checkIDs(t, "topic "+word, facts.Topic(word), all, func(r *Repository) bool { return slices.Contains(r.Topics, word) })
		checkIDs(t, "key "+word, facts.Metadata(func(key string, value *string) bool { return key == word && value != nil }), all,
			func(r *Repository) bool { return r.Metadata[word] != nil })
		checkIDs(t, "description "+word, facts.Description(wordFinder(word), regexp.MustCompile(word)), all,
			func(r *Repository) bool { return strings.Contains(r.Description, word) })
	}
	stars, holding := map[uint32]int{}, map[uint32]map[uint32]bool{}
	for _, r := range all {
		for _, id := range r.Shards {
			stars[id] = max(stars[id], r.Stars)
		}
		for _, id := range slices.Concat(r.Shards, r.History.Shards) {
			if holding[id] == nil {
				holding[id] = map[uint32]bool{}
			}
			holding[id][r.ID] = true
		}
	}
	var visits []visit
	c.byNumber.Scan(func(id uint32, sh *shard.Shard) bool {
		visits = append(visits, visit{stars[id], sh.Header.Quality, id})
		got := map[uint32]bool{}
		for h := range c.holding(id) {
			got[h.repository] = true
		}
		if want := holding[id]; !maps.Equal(got, want) {
			t.Errorf("shard %d: got %v, want %v", id, got, want)
		}
		return true
	})
	slices.SortFunc(visits, compareVisits)
	if got := slices.Collect(c.visited.Scan); !slices.Equal(got, visits) {
		t.Errorf("shards are visited as %v, want %v", got, visits)
	}
	names := c.names.of(c)
	lines := strings.Split(string(names.text), "\n")
	if len(names.ids) != len(all) || len(lines) != len(all)+1 {
		t.Fatalf("%d repositories have the names %q", len(all), names.text)
	}
	for i, id := range names.ids {
		if r := c.repository(id); r == nil || r.Name != lines[i] {
			t.Fatalf("name %d of %q is that of %+v", i, names.text, r)
		}
	}
	checkIDs(t, "names", names.Find(wordFinder("1")), all, func(r *Repository) bool { return strings.Contains(r.Name, "1") })
}

// checkIDs compares a set with the repositories that are to be in it.
func checkIDs(t *testing.T, what string, got *IDs, all []*Repository, in func(*Repository) bool) {
	t.Helper()
	want := &IDs{}
	for _, r := range all {
		if in(r) {
			want.Add(r.ID)
		}
	}
	if g, w := slices.Collect(got.All()), slices.Collect(want.All()); !slices.Equal(g, w) || got.Len() != len(w) {
		t.Errorf("%s: got %v, want %v", what, g, w)
	}
}

// words are in facts of random repositories.
var words = []string{"ox", "yak"}

// wordFinder finds the lines with a word.
type wordFinder string

func (w wordFinder) Find(text []byte, found func(start int) bool) {
	start := 0
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, string(w)) && !found(start) {
			return
		}
		start += len(line)
	}
}

// TestCatalogue: whatever changes, all indexes agree with the records, and a
// version that was handed out stays as it was.
func TestCatalogue(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		c := newCatalogue()
		before := c.clone()
		beforeText := describe(before)
		for step := range 300 {
			c = c.clone()
			if step%30 == 0 {
				if got := describe(before); got != beforeText {
					t.Fatalf("seed %d, step %d: a version changed: %s, want %s", seed, step, got, beforeText)
				}
				checkIndexes(t, before)
				before, beforeText = c.clone(), describe(c)
			}
			id := 1 + rng.Uint32N(12)
			switch rng.IntN(6) {
			case 0, 1, 2:
				c.putRepository(randomRepository(rng, id))
			case 3:
				if old := c.repository(id); old != nil {
					c.removeRepository(old)
				}
			case 4:
				c.putShard(shard.New(id, shard.Header{ID: id, Quality: byte(rng.IntN(3))}))
				c.dead.Set(id, &postings.Set{})
			case 5:
				c.dropShard(id)
			}
			if checkIndexes(t, c); t.Failed() {
				t.Fatalf("seed %d, step %d", seed, step)
			}
		}
	}
}

func randomRepository(rng *rand.Rand, id uint32) *Repository {
	ids := func() []uint32 {
		var out []uint32
		for range rng.IntN(4) {
			out = append(out, 1+rng.Uint32N(12))
		}
		slices.Sort(out)
		return slices.Compact(out)
	}
	r := &Repository{
		ID: id, Name: fmt.Sprintf("r%d", id), Stars: rng.IntN(3), Fork: rng.IntN(2) == 0, Archived: rng.IntN(2) == 0, Private: rng.IntN(2) == 0,
		Generation: rng.Uint64N(2), Branches: make([]Branch, rng.IntN(3)), Shards: ids(),
	}
	for _, shard := range ids() {
		if !slices.Contains(r.Shards, shard) {
			r.History.Shards = append(r.History.Shards, shard)
		}
	}
	if rng.IntN(2) == 0 {
		r.Readers = &Readers{}
	}
	for i := range r.Branches {
		r.Branches[i].Commit = words[rng.IntN(2)]
		r.Branches[i].Name = []string{"", words[0], words[1]}[rng.IntN(3)]
	}
	if r.Mirror = rng.IntN(2) == 0; rng.IntN(2) == 0 {
		r.LastFetched, r.LastError = time.Unix(1, 0), words[rng.IntN(2)]
	}
	r.History.Tip, r.History.More, r.History.Mailmap = words[rng.IntN(2)], rng.IntN(3) == 0, []string{"", "ox"}[rng.IntN(2)]
	r.History.Commits, r.History.Newest = rng.IntN(3), rng.Int64N(5)
	r.Topics, r.Description = words[:rng.IntN(3)], []string{"", "an ox", "a\nyak", "a yak", "ox\nand yak"}[rng.IntN(5)]
	r.Metadata = []map[string]*string{nil, {"ox": nil}, {"ox": &words[0], "yak": nil}, {"yak": &words[1]}}[rng.IntN(4)]
	return r
}

// describe prints what a version holds.
func describe(c *catalogue) string {
	var b strings.Builder
	c.listed.Scan(func(r *Repository) bool { fmt.Fprintf(&b, "%+v\n", *r); return true })
	for m := range marks {
		fmt.Fprintln(&b, slices.Collect(c.ids[m].All()))
	}
	fmt.Fprintln(&b, slices.Collect(c.visited.Scan), slices.Collect(c.holders.Scan), c.dead.Keys())
	return b.String()
}

// BenchmarkCatalogueMemory reports what a repository takes in memory, with all that
// searches make of the catalogue.
func BenchmarkCatalogueMemory(b *testing.B) {
	const n = 100_000
	for b.Loop() {
		before := heapBytes()
		c := newCatalogue()
		for i := range uint32(n) {
			commit := fmt.Sprintf("%040x", i)
			value, err := json.Marshal(&Repository{
				ID: i + 1, Name: fmt.Sprintf("github.com/org%d/repository-%d", i%317, i), Source: fmt.Sprintf("https://github.com/org%d/repository-%d.git", i%317, i),
				Mirror: true, Generation: 1, Branches: []Branch{{Name: "main", Commit: commit}}, Shards: []uint32{i / 20_000}, Documents: 17, TextBytes: 48_000,
				Admission: "1", History: History{Tip: commit, Depth: "1", Shards: []uint32{100 + i/20_000}, Commits: 2}, Fork: i%10 == 3, Archived: i%50 == 7,
				Description: fmt.Sprintf("part %d of the whole", i), Topics: []string{"go"},
			})
			if err != nil {
				b.Fatal(err)
			}
			loader{c}.loadRepository(i+1, nil, value)
		}
		c.names.of(c)
		c.facts.of(c)
		b.ReportMetric(float64(heapBytes()-before)/n, "B/repository")
		if c.byID.Len() != n {
			b.Fatalf("%d repositories, want %d", c.byID.Len(), n)
		}
	}
}

// heapBytes returns the bytes of the heap that are in use.
func heapBytes() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
