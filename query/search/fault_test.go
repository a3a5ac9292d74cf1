package search_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// armed is a file system that fails at one call after it was armed, and at all
// behind it if the fault stays.
type armed struct {
	mu    sync.Mutex
	left  int // calls until the fault, 0 is never
	stays bool
	cause error
	hit   string
}

func (a *armed) arm(left int, stays bool, cause error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.left, a.stays, a.cause, a.hit = left, stays, cause, ""
}

// disarm ends the fault and tells what it was, "" if it was not reached.
func (a *armed) disarm() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.left = 0
	return a.hit
}

func (a *armed) MaybeError(op errorfs.Op) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.left == 0 || op.Kind == errorfs.OpFileClose {
		return nil
	}
	if a.left--; a.left > 0 {
		return nil
	}
	if a.stays {
		a.left = 1
	}
	if a.hit == "" {
		a.hit = fmt.Sprintf("%v on %s fails with %v, for good: %v", op.Kind, op.Path, a.cause, a.stays)
	}
	return a.cause
}

func (*armed) String() string { return "armed" }

// TestFault: in each step of whatever writes to a store, calls of the file
// system fail. The step fails or not; either way its facts are those before it
// or behind it, all others stay, the index answers as a full scan does, and when
// the disk is well again the same store takes the step. TRAWL_FAULTS is how many
// courses are run, with other calls failing each time; 0 is one.
func TestFault(t *testing.T) {
	courses, _ := strconv.Atoi(os.Getenv("TRAWL_FAULTS"))
	seed := ordealSeed()
	hits, steps := 0, 0
	for n := range max(courses, 1) {
		h, s := faultyCourse(t, rand.New(rand.NewPCG(seed, uint64(n))), fmt.Sprintf("seed %d, course %d", seed, n))
		hits, steps = hits+h, steps+s
		if t.Failed() {
			break
		}
	}
	t.Logf("seed %d: went on after %d faults in %d steps", seed, hits, steps)
}

// triesOfStep is how often a step that fails is tried with a fault.
const triesOfStep = 3

func faultyCourse(t *testing.T, rng *rand.Rand, about string) (hits, steps int) {
	a := &armed{}
	fs := errorfs.Wrap(vfs.NewMem(), a)
	o := newOrdeal(t)
	s, err := o.open(fs)
	if err != nil {
		t.Fatal(err)
	}
	before := facts{}
	o.course(rng, func(st step) {
		if t.Failed() {
			return
		}
		steps++
		for try := range triesOfStep + 1 {
			last := try == triesOfStep
			if !last {
				a.arm(1+rng.IntN(1+rng.IntN(60)), rng.IntN(2) == 0, []error{syscall.EIO, syscall.ENOSPC}[rng.IntN(2)])
			}
			err := st.do(s)
			where := fmt.Sprintf("%s, %s: %s", about, st.name, a.disarm())
			if !strings.HasSuffix(where, ": ") {
				hits++
			} else if err != nil && !last {
				t.Errorf("%s: without a fault: %v", where, err)
			}
			if err := s.st.Mend(); err != nil {
				t.Errorf("%s: mend: %v", where, err)
			}
			var got facts
			ferr := again(func() (err error) { got, err = s.facts(); return err })
			if ferr != nil {
				t.Errorf("%s: %v", where, ferr)
			}
			want := st.facts
			if err == nil { // then it has to be there
				maps.Copy(before, st.facts)
				maps.DeleteFunc(before, func(_, v string) bool { return v == "" })
				want = nil
			}
			for _, wrong := range append(got.differ(before, want), s.agree([]string{ordealQueries[rng.IntN(len(ordealQueries))]})...) {
				t.Errorf("%s: step says %v: %s", where, err, wrong)
			}
			if err == nil || t.Failed() {
				return
			}
			if last {
				t.Errorf("%s: with a good disk: %v", where, err)
			}
			if done(got, st.facts) {
				// It is there although it failed, and could not be done twice.
				maps.Copy(before, st.facts)
				maps.DeleteFunc(before, func(_, v string) bool { return v == "" })
				return
			}
		}
	})
	if err := s.st.Close(); err != nil {
		t.Errorf("%s: close: %v", about, err)
	}
	if s, err = o.open(fs); err != nil {
		t.Fatalf("%s: open at the end: %v", about, err)
	}
	got, err := s.facts()
	if err != nil {
		t.Errorf("%s: at the end: %v", about, err)
	}
	for _, wrong := range append(got.differ(before, nil), s.agree(ordealQueries)...) {
		t.Errorf("%s: at the end: %s", about, wrong)
	}
	if stray := s.stray(); len(stray) > 0 {
		t.Errorf("%s: at the end: shards %v belong to no repository", about, stray)
	}
	if err := s.st.Close(); err != nil {
		t.Errorf("%s: close at the end: %v", about, err)
	}
	return hits, steps
}

// done reports whether all facts of a step that has any hold.
func done(got, want facts) bool {
	for name, v := range want {
		if got[name] != v {
			return false
		}
	}
	return len(want) > 0
}
