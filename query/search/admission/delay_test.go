package admission_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/trawlsearch/trawl/query/search/admission"
)

// TestDelay: each of several functions is called in its own time, whichever of
// them were removed meanwhile, and none twice.
func TestDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const after, apart = 10 * time.Millisecond, 3 * time.Millisecond
		d, began := admission.NewDelay(after), time.Now()
		var called [5][]time.Duration
		var all [5]*admission.Delayed
		for i := range all {
			all[i] = d.Add(func() { called[i] = append(called[i], time.Since(began)) })
			time.Sleep(apart)
		}
		// 0 and 1 have been called, and the timer is set for 2.
		all[2].Remove()
		all[3].Remove()
		time.Sleep(4 * after)
		all[4].Remove() // too late
		synctest.Wait()
		for i, want := range [5]time.Duration{after, after + apart, 0, 0, after + 4*apart} {
			if got := called[i]; want == 0 && len(got) > 0 || want > 0 && (len(got) != 1 || got[0] != want) {
				t.Errorf("function %d: called at %v, want %v", i, got, want)
			}
		}
		// All was called or removed: another begins anew.
		n := 0
		d.Add(func() { n++ })
		time.Sleep(2 * after)
		if synctest.Wait(); n != 1 {
			t.Errorf("called %d times after a pause, want once", n)
		}
	})
}
