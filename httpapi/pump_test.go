package httpapi

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/trawlsearch/trawl/query/search/admission"
)

// TestPump: a pump runs once, after its time or when it is wanted, ends before
// stop returns, and does not begin after it.
func TestPump(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(p *pump)
		runs int
	}{
		{"over before it begins", func(*pump) {}, 0},
		{"over after it has begun", func(*pump) { time.Sleep(3 * time.Millisecond) }, 1},
		{"wanted early", func(p *pump) { p.start() }, 1},
		{"wanted early, again and in time", func(p *pump) { p.start(); p.start(); time.Sleep(3 * time.Millisecond) }, 1},
		{"wanted when it has begun", func(p *pump) { time.Sleep(3 * time.Millisecond); p.start() }, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				runs, ended := 0, 0
				p := &pump{run: func(over <-chan struct{}) {
					runs++
					<-over
					ended++
				}}
				stop := p.startAfter(admission.NewDelay(pumpAfter))
				c.do(p)
				stop()
				if runs != c.runs || ended != c.runs {
					t.Errorf("when stop has returned: got %d runs, %d ended, want %d", runs, ended, c.runs)
				}
				time.Sleep(10 * pumpAfter)
				if p.start(); runs != c.runs {
					t.Errorf("later: got %d runs, want %d", runs, c.runs)
				}
			})
		})
	}
}

// TestPumpPanics: what a pump panics with goes on where it is stopped, so that
// it ends one request and not the process.
func TestPumpPanics(t *testing.T) {
	p := &pump{run: func(<-chan struct{}) { panic("broken") }}
	stop := p.startAfter(admission.NewDelay(pumpAfter))
	p.start()
	defer func() {
		if got := recover(); got != "broken" {
			t.Errorf("stop after a panic: got %v, want broken", got)
		}
	}()
	stop()
}
