package task

import (
	"context"
	"runtime"
	"sync"
	"testing"
)

// TestGitSlotsAreDivided: one asker's searches do not keep others from git.
func TestGitSlotsAreDivided(t *testing.T) {
	g := NewGit(nil, nil, 1)
	ann, bob := &Task{Git: g, Client: "ann"}, &Task{Git: g, Client: "bob"}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for range 10 * gitSlots {
		wg.Go(func() {
			if release, err := ann.GitSlot(ctx); err == nil {
				defer release()
				<-ctx.Done()
			}
		})
	}
	for g.slots.Waiting() == 0 {
		runtime.Gosched()
	}
	release, err := bob.GitSlot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	release()
	cancel()
	wg.Wait()
	if g.slots.Held() != 0 {
		t.Errorf("%d slots of git are held in the end", g.slots.Held())
	}
}
