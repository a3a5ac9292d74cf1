package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/internal/tcpproxy"
)

// SoakConfig is a run that does everything again and again.
type SoakConfig struct {
	// Trawl is the binary, Work a directory that is empty or not there.
	Trawl, Work string
	// For is how long it goes on; the round at hand is finished.
	For time.Duration
	// Rounds, if not 0, ends it after so many.
	Rounds int
	Seed   uint64
	// Share is the part of the time in which something is asked of the server;
	// 0 is all of it. Less leaves the machine to others.
	Share float64
	// Note, if set, hears how far it is.
	Note func(string)
}

// SoakReport is what came out.
type SoakReport struct {
	Seed   uint64 `json:"seed"`
	Rounds int    `json:"rounds"`
	Lives  int    `json:"lives"`
	// Done counts operations by kind.
	Done    map[string]int `json:"done"`
	Samples []SoakSample   `json:"samples"`
	Trends  []SoakTrend    `json:"trends"`
	// Wrong is what failed or was answered wrongly.
	Wrong []string `json:"wrong,omitempty"`
}

// OK reports whether every answer was right and nothing grew.
func (r *SoakReport) OK() bool {
	return len(r.Wrong) == 0 && !slices.ContainsFunc(r.Trends, func(t SoakTrend) bool { return t.Grows })
}

// Write prints the report for people.
func (r *SoakReport) Write(w io.Writer) error {
	fmt.Fprintf(w, "%d rounds on %d servers; seed %d\n", r.Rounds, r.Lives, r.Seed)
	var done []string
	for what, n := range r.Done {
		done = append(done, fmt.Sprintf("%d %s", n, what))
	}
	slices.Sort(done)
	fmt.Fprintln(w, strings.Join(done, ", "))
	for _, t := range r.Trends {
		verdict := "ok   "
		if t.Grows {
			verdict = "GROWS"
		}
		fmt.Fprintf(w, "%s  %s\n", verdict, t)
	}
	for _, wrong := range r.Wrong {
		fmt.Fprintln(w, "WRONG", wrong)
	}
	verdict := "every answer was right, and nothing grew"
	if !r.OK() {
		verdict = "not ok"
	}
	_, err := fmt.Fprintln(w, verdict)
	return err
}

// soaker is one run.
type soaker struct {
	SoakConfig
	report  *SoakReport
	world   *soakWorld
	rng     *rand.Rand
	data    string
	backups string

	life     int
	server   *process
	client   *operatorClient
	debug    http.Client
	debugURL string
	token    string
}

// roundsPerLife is after how many rounds a server is replaced by the next.
const roundsPerLife = 8

// Soak does in each round what a server meets in a year: repositories come,
// change and go, people search, tokens are made and end, backups are taken,
// verified, restored and pruned. Each answer is compared with a scan of the text.
// Every few rounds the server is stopped or killed and started again. A round ends
// with the repositories as they were when it began, and with a look at what the
// server and its data take, which is to be what it was, too.
func Soak(ctx context.Context, c SoakConfig) (*SoakReport, error) {
	if c.Note == nil {
		c.Note = func(string) {}
	}
	s := &soaker{
		SoakConfig: c, report: &SoakReport{Seed: c.Seed, Done: map[string]int{}}, rng: rand.New(rand.NewPCG(c.Seed, 0)),
		data: filepath.Join(c.Work, "data"), backups: filepath.Join(c.Work, "backups"),
		world: &soakWorld{dir: filepath.Join(c.Work, "repositories"), rng: rand.New(rand.NewPCG(c.Seed, 1))},
	}
	if err := os.MkdirAll(s.world.dir, 0o755); err != nil {
		return nil, err
	}
	end := time.Now().Add(c.For)
	err := s.begin(ctx)
	for err == nil && len(s.report.Wrong) == 0 && (time.Now().Before(end) || s.report.Rounds == 0) && (c.Rounds == 0 || s.report.Rounds < c.Rounds) {
		err = s.round(ctx)
		s.report.Rounds++
		c.Note(fmt.Sprintf("round %d is over, %s left", s.report.Rounds, time.Until(end).Round(time.Second)))
	}
	if s.server != nil {
		err = errors.Join(err, s.server.stop())
	}
	s.report.Lives, s.report.Trends = s.life, soakTrends(s.report.Samples)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		s.report.Wrong = append(s.report.Wrong, fmt.Sprintf("round %d: %v", s.report.Rounds, err))
	}
	return s.report, nil
}

// start starts a server.
func (s *soaker) start(ctx context.Context) error {
	addr, err := tcpproxy.FreeAddress()
	if err != nil {
		return err
	}
	debug, err := tcpproxy.FreeAddress()
	if err != nil {
		return err
	}
	cmd := exec.Command(s.Trawl, "serve", "--data", s.data, "--listen", addr, "--debug-listen", debug, "--memory", "256MiB",
		"--sync-interval", "1h", "--min-free-bytes", "0", "--log-level", "error")
	cmd.Dir, cmd.Env = s.Work, cleanEnv()
	s.client, s.debugURL, s.debug = &operatorClient{client: newClient(), base: "http://" + addr}, "http://"+debug, newClient()
	s.debug.Transport.(*http.Transport).DisableKeepAlives = true // it would be counted
	s.server, err = startProcess(ctx, "trawl serve", cmd, func(ctx context.Context) bool {
		return answersOK(ctx, &s.client.client, s.client.base+"/readyz")
	})
	if err != nil {
		return err
	}
	s.life++
	s.client.operator, err = operatorOf(s.data)
	return err
}

// begin starts the first server with the repositories that stay.
func (s *soaker) begin(ctx context.Context) error {
	if err := s.start(ctx); err != nil {
		return err
	}
	if err := s.client.call(ctx, http.MethodPost, "users", nil, map[string]any{"name": keeper, "siteAdmin": true}, nil); err != nil {
		return err
	}
	var t accessToken
	err := s.client.call(ctx, http.MethodPost, "tokens", nil, map[string]any{"user": keeper, "scopes": []string{"user:all"}}, &t)
	if err != nil {
		return err
	}
	s.token = t.Secret
	for range soakRepos {
		if err := s.addRepository(ctx, true); err != nil {
			return err
		}
	}
	return nil
}
