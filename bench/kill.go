package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/trawlsearch/trawl/internal/tcpproxy"
)

// KillConfig is a run of servers that are killed.
type KillConfig struct {
	// Trawl is the binary, Work a directory that is empty or not there.
	Trawl, Work string
	// Cycles is how many servers are killed.
	Cycles int
	// Seed chooses the operations and their times. How far a server is by then
	// depends on the machine.
	Seed uint64
	// Load is the longest that a server works before it is killed; 0 is 300 ms.
	Load time.Duration
	// ReadyWithin is how long one may take to be ready; 0 is 10 s.
	ReadyWithin time.Duration
	// Note, if set, hears how far it is.
	Note func(string)
}

// KillReport is what came out.
type KillReport struct {
	Seed   uint64 `json:"seed"`
	Cycles int    `json:"cycles"`
	// BeforeReady counts servers that were killed while they started.
	BeforeReady int `json:"beforeReady"`
	// Acknowledged counts changes that had to survive, Unsure those that a kill
	// cut off.
	Acknowledged int `json:"acknowledged"`
	Unsure       int `json:"unsure"`
	// Ready are the median and the longest times from a start to readiness.
	Ready        time.Duration `json:"readyNanos"`
	LongestReady time.Duration `json:"longestReadyNanos"`
	// Wrong lists lost and wrong data, by cycle.
	Wrong []string `json:"wrong,omitempty"`
}

// OK reports whether nothing was lost or wrong.
func (r *KillReport) OK() bool { return len(r.Wrong) == 0 }

// Write prints the report for people.
func (r *KillReport) Write(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%d servers killed, %d of them before they were ready; seed %d\n"+
		"%d changes acknowledged, %d cut off; ready after %s, at most %s\n",
		r.Cycles, r.BeforeReady, r.Seed, r.Acknowledged, r.Unsure, r.Ready.Round(time.Millisecond), r.LongestReady.Round(time.Millisecond))
	for _, wrong := range r.Wrong {
		_, err = fmt.Fprintln(w, wrong)
	}
	if r.OK() && err == nil {
		_, err = fmt.Fprintln(w, "nothing acknowledged was lost, and no answer was wrong")
	}
	return err
}

// Kill starts a server, changes and searches it, kills it, and starts it again,
// as often as the configuration says. After each start it asks for all that was
// acknowledged. It ends at the first thing that is wrong, and leaves the data.
func Kill(ctx context.Context, c KillConfig) (*KillReport, error) {
	c.Load = cmp.Or(c.Load, 300*time.Millisecond)
	c.ReadyWithin = cmp.Or(c.ReadyWithin, 10*time.Second)
	if c.Note == nil {
		c.Note = func(string) {}
	}
	k := &killer{KillConfig: c, rng: rand.New(rand.NewPCG(c.Seed, 0)), data: filepath.Join(c.Work, "data")}
	k.load.dir = filepath.Join(c.Work, "repositories")
	if err := os.MkdirAll(k.load.dir, 0o755); err != nil {
		return nil, err
	}
	r := &KillReport{Seed: c.Seed}
	for r.Cycles < c.Cycles && r.OK() {
		early, err := k.cycle(ctx, r.Cycles == 0)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		r.Cycles++
		if early {
			r.BeforeReady++
		}
		if err != nil {
			r.Wrong = append(r.Wrong, fmt.Sprintf("cycle %d of seed %d: %v", r.Cycles, c.Seed, err))
		}
		if r.Cycles%50 == 0 {
			c.Note(fmt.Sprintf("%d of %d servers killed, %d changes acknowledged", r.Cycles, c.Cycles, k.load.acknowledged))
		}
	}
	if r.OK() {
		if err := k.last(ctx); err != nil {
			r.Wrong = append(r.Wrong, fmt.Sprintf("after the last cycle of seed %d: %v", c.Seed, err))
		}
	}
	r.Acknowledged, r.Unsure = k.load.acknowledged, k.load.unsure
	slices.Sort(k.ready)
	if n := len(k.ready); n > 0 {
		r.Ready, r.LongestReady = k.ready[n/2], k.ready[n-1]
	}
	return r, nil
}

// killer is one run.
type killer struct {
	KillConfig
	rng  *rand.Rand
	data string
	load killLoad
	// ready are the times from a start to readiness.
	ready []time.Duration
}

// start starts a server and returns it with a client.
func (k *killer) start(ctx context.Context) (*process, *operatorClient, error) {
	addr, err := tcpproxy.FreeAddress()
	if err != nil {
		return nil, nil, err
	}
	cmd := exec.Command(k.Trawl, "serve", "--data", k.data, "--listen", addr, "--memory", "256MiB", "--symbols=false",
		"--access-tokens-per-user", "1000000", "--min-free-bytes", "0", "--log-level", "error")
	cmd.Dir = k.Work // which is no repository
	cmd.Env = cleanEnv()
	c := &operatorClient{client: newClient(), base: "http://" + addr}
	ctx, cancel := context.WithTimeout(ctx, k.ReadyWithin)
	defer cancel()
	p, err := startProcess(ctx, "trawl serve", cmd, func(ctx context.Context) bool {
		return answersOK(ctx, &c.client, c.base+"/readyz")
	})
	if err != nil {
		return nil, nil, err
	}
	k.ready = append(k.ready, p.ready)
	c.operator, err = operatorOf(k.data)
	return p, c, err
}

// cycle is one server's life. Some are killed at their start.
func (k *killer) cycle(ctx context.Context, first bool) (early bool, err error) {
	if !first && k.rng.IntN(10) == 0 {
		return true, k.killEarly(ctx, time.Duration(k.rng.Int64N(int64(100*time.Millisecond))))
	}
	p, c, err := k.start(ctx)
	if err != nil {
		return false, err
	}
	defer c.client.CloseIdleConnections()
	if first {
		err = k.load.begin(ctx, c)
	} else {
		err = k.load.judge(ctx, c, k.rng)
	}
	if err != nil {
		return false, errors.Join(err, p.kill())
	}
	return false, k.work(ctx, p, c)
}

// killEarly kills a server so long after its start.
func (k *killer) killEarly(ctx context.Context, after time.Duration) error {
	cmd := exec.CommandContext(ctx, k.Trawl, "serve", "--data", k.data, "--listen", "127.0.0.1:0")
	cmd.Dir, cmd.Env = k.Work, cleanEnv()
	if err := cmd.Start(); err != nil {
		return err
	}
	select {
	case <-time.After(after):
	case <-ctx.Done():
	}
	_ = cmd.Process.Kill() // it may have ended
	_ = cmd.Wait()         // which reports the kill
	return nil
}

// work changes and searches until the server is killed.
func (k *killer) work(ctx context.Context, p *process, c *operatorClient) error {
	after := time.Duration(k.rng.Int64N(int64(k.Load)))
	repos, accounts := rand.New(rand.NewPCG(k.rng.Uint64(), 1)), rand.New(rand.NewPCG(k.rng.Uint64(), 2))
	other := killLoad{dir: k.load.dir, users: k.load.users, tokens: k.load.tokens, made: k.load.made}
	var errs [3]error
	var group sync.WaitGroup
	token := k.load.good()
	group.Go(func() { errs[0] = k.load.changeRepositories(ctx, c, repos) })
	group.Go(func() { errs[1] = other.changeAccounts(ctx, c, accounts) })
	group.Go(func() { errs[2] = k.load.search(ctx, c, token) })
	select {
	case <-time.After(after):
	case <-ctx.Done():
	case <-p.exited:
	}
	ended := p.ended()
	err := p.kill()
	group.Wait()
	k.load.users, k.load.tokens, k.load.made = other.users, other.tokens, other.made
	k.load.acknowledged += other.acknowledged
	k.load.unsure += other.unsure
	for _, e := range errs {
		if !errors.Is(e, errCut) || errors.Is(e, errRefused) {
			err = errors.Join(err, e)
		}
	}
	if ended {
		err = errors.Join(err, fmt.Errorf("the server ended by itself: %w: %s", exitReason(p.err), p.stderr))
	}
	return err
}

// last starts a server once more and ends it in good order, twice, the second
// time to see what the first left.
func (k *killer) last(ctx context.Context) error {
	for range 2 {
		p, c, err := k.start(ctx)
		if err != nil {
			return err
		}
		err = k.load.judge(ctx, c, k.rng)
		c.client.CloseIdleConnections()
		if err := errors.Join(err, p.stop()); err != nil {
			return err
		}
	}
	return nil
}

// ended reports whether the process is gone.
func (p *process) ended() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

// kill ends the process at once.
func (p *process) kill() error {
	if !p.ended() {
		_ = p.cmd.Process.Kill() // it may have ended since
	}
	<-p.exited
	return nil
}
