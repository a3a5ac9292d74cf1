package stream

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/trawlsearch/trawl/query/search/admission"
)

// TestBackground: the goroutine runs once, after its time or when it is wanted, ends before
// stop returns, and does not begin after it.
func TestBackground(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(b *background)
		runs int
	}{
		{"over before it begins", func(*background) {}, 0},
		{"over after it has begun", func(*background) { time.Sleep(3 * time.Millisecond) }, 1},
		{"wanted early", func(b *background) { b.start() }, 1},
		{"wanted early, again and in time", func(b *background) { b.start(); b.start(); time.Sleep(3 * time.Millisecond) }, 1},
		{"wanted when it has begun", func(b *background) { time.Sleep(3 * time.Millisecond); b.start() }, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				runs, ended := 0, 0
				b := &background{run: func(over <-chan struct{}) {
					runs++
					<-over
					ended++
				}}
				stop := b.startAfter(admission.NewDelay(sendAfter))
				c.do(b)
				stop()
				if runs != c.runs || ended != c.runs {
					t.Errorf("when stop has returned: got %d runs, %d ended, want %d", runs, ended, c.runs)
				}
				time.Sleep(10 * sendAfter)
				if b.start(); runs != c.runs {
					t.Errorf("later: got %d runs, want %d", runs, c.runs)
				}
			})
		})
	}
}

// TestBackgroundPanics: what the goroutine panics with goes on where it is stopped, so that
// it ends one request and not the process.
func TestBackgroundPanics(t *testing.T) {
	b := &background{run: func(<-chan struct{}) { panic("broken") }}
	stop := b.startAfter(admission.NewDelay(sendAfter))
	b.start()
	defer func() {
		if got := recover(); got != "broken" {
			t.Errorf("stop after a panic: got %v, want broken", got)
		}
	}()
	stop()
}
