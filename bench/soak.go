package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// SoakConfig is a long run in rounds.
type SoakConfig struct {
	// Trawl is the binary, Work a directory that is empty or not there.
	Trawl, Work string
	// For is how long, Pause how long is rested after each change: what makes a
	// run cheap enough to go on beside something else.
	For, Pause time.Duration
	// RoundsPerServer is how many rounds a server lives; 0 is 6.
	RoundsPerServer int
	Seed            uint64
	// Note, if set, hears how far it is.
	Note func(string)
}

// warmUp is how many rounds of a server are not judged: caches fill, pools and
// stacks grow to what is needed.
const warmUp = 2

// soaker is one run.
type soaker struct {
	SoakConfig
	rng    *rand.Rand
	load   killLoad
	report SoakReport
	server *process
	client *killClient
	debug  string
	age    int
}

// Soak starts a server and changes, searches and backs it up in rounds, each of
// which ends with no repository left. What the server has then should be what it
// had after the round before. From time to time the server is ended, or killed,
// and another takes over its data.
func Soak(ctx context.Context, c SoakConfig) (*SoakReport, error) {
	if c.RoundsPerServer == 0 {
		c.RoundsPerServer = 6
	}
	if c.Note == nil {
		c.Note = func(string) {}
	}
	s := &soaker{SoakConfig: c, rng: rand.New(rand.NewPCG(c.Seed, 4))}
	s.report.Seed, s.report.For = c.Seed, c.For
	s.load.dir = filepath.Join(c.Work, "repositories")
	if err := os.MkdirAll(s.load.dir, 0o755); err != nil {
		return nil, err
	}
	if err := s.start(ctx); err != nil {
		return nil, err
	}
	err := s.load.begin(ctx, s.client)
	for end := time.Now().Add(c.For); err == nil && time.Now().Before(end); {
		if err = s.round(ctx); err != nil {
			err = fmt.Errorf("round %d of seed %d: %w", s.report.Rounds, c.Seed, err)
		} else if s.age >= c.RoundsPerServer {
			err = s.restart(ctx)
		}
	}
	if ctx.Err() != nil {
		return nil, errors.Join(ctx.Err(), s.server.kill())
	}
	if err != nil {
		s.report.Failures = append(s.report.Failures, err.Error())
	}
	s.client.client.CloseIdleConnections()
	if err := s.server.stop(); err != nil {
		s.report.Failures = append(s.report.Failures, err.Error())
	}
	s.report.judge()
	return &s.report, nil
}

func (s *soaker) data() string { return filepath.Join(s.Work, "data") }

// start starts a server.
func (s *soaker) start(ctx context.Context) error {
	addr, err := freeAddress()
	if err != nil {
		return err
	}
	if s.debug, err = freeAddress(); err != nil {
		return err
	}
	cmd := exec.Command(s.Trawl, "serve", "--data", s.data(), "--listen", addr, "--debug-listen", s.debug, "--memory", "256MiB",
		"--access-tokens-per-user", "1000000", "--min-free-bytes", "0", "--log-level", "error")
	cmd.Dir = s.Work // which is no repository
	cmd.Env = cleanEnv()
	s.client = &killClient{client: newClient(), base: "http://" + addr}
	s.server, err = startProcess(ctx, "trawl serve", cmd, func(ctx context.Context) bool {
		return answersOK(ctx, &s.client.client, s.client.base+"/readyz")
	})
	if err != nil {
		return err
	}
	s.age = 0
	s.client.operator, err = operatorOf(s.data())
	return err
}

// restart ends the server, one time in three without a word, and sees that the
// next has all that was acknowledged.
func (s *soaker) restart(ctx context.Context) error {
	s.client.client.CloseIdleConnections()
	end := s.server.stop
	if s.rng.IntN(3) == 0 {
		end = s.server.kill
		s.report.Kills++
	}
	if err := end(); err != nil {
		return err
	}
	s.report.Restarts++
	if err := s.start(ctx); err != nil {
		return err
	}
	return s.load.judge(ctx, s.client, s.rng)
}

// soakChanges is how many changes a round makes.
const soakChanges = 12

// round changes and checks, goes back to where it began, and measures.
func (s *soaker) round(ctx context.Context) error {
	s.report.Rounds++
	s.age++
	for n := range soakChanges {
		if err := s.change(ctx, n); err != nil {
			return err
		}
		if err := s.check(ctx); err != nil {
			return err
		}
		if !pause(ctx, s.Pause) {
			return ctx.Err()
		}
	}
	if err := s.backUp(ctx); err != nil {
		return err
	}
	for len(s.load.repos) > 0 {
		if err := s.load.removeRepository(ctx, s.client, 0); err != nil {
			return err
		}
	}
	s.load.gone = nil
	for len(s.load.tokens) > 1 {
		if err := s.load.revoke(ctx, s.client, s.load.tokens[1]); err != nil {
			return err
		}
		s.load.tokens = append(s.load.tokens[:1], s.load.tokens[2:]...)
	}
	sample, err := s.measure(ctx)
	if err != nil {
		return err
	}
	s.report.Samples = append(s.report.Samples, sample)
	s.Note(fmt.Sprintf("round %d: %s", s.report.Rounds, sample))
	return nil
}

// change adds, changes or removes a repository or a token.
func (s *soaker) change(ctx context.Context, n int) error {
	s.report.Changes++
	switch repos := len(s.load.repos); {
	case repos < 2 || repos < 5 && s.rng.IntN(4) == 0:
		return s.load.addRepository(ctx, s.client, fmt.Sprintf("repo%d-%d", s.report.Rounds, n))
	case repos > 3 && s.rng.IntN(4) == 0:
		return s.load.removeRepository(ctx, s.client, s.rng.IntN(repos))
	case s.rng.IntN(4) == 0:
		return s.load.addToken(ctx, s.client)
	}
	return s.load.change(ctx, s.client, s.load.repos[s.rng.IntN(len(s.load.repos))])
}

// backUp makes a backup, of which one is kept.
func (s *soaker) backUp(ctx context.Context) error {
	to := filepath.Join(s.Work, "backup")
	for _, args := range [][]string{{"backup", "create", to, "--data", s.data()}, {"backup", "prune", to, "--keep-last", "1"}} {
		cmd := exec.CommandContext(ctx, s.Trawl, args...)
		cmd.Dir, cmd.Env = s.Work, cleanEnv()
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("trawl %s: %w: %s", args[1], err, lastBytes(out, 500))
		}
	}
	s.report.Backups++
	return nil
}
