package bench

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/trawlsearch/trawl/internal/hosttest"
	"github.com/trawlsearch/trawl/internal/tcpproxy"
)

// CodeHostConfig says how many repositories a code host has and what is pushed to them.
// The zero value of a field means its default.
type CodeHostConfig struct {
	// Trawl is the binary; required.
	Trawl string
	// Work is an empty directory, or one that is not there, for repositories and the data
	// directory; required.
	Work string
	// Repositories is how many; 3000. Seed draws them.
	Repositories int
	Seed         uint64
	// Memory is trawl's setting of that name; 512MiB.
	Memory string
	// Symbols has definitions read.
	Symbols bool
	// Pushes is how many commits are pushed when all is searchable; 100. As many at most
	// are pushed before, to repositories that are.
	Pushes int
	// Every is the time between two pushes; 1.2 s.
	Every time.Duration
	// Requests is how many requests the host allows until Window is over; 20 in 20 s if
	// Requests is 0.
	Requests int
	Window   time.Duration
	// Note, if set, hears how far it is.
	Note func(string)
}

func (c *CodeHostConfig) ensureDefaults() (err error) {
	if c.Trawl == "" || c.Work == "" {
		return errors.New("a trawl binary and a work directory are needed")
	}
	c.Repositories = cmp.Or(c.Repositories, 3000)
	c.Memory = cmp.Or(c.Memory, "512MiB")
	c.Pushes = cmp.Or(c.Pushes, 100)
	c.Every = cmp.Or(c.Every, 1200*time.Millisecond)
	if c.Requests == 0 {
		c.Requests, c.Window = 20, 20*time.Second
	}
	if c.Note == nil {
		c.Note = func(string) {}
	}
	c.Work, err = emptyFolder(c.Work)
	return err
}

const (
	// hostOwner owns all repositories of the host.
	hostOwner = "many"
	// hostToken lets in at the host, hostSecret signs its webhooks.
	hostToken, hostSecret = "bench-token-of-the-host", "bench-secret-of-the-hooks"
)

// codeHostRun is one run in progress.
type codeHostRun struct {
	CodeHostConfig
	fleet  *fleet
	host   *hosttest.Server
	server *server
	// metrics is the address of the server's metrics.
	metrics string
	// pushed is how many commits were pushed.
	pushed int
	rng    *rand.Rand
	report *CodeHostReport
}

// CodeHost has a server find the repositories of a code host that keeps limits, and then
// commits by the host's webhooks, and tells how long each took to be found.
func CodeHost(ctx context.Context, c CodeHostConfig) (_ *CodeHostReport, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("host: %w", err)
		}
	}()
	if err := c.ensureDefaults(); err != nil {
		return nil, err
	}
	setting, err := parseSize(c.Memory)
	if err != nil {
		return nil, err
	}
	t := trawl{
		binary: c.Trawl, memory: c.Memory, symbols: c.Symbols, history: true,
		config: filepath.Join(c.Work, "trawl.yaml"), data: filepath.Join(c.Work, "data"),
	}
	r := &codeHostRun{
		CodeHostConfig: c, fleet: newFleet(c.Seed, c.Repositories, filepath.Join(c.Work, "repositories")), host: hosttest.Start(hosttest.GitHub, hostToken),
		rng: rand.New(rand.NewPCG(c.Seed, 1)),
		report: &CodeHostReport{
			Version: ReportVersion, Started: time.Now().UTC(), Machine: thisMachine(), Trawl: t.version(ctx), Memory: c.Memory, SettingBytes: setting, Every: c.Every,
		},
	}
	defer r.host.Close()
	if err := r.generate(ctx); err != nil {
		return nil, err
	}
	if err := os.WriteFile(t.config, r.config(), 0o600); err != nil {
		return nil, err
	}
	debug, err := tcpproxy.FreeAddress()
	if err != nil {
		return nil, err
	}
	t.serveArgs = []string{"--debug-listen", debug, "--log-level", "warn"}
	r.metrics = "http://" + debug + "/metrics"
	r.host.Limit(c.Requests, time.Now().Add(c.Window))
	start := time.Now()
	if r.server, err = t.serve(ctx); err != nil {
		return nil, err
	}
	watch := watchTree(r.server.cmd.Process.Pid)
	err = errors.Join(r.first(ctx, start), r.rest(ctx))
	peaks := watch.stop()
	r.report.PeakBytes, r.report.TreeBytes = peaks.own, peaks.total
	if err := errors.Join(err, r.server.stop()); err != nil {
		return nil, err
	}
	r.report.Log = r.server.stderr.String()
	r.report.Requests, r.report.Refused = r.host.Asked(0), r.host.Asked(http.StatusForbidden)+r.host.Asked(http.StatusTooManyRequests)
	r.report.Checks = r.report.check()
	return r.report, nil
}

// generate makes the repositories and puts them on the host.
func (r *codeHostRun) generate(ctx context.Context) (err error) {
	r.Note(fmt.Sprintf("making %d repositories", r.Repositories))
	if r.report.Fleet, err = r.fleet.write(ctx); err != nil {
		return err
	}
	for i := range r.Repositories {
		repo := r.fleet.repository(i)
		r.host.Put(hosttest.Repo{ID: int64(i + 1), FullName: r.path(i), Dir: r.fleet.dirOf(repo), Private: i%3 == 0})
	}
	return nil
}

// path is what the host calls a repository.
func (r *codeHostRun) path(i int) string {
	return hostOwner + "/" + path.Base(r.fleet.repository(i).name)
}

// config is the whole configuration file.
func (r *codeHostRun) config() []byte {
	return fmt.Appendf(nil, `allow-local-sources: true
code-hosts:
  - name: host
    kind: github
    url: %s
    token: %s
    orgs: [%s]
    webhook-secret: %s
`, r.host.URL, hostToken, hostOwner, hostSecret)
}

// first waits until all repositories are searchable, and pushes to those that are meanwhile.
func (r *codeHostRun) first(ctx context.Context, start time.Time) error {
	r.Note("indexing, with pushes beside it")
	ctx, cancel := context.WithTimeoutCause(ctx, bulkWithin, errors.New("the repositories are not indexed in time"))
	defer cancel()
	var took []time.Duration
	for {
		values, err := scrape(ctx, &r.server.client, r.metrics)
		if err != nil {
			return err
		}
		if values["trawl_repositories_indexed"] >= float64(r.Repositories-r.report.Fleet.Empty) {
			break
		}
		lag, err := r.pushToSearchable(ctx, values["trawl_repositories_indexed"] > 0 && len(took) < r.Pushes)
		if err != nil {
			return err
		}
		if lag > 0 {
			took = append(took, lag)
		}
		if !pause(ctx, r.Every) {
			return context.Cause(ctx)
		}
	}
	r.report.All, r.report.Beside = time.Since(start), percentiles(took)
	return nil
}

// triedForOne is how many repositories are looked at for one that is searchable.
const triedForOne = 8

// pushToSearchable pushes to a repository that is searchable, if it is wanted and some of
// them are; if none is, it returns 0.
func (r *codeHostRun) pushToSearchable(ctx context.Context, wanted bool) (time.Duration, error) {
	for range triedForOne {
		i := r.fleet.forked(r.rng.IntN(r.Repositories))
		if !wanted {
			break
		}
		a, err := r.server.search(ctx, uniqueWord(i), "keyword", nil)
		if err != nil {
			return 0, err
		}
		if a.Results > 0 {
			return r.push(ctx, i)
		}
	}
	return 0, nil
}

// rest pushes when all is searchable.
func (r *codeHostRun) rest(ctx context.Context) error {
	r.Note("pushing")
	var took []time.Duration
	for range r.Pushes {
		lag, err := r.push(ctx, r.fleet.forked(r.rng.IntN(r.Repositories)))
		if err != nil {
			return err
		}
		took = append(took, lag)
		if !pause(ctx, r.Every) {
			return context.Cause(ctx)
		}
	}
	r.report.After = percentiles(took)
	return nil
}

// push adds a commit to a repository, has the host tell of it, and returns how long it took
// from then on until a search found it.
func (r *codeHostRun) push(ctx context.Context, i int) (time.Duration, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, foundWithin, fmt.Errorf("a push to %s is not found within %s", r.path(i), foundWithin))
	defer cancel()
	word := addedWord(r.pushed)
	if err := r.fleet.addCommit(ctx, r.fleet.repository(i), r.pushed); err != nil {
		return 0, err
	}
	r.pushed++
	start := time.Now()
	if err := r.hook(ctx, int64(i+1)); err != nil {
		return 0, err
	}
	for {
		a, err := r.server.search(ctx, word, "keyword", nil)
		if err != nil {
			return 0, err
		}
		if a.Results > 0 {
			return time.Since(start), nil
		}
		if !pause(ctx, 10*time.Millisecond) {
			return 0, context.Cause(ctx)
		}
	}
}

// hook tells the server of a push, as the host does.
func (r *codeHostRun) hook(ctx context.Context, id int64) error {
	body, err := json.Marshal(map[string]any{"ref": "refs/heads/main", "repository": map[string]any{"id": id}, "n": r.pushed})
	if err != nil {
		return err
	}
	mac := hmac.New(sha256.New, []byte(hostSecret))
	mac.Write(body)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.server.base+"/.api/webhooks/1", bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-GitHub-Event", "push")
	req.Header.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	resp, err := r.server.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		said, _ := io.ReadAll(io.LimitReader(resp.Body, tailBytes)) // without it the status has to do
		return fmt.Errorf("the webhook was answered %s: %s", resp.Status, said)
	}
	return nil
}
