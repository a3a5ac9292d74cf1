package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/trawlsearch/trawl/internal/tcpproxy"
)

// LoadConfig is a server under load.
type LoadConfig struct {
	// Trawl is the binary, Data a data directory with repositories in it, Memory
	// the setting of that name.
	Trawl, Data, Memory string
	// Streams are kept open and read at BytesPerSecond each, Rate is how many
	// queries a second others ask, CancelRate how many more are begun and left.
	Streams, BytesPerSecond int
	Rate, CancelRate        float64
	For                     time.Duration
	// Words are looked for. Each should be found often.
	Words []string
	Seed  uint64
	// Note, if set, hears how far it is.
	Note func(string)
}

// loader is one run.
type loader struct {
	LoadConfig
	base string
	ends *endings

	mu     sync.Mutex // guards all below
	report LoadReport
	// took and cancelled are the times so far.
	took, cancelled []time.Duration
}

// Load starts a server, keeps slow streams open, asks queries at a steady rate,
// and leaves some of them in the middle. Everything is measured from outside,
// but for what the server says when a request has ended and how much of its
// answer waited at most.
func Load(ctx context.Context, c LoadConfig) (*LoadReport, error) {
	if c.Note == nil {
		c.Note = func(string) {}
	}
	setting, err := parseSize(c.Memory)
	if err != nil {
		return nil, err
	}
	addr, err := tcpproxy.FreeAddress()
	if err != nil {
		return nil, err
	}
	l := &loader{LoadConfig: c, base: "http://" + addr, ends: newEndings()}
	l.report = LoadReport{Streams: c.Streams, Rate: c.Rate, For: c.For, SettingBytes: setting, Seed: c.Seed}
	cmd := exec.Command(c.Trawl, "serve", "--data", c.Data, "--listen", addr, "--memory", c.Memory, "--symbols=false",
		"--history-messages", "0", "--sync-interval", "24h", "--log-format", "json")
	cmd.Env, cmd.Stderr = cleanEnv(), l.ends
	client := newClient()
	defer client.CloseIdleConnections()
	p, err := startProcess(ctx, "trawl serve", cmd, func(ctx context.Context) bool {
		return answersOK(ctx, &client, l.base+"/readyz")
	})
	if err != nil {
		return nil, err
	}
	err = l.run(ctx)
	memory := p.memory()
	l.report.PeakBytes, l.report.RestBytes = memory.single, memory.total
	l.report.MostHeld = l.ends.mostHeld()
	if err := errors.Join(err, p.stop()); err != nil {
		return nil, err
	}
	l.report.Queries = percentiles(l.took)
	l.report.Cancelled = percentiles(l.cancelled)
	return &l.report, nil
}

// openWithin is the time over which the streams are opened, before the clock of
// the run starts.
const openWithin = 20 * time.Second

// run loads the server for as long as the configuration says.
func (l *loader) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var group sync.WaitGroup
	defer group.Wait()
	defer cancel()
	opened := make(chan struct{}, l.Streams)
	within := min(openWithin, l.For)
	for n := range l.Streams {
		group.Go(func() {
			if pause(ctx, within*time.Duration(n)/time.Duration(l.Streams)) {
				l.keepOpen(ctx, n, opened)
			}
		})
	}
	for n := range l.Streams {
		select {
		case <-opened:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(readyWithin):
			return fmt.Errorf("only %d of %d streams were opened within %s; errors: %s", n, l.Streams, readyWithin, strings.Join(l.errors(), "; "))
		}
	}
	l.Note(fmt.Sprintf("%d streams are open", l.Streams))
	timed, stop := context.WithTimeout(ctx, l.For)
	defer stop()
	var asking sync.WaitGroup
	asking.Go(func() { l.pace(timed, l.Rate, 1, l.ask) })
	asking.Go(func() { l.pace(timed, l.CancelRate, 2, l.leave) })
	asking.Wait()
	return context.Cause(ctx)
}

// pace begins something so many times a second, whether what was begun before
// has ended or not, until ctx ends, and waits for all of it.
func (l *loader) pace(ctx context.Context, rate float64, stream uint64, do func(*rand.Rand)) {
	if rate <= 0 {
		return
	}
	rng := rand.New(rand.NewPCG(l.Seed, stream))
	tick := time.NewTicker(time.Duration(float64(time.Second) / rate))
	defer tick.Stop()
	var group sync.WaitGroup
	defer group.Wait()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			own := rand.New(rand.NewPCG(rng.Uint64(), stream))
			group.Go(func() { do(own) })
		}
	}
}

// word draws a word to look for.
func (l *loader) word(rng *rand.Rand) string { return l.Words[rng.IntN(len(l.Words))] }

// fail records what should not have happened.
func (l *loader) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.report.Failed++
	if len(l.report.Errors) < mostErrors {
		l.report.Errors = append(l.report.Errors, err.Error())
	}
}

// mostErrors is how many errors a report lists.
const mostErrors = 20

func (l *loader) errors() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.report.Errors
}

// pause waits, and reports false when ctx ends before.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
