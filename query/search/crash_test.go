package search_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/trawlsearch/trawl/internal/race"
)

// crashPoint is what a power failure would have left.
type crashPoint struct {
	fs *vfs.MemFS
	// about is the call at which it happened and how much of what was not synced
	// is lost.
	about string
}

// crashes takes the state of a file system before each sync, rename, removal
// and link, after each of them, and at some of the other calls.
type crashes struct {
	mem *vfs.MemFS
	all bool
	// every is at how many calls one is taken, unless all are.
	every int
	mu    sync.Mutex
	rng   *rand.Rand
	n     int
	took  []crashPoint
}

// lostPercent of what was not synced are lost.
var lostPercent = []int{100, 0, 50}

func (c *crashes) MaybeError(op errorfs.Op) error {
	switch op.Kind {
	case errorfs.OpFileRead, errorfs.OpFileReadAt, errorfs.OpStat, errorfs.OpFileStat, errorfs.OpGetDiskUsage, errorfs.OpOpen, errorfs.OpList, errorfs.OpOpenDir:
		return nil // which change nothing
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n++; !c.all && c.rng.IntN(c.every) > 0 {
		return nil
	}
	for i, percent := range lostPercent {
		if !c.all && i != c.n%len(lostPercent) {
			continue
		}
		c.took = append(c.took, crashPoint{
			c.mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100 - percent, RNG: c.rng}),
			fmt.Sprintf("call %d, %v on %s, %d %% lost", c.n, op.Kind, op.Path, percent),
		})
	}
	return nil
}

func (*crashes) String() string { return "crashes" }

func (c *crashes) take() []crashPoint {
	c.mu.Lock()
	defer c.mu.Unlock()
	took := c.took
	c.took = nil
	return took
}

// TestCrash: the power fails anywhere in whatever writes to a store. What was
// acknowledged is there, what was at work is there whole or not at all, the
// index answers as a full scan does, nobody's shards are gone, and the next sync
// goes on. TRAWL_CRASHES=all takes every call with 0, 50 and 100 % of what was
// not synced lost; less than that is a sample.
func TestCrash(t *testing.T) {
	seed := ordealSeed()
	rng := rand.New(rand.NewPCG(seed, 5))
	o := newOrdeal(t)
	// The engine writes in the background too, while the course goes on.
	own := rand.New(rand.NewPCG(seed, 6))
	c := &crashes{mem: vfs.NewCrashableMem(), rng: own, all: os.Getenv("TRAWL_CRASHES") == "all", every: 2}
	least := 200
	if race.Enabled {
		c.every, least = 8, 30
	}
	points, kinds := 0, map[string]int{}
	before := facts{}
	check := func(name string, after facts) {
		for i, p := range c.take() {
			points++
			kinds[strings.Fields(name)[0]]++
			o.recovers(t, p.fs, fmt.Sprintf("seed %d, %s: %s", seed, name, p.about), before, after, ordealQueries[(points+i)%len(ordealQueries)])
		}
		if t.Failed() {
			t.FailNow()
		}
	}
	fs := errorfs.Wrap(c.mem, c)
	s, err := o.open(fs)
	if err != nil {
		t.Fatal(err)
	}
	check("open", nil)
	n := 0
	o.course(rng, func(st step) {
		if err := st.do(s); err != nil {
			t.Fatalf("%s: %v", st.name, err)
		}
		check(st.name, st.facts)
		maps.Copy(before, st.facts)
		maps.DeleteFunc(before, func(_, v string) bool { return v == "" })
		if n++; n%9 == 0 {
			if err := s.st.Close(); err != nil {
				t.Fatal(err)
			}
			check("close", nil)
			if s, err = o.open(fs); err != nil {
				t.Fatal(err)
			}
			check("open", nil)
		}
	})
	if wrong := s.agree(ordealQueries); wrong != nil {
		t.Errorf("at the end: %s", strings.Join(wrong, "\n"))
	}
	if err := s.st.Close(); err != nil {
		t.Fatal(err)
	}
	check("close", nil)
	if points < least {
		t.Errorf("%d crash points over %d calls, want %d or more", points, c.n, least)
	}
	t.Logf("seed %d: recovered from %d crash points over %d calls: %v", seed, points, c.n, kinds)
}

// recovers opens what a crash left and asks whether it is right.
func (o *ordeal) recovers(t *testing.T, fs vfs.FS, about string, before, after facts, text string) {
	t.Helper()
	s, err := o.open(fs)
	if err != nil {
		t.Errorf("%s: open: %v", about, err)
		return
	}
	got, err := s.facts()
	if err != nil {
		t.Errorf("%s: %v", about, err)
	}
	for _, wrong := range append(got.differ(before, after), s.agree([]string{text})...) {
		t.Errorf("%s: %s", about, wrong)
	}
	if stray := s.stray(); len(stray) > 0 {
		t.Errorf("%s: shards %v belong to no repository", about, stray)
	}
	if _, err := s.reg.CreateUser(operator, namedUser("after")); err != nil {
		t.Errorf("%s: a user afterwards: %v", about, err)
	}
	if err := s.st.Close(); err != nil {
		t.Errorf("%s: close: %v", about, err)
	}
}
