package search

import (
	"context"
	"runtime"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/fair"
)

// TestSlotsAreWorkers: as many search at once as the settings say.
func TestSlotsAreWorkers(t *testing.T) {
	st, err := store.Open("data", store.Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if _, free := New(st, Settings{Workers: 3}).AtWork(); free != 3 {
		t.Errorf("%d slots for 3 workers", free)
	}
}

// TestGitSlotsAreDivided: one asker's searches do not keep others from git.
func TestGitSlotsAreDivided(t *testing.T) {
	s := &Searcher{gitSlots: fair.NewSemaphore(gitSlots, waitingForGit)}
	ann, bob := &run{Searcher: s, o: Options{Asker: "ann"}}, &run{Searcher: s, o: Options{Asker: "bob"}}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for range 10 * gitSlots {
		wg.Go(func() {
			if release, err := ann.takeSlot(ctx); err == nil {
				defer release()
				<-ctx.Done()
			}
		})
	}
	for s.gitSlots.Waiting() == 0 {
		runtime.Gosched()
	}
	release, err := bob.takeSlot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	release()
	cancel()
	wg.Wait()
	if s.gitSlots.Held() != 0 {
		t.Errorf("%d slots of git are held in the end", s.gitSlots.Held())
	}
}
