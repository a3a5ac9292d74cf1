package bench

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/trawlsearch/trawl/internal/tcpproxy"
)

// manyServer is a running trawl serve and how its operator sees it.
type manyServer struct {
	*server
	operator *operatorClient
	// metrics is the address of the server's metrics.
	metrics string
}

// startServer starts trawl serve on a data directory. It does not look at
// unchanged sources again by itself.
func (m *manyRun) startServer(ctx context.Context, data string) (*manyServer, error) {
	debug, err := tcpproxy.FreeAddress()
	if err != nil {
		return nil, err
	}
	t := m.trawl
	t.data = data
	t.serveArgs = []string{"--sync-interval", "24h", "--debug-listen", debug, "--log-level", "error"}
	s, err := t.serve(ctx)
	if err != nil {
		return nil, err
	}
	secret, err := operatorOf(t.data)
	if err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return &manyServer{
		server:   s,
		operator: &operatorClient{client: newClient(), base: s.base, operator: secret},
		metrics:  "http://" + debug + "/metrics",
	}, nil
}

// stop ends the connections and the server.
func (s *manyServer) stop() error {
	s.operator.client.CloseIdleConnections()
	return s.server.stop()
}

// serve measures a server from an empty data directory on, and then the next
// server on the same data.
func (m *manyRun) serve(ctx context.Context) error {
	m.Note("indexing by a server that is asked meanwhile")
	s, err := m.startServer(ctx, m.serveDir())
	if err != nil {
		return err
	}
	if err := errors.Join(m.serving(ctx, s), s.stop()); err != nil {
		return err
	}
	return m.restart(ctx)
}

// serving measures a running server.
func (m *manyRun) serving(ctx context.Context, s *manyServer) error {
	for _, phase := range []func(context.Context, *manyServer) error{m.bulk, m.queries, m.asOperator, m.typing, m.commits} {
		if err := phase(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

const (
	// probeEvery is the time between two searches while repositories are indexed.
	probeEvery = 250 * time.Millisecond
	// scrapeEvery is the time between two looks at how far the server is, which
	// costs it something for each repository.
	scrapeEvery = time.Second
	// bulkWithin bounds the first indexing.
	bulkWithin = 3 * time.Hour
)

// bulk asks for the absent word until all repositories are indexed.
func (m *manyRun) bulk(ctx context.Context, s *manyServer) error {
	ctx, cancel := context.WithTimeoutCause(ctx, bulkWithin, errors.New("the repositories are not indexed in time"))
	defer cancel()
	watch := watchTree(s.cmd.Process.Pid)
	facts := &m.report.Bulk
	start := time.Now()
	var took []time.Duration
	defer func() {
		facts.Absent = percentiles(took)
		facts.addPeaks(watch.stop())
	}()
	for scraped := time.Duration(0); ; {
		a, err := s.search(ctx, absentWord, "keyword", nil)
		if err != nil {
			return err
		}
		took = append(took, a.Done)
		if a.Results != 0 {
			m.problem("while repositories are indexed, %d matches of a word that is nowhere", a.Results)
		}
		if now := time.Since(start); scraped == 0 || now-scraped >= min(scrapeEvery, now/20) {
			scraped = now
			done, err := m.indexed(ctx, s)
			if err != nil {
				return err
			}
			if done {
				facts.Took = time.Since(start)
				return nil
			}
		}
		if !pause(ctx, min(probeEvery, max(time.Since(start)/20, 2*time.Millisecond))) {
			return context.Cause(ctx)
		}
	}
}

// indexed reports whether all repositories with a commit are indexed and none is
// being looked at.
func (m *manyRun) indexed(ctx context.Context, s *manyServer) (bool, error) {
	values, err := scrape(ctx, &s.operator.client, s.metrics)
	if err != nil {
		return false, err
	}
	m.report.Bulk.MostShards = max(m.report.Bulk.MostShards, int(values["trawl_index_shards"]))
	want := float64(m.Repositories - m.report.Fleet.Empty)
	return values["trawl_repositories"] >= float64(m.Repositories) && values["trawl_repositories_indexed"] >= want &&
		values["trawl_sync_queue"] == 0 && values["trawl_sync_running"] == 0, nil
}

const (
	// idleShare is the part of a processor that an idle server may take.
	idleShare = 0.05
	// idleWithin bounds the wait for it.
	idleWithin = 10 * time.Minute
	// ticksPerSecond is the unit of cpuTicks.
	ticksPerSecond = 100
)

// awaitIdle waits until the server has done its work in the background and
// returns how long that took. It takes two quiet spans in a row for that: a server
// that has no turn on a busy machine is quiet, too.
func (m *manyRun) awaitIdle(ctx context.Context, s *process) (time.Duration, error) {
	most := int64(idleShare * ticksPerSecond * m.Idle.Seconds())
	start := time.Now()
	for quiet, since := 0, time.Duration(0); time.Since(start) < idleWithin; {
		before := cpuTicks(s.cmd.Process.Pid)
		if quiet == 0 {
			since = time.Since(start)
		}
		if !pause(ctx, m.Idle) {
			return 0, context.Cause(ctx)
		}
		if quiet++; cpuTicks(s.cmd.Process.Pid)-before > most {
			quiet = 0
		}
		if quiet == 2 {
			return since, nil
		}
	}
	return 0, fmt.Errorf("%s is still busy %s after the last repository", s.name, idleWithin)
}

// restart measures how soon the next server answers.
func (m *manyRun) restart(ctx context.Context) (err error) {
	m.Note("starting again")
	s, err := m.startServer(ctx, m.serveDir())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	m.report.Restart.Ready = s.ready
	for _, q := range m.questions() {
		a, err := s.answer(ctx, q)
		if err != nil {
			return err
		}
		if q.name == rareQuestion {
			m.report.Restart.First = a.Done
		}
		if a.Results != q.want {
			m.problem("after a restart, %s: %d matches, want %d", q.text, a.Results, q.want)
		}
	}
	return nil
}

// serveDir is the data directory of the server.
func (m *manyRun) serveDir() string { return filepath.Join(m.Work, "serve") }
