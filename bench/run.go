package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// Config says what to measure. The zero value of a field means its default.
type Config struct {
	// Trawl is the binary under test; required.
	Trawl string
	// Corpus is a directory to search: a git repository, bare or not, or a
	// plain directory. It is only read; required.
	Corpus string
	// Queries default to the kernel set.
	Queries []Query
	// Work is a directory that is kept, with trawl's data in "data" and the
	// repository it indexes in "source". Empty is a temporary one.
	Work string
	// Reuse takes the data of an earlier run in Work instead of indexing.
	Reuse bool
	// Peers are the tools to compare with, "rg", "git-grep", "zoekt" and
	// "csearch"; nil is all whose programs are on PATH, and an empty list none.
	Peers []string
	// Runs is how often each query is timed after a run that is not; 7.
	Runs int
	// PeerBudget ends the runs of a peer once they took this long in all for
	// one query, so that a slow peer does not set the length of the run; 10 s.
	PeerBudget time.Duration
	// Token is sent as the access token, if the server wants one.
	Token string
	// ServeArgs are added to the command line of trawl serve.
	ServeArgs []string
	// Cold is how often tools are asked with nothing in memory; 0 is never.
	Cold int
	// ColdFilesOnly empties memory of the files that a tool reads and of no
	// others, even where the whole page cache could be dropped: for machines
	// that do other work too.
	ColdFilesOnly bool
	// Clients are numbers of clients to serve at once, each for ClientsFor,
	// which is 10 s unless set.
	Clients    []int
	ClientsFor time.Duration
	// Memory are values of trawl's setting of that name to try.
	Memory []string
	// Rest is how long a server is left alone before it counts as idle; 5 s.
	Rest time.Duration
	// Growth are sizes to try, as multiples of the corpus: fractions or whole
	// numbers.
	Growth []float64
	// Progress is called with each step, if set.
	Progress func(message string)
}

func (c *Config) ensureDefaults() error {
	if c.Trawl == "" || c.Corpus == "" {
		return errors.New("a trawl binary and a corpus are needed")
	}
	if c.Reuse && c.Work == "" {
		return errors.New("reuse needs a work directory with the data of an earlier run")
	}
	if c.Queries == nil {
		kernel, err := QuerySet("kernel")
		if err != nil {
			return err
		}
		c.Queries = kernel
	}
	c.Runs = cmp.Or(c.Runs, 7)
	c.PeerBudget = cmp.Or(c.PeerBudget, 10*time.Second)
	c.ClientsFor = cmp.Or(c.ClientsFor, 10*time.Second)
	c.Rest = cmp.Or(c.Rest, 5*time.Second)
	if c.Progress == nil {
		c.Progress = func(string) {}
	}
	return nil
}

// runner is one run in progress.
type runner struct {
	Config
	trawl   trawl
	peers   []peer
	source  *source
	scratch string
	// work is Config.Work, or a directory below scratch.
	work   string
	report *Report
	// symbols says that definitions are read too.
	symbols bool
}

// Run measures trawl as c says. The report is nil when the run could not be
// finished; disagreements between tools are not errors but its Problems.
func Run(ctx context.Context, c Config) (_ *Report, err error) {
	if err := c.ensureDefaults(); err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	r := &runner{Config: c, report: &Report{Version: ReportVersion, Started: time.Now().UTC(), Machine: thisMachine()}}
	if r.peers, err = findPeers(c.Peers); err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	if r.scratch, err = os.MkdirTemp("", "trawl-bench-"); err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(r.scratch)) }()
	if err := r.phases(ctx); err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	r.report.Checks = r.report.checkRun()
	return r.report, nil
}

func (r *runner) phases(ctx context.Context) error {
	for _, phase := range []func(context.Context) error{
		r.prepare, r.index, r.indexPeers, r.learnSkipped, r.queries, r.cold, r.clients, r.memory, r.growth, r.resync,
	} {
		if err := phase(ctx); err != nil {
			return err
		}
	}
	return nil
}

// prepare lays out the directories and the corpus.
func (r *runner) prepare(ctx context.Context) error {
	work := r.Work
	if work == "" {
		work = filepath.Join(r.scratch, "work")
	}
	// trawl is run from here, but may be started from elsewhere one day.
	work, err := filepath.Abs(work)
	if err != nil {
		return err
	}
	r.work = work
	r.trawl = trawl{
		binary: r.Config.Trawl, data: filepath.Join(work, "data"), token: r.Token, serveArgs: r.ServeArgs, symbols: r.symbols,
	}
	if had := exists(r.trawl.data); had != r.Reuse {
		if had {
			return fmt.Errorf("%s holds data of an earlier run; reuse it or remove it", work)
		}
		return fmt.Errorf("%s holds no data to reuse", work)
	}
	if err := os.MkdirAll(filepath.Join(work, "source"), 0o755); err != nil {
		return err
	}
	r.Progress("reading corpus " + r.Corpus)
	if r.source, err = openSource(ctx, r.Corpus, r.scratch, filepath.Join(work, "source")); err != nil {
		return err
	}
	r.report.Corpus = describe(r.source)
	r.report.Corpus.Path = r.Corpus
	r.report.Versions = map[string]string{
		"trawl": r.trawl.version(ctx), "git": firstLine(exec.CommandContext(ctx, "git", "--version")),
	}
	for _, p := range r.peers {
		r.report.tool(p.name())
		if v := p.version(ctx); p.programs()[0] != "git" && v != unknownVersion {
			r.report.Versions[p.name()] = v
		}
	}
	return nil
}

func describe(s *source) CorpusFacts {
	c := CorpusFacts{Commit: s.commit, Files: len(s.files)}
	for _, f := range s.files {
		c.Bytes += f.bytes
		switch f.class {
		case text:
			c.Text++
			c.TextBytes += f.bytes
		case wideText:
			c.Wide++
		case binary:
			c.Binary++
		case irregular:
			c.Irregular++
		}
	}
	return c
}

func (r *runner) index(ctx context.Context) error {
	if r.Reuse {
		return nil
	}
	r.Progress("indexing " + r.source.clone)
	u, err := r.trawl.index(ctx, r.source.clone)
	if err != nil {
		return err
	}
	facts := &IndexFacts{Usage: u}
	facts.DiskBytes, facts.DiskParts, err = diskUse(r.trawl.data)
	r.report.Index = facts
	return err
}

// indexPeers has the peers make their indexes, unless an earlier run did.
func (r *runner) indexPeers(ctx context.Context) error {
	for _, p := range r.peers {
		at := r.placeOf(p)
		if _, reads := p.(grepPeer); reads || exists(at.dir) {
			continue
		}
		r.Progress("indexing with " + p.name())
		facts, err := p.index(ctx, at)
		if err != nil {
			return fmt.Errorf("index with %s: %w", p.name(), errors.Join(err, os.RemoveAll(at.dir)))
		}
		r.report.tool(p.name()).Index = facts
	}
	return nil
}

// resync measures changes last, when no query is asked of the corpus any more,
// and has a server confirm that they arrived.
func (r *runner) resync(ctx context.Context) (err error) {
	if r.Reuse {
		return nil
	}
	r.Progress("indexing changes")
	if r.report.Resync, err = resync(ctx, &r.trawl, r.source, r.scratch); err != nil {
		return err
	}
	return r.serving(ctx, func(s *server) error {
		got := newFound()
		if _, err := s.search(ctx, "count:all type:file "+resyncMarker, "keyword", got.add); err != nil {
			return err
		}
		got.content.Sort()
		if n, want := got.content.Len(), resyncRounds*resyncFiles; n != want {
			r.problem("after resync %d changed lines are found, want %d", n, want)
		}
		return nil
	})
}

// serving runs f with a server and stops the server whatever f says.
func (r *runner) serving(ctx context.Context, f func(*server) error) (err error) {
	s, err := r.trawl.serve(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	return f(s)
}

func (r *runner) problem(format string, args ...any) {
	r.report.Problems = append(r.report.Problems, fmt.Sprintf(format, args...))
}
