package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// ClusterConfig says which cluster is made and what is done to it. The zero value of
// a field means its default.
type ClusterConfig struct {
	// Trawl is the binary; required.
	Trawl string
	// Work is an empty directory, or one that is not there, for data directories and
	// repositories; required.
	Work string
	// Authority is the address of an empty database, "" for a PostgreSQL server of ours.
	// One that is there is not stopped: the nodes are cut off from it.
	Authority string
	// Nodes is how many there are; 3. Memory is trawl's setting of that name; 256MiB.
	Nodes  int
	Memory string
	// Repositories is how many are made; 300. Seed draws them, and what is done when.
	Repositories int
	Seed         uint64
	// Changes is how many small changes are timed; 200. Commits is how many commits
	// are; 20. Tokens is how many are revoked; 100. Queries is how many answers are
	// compared; 500.
	Changes, Commits, Tokens, Queries int
	// Away is for how long the database and the objects are away; 10 s.
	Away time.Duration
	// Grace is trawl's setting authority-grace. With one a node takes a revoked token for
	// that long, and the faults that look at tokens are left out.
	Grace time.Duration
	// Faults is how many faults are drawn and happen, in place of all that is timed; 0.
	Faults int
	// Kinds are the names of those that are drawn; all.
	Kinds []string
	// Note, if set, hears how far it is.
	Note func(string)
}

func (c *ClusterConfig) ensureDefaults() error {
	if c.Trawl == "" || c.Work == "" {
		return errors.New("a trawl binary and a work directory are needed")
	}
	for _, field := range []struct {
		value   *int
		usually int
	}{{&c.Nodes, 3}, {&c.Repositories, 300}, {&c.Changes, 200}, {&c.Commits, 20}, {&c.Tokens, 100}, {&c.Queries, 500}} {
		if *field.value == 0 {
			*field.value = field.usually
		}
	}
	c.Memory = cmp.Or(c.Memory, "256MiB")
	c.Away = cmp.Or(c.Away, 10*time.Second)
	if c.Note == nil {
		c.Note = func(string) {}
	}
	if c.Nodes < 2 {
		return errors.New("a cluster has two nodes or more")
	}
	for _, name := range c.Kinds {
		if !slices.Contains(drawnNames, name) {
			return fmt.Errorf("no fault %q is drawn: there are %q", name, drawnNames)
		}
	}
	return nil
}

// clusterRun is one run in progress.
type clusterRun struct {
	ClusterConfig
	rng      *rand.Rand
	fleet    *fleet
	database *clusterDatabase
	objects  *clusterObjects
	nodes    []*clusterNode
	// ended is what is done once the nodes have ended.
	ended []func() error
	// searcher is the token that searches use.
	searcher *accessToken
	// searched are numbers of repositories that have a word of their own.
	searched []int
	history  clusterHistory
	// stock are tokens that all nodes have taken.
	stock []*accessToken
	// perRepository are the bytes of records that a repository has once it is indexed.
	perRepository int64
	report        *ClusterReport

	mu sync.Mutex // guards Problems of report

	committing sync.Mutex // guards commits, and is held while one is made
	// commits counts those that were made.
	commits int
}

// Cluster starts a database and nodes that share it, and measures how soon a change
// is everywhere, and what becomes of searches and changes beside faults. What is lost
// or wrong is among the Problems of the report, and so is the error that ended a run
// early.
func Cluster(ctx context.Context, c ClusterConfig) (_ *ClusterReport, err error) {
	if err := c.ensureDefaults(); err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	r, err := newClusterRun(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	defer func() { err = errors.Join(err, r.close()) }()
	phases := []func(context.Context) error{r.fill, r.changes, r.follow, r.revoke, r.faults, r.compare, r.measureSizes, r.throughput}
	if r.Faults > 0 {
		phases = []func(context.Context) error{r.fill, r.drawnFaults, r.compare}
	}
	for _, phase := range phases {
		err := phase(ctx)
		if ctx.Err() != nil {
			err = context.Cause(ctx) // and not what became of a program that was killed
		}
		if err != nil {
			r.problem("the run ended early: %v", err)
			break
		}
	}
	r.report.Acknowledged, r.report.Unsure = r.history.counts()
	r.report.Checks = r.report.check()
	return r.report, nil
}

func newClusterRun(ctx context.Context, c ClusterConfig) (_ *clusterRun, err error) {
	if c.Work, err = emptyFolder(c.Work); err != nil {
		return nil, err
	}
	if c.Trawl, err = filepath.Abs(c.Trawl); err != nil {
		return nil, err
	}
	r := &clusterRun{
		ClusterConfig: c, rng: rand.New(rand.NewPCG(c.Seed, 7)),
		fleet: newFleet(c.Seed, c.Repositories, filepath.Join(c.Work, "repositories")), history: newClusterHistory(),
		report: &ClusterReport{Version: ReportVersion, Started: time.Now().UTC(), Machine: thisMachine(), Nodes: c.Nodes, Seed: c.Seed, Away: c.Away, Grace: c.Grace},
	}
	r.report.Versions = map[string]string{selfName: (&trawl{binary: c.Trawl}).version(ctx)}
	c.Note(fmt.Sprintf("making %d repositories", c.Repositories))
	if r.report.Fleet, err = r.fleet.write(ctx); err != nil {
		return nil, err
	}
	for i := range c.Repositories {
		if !r.fleet.repository(i).empty {
			r.searched = append(r.searched, i)
		}
	}
	c.Note("starting the database and the nodes")
	if r.database, err = openDatabase(ctx, c.Authority); err != nil {
		return nil, err
	}
	if r.objects, err = openObjects(); err != nil {
		return nil, errors.Join(err, r.database.close())
	}
	if r.database.ours() {
		r.report.Versions["postgres"] = postgresVersion(ctx, r.database)
	}
	for i := range c.Nodes {
		n, err := r.newNode(i + 1)
		if err == nil {
			r.nodes = append(r.nodes, n)
			err = r.start(ctx, n)
		}
		if err != nil {
			return nil, errors.Join(err, r.close())
		}
	}
	return r, nil
}

func (r *clusterRun) close() error {
	var all []error
	for _, n := range r.nodes {
		all = append(all, n.stop())
	}
	for _, remove := range r.ended {
		all = append(all, remove())
	}
	return errors.Join(append(all, r.objects.close(), r.database.close())...)
}

func (r *clusterRun) problem(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Problems = append(r.report.Problems, fmt.Sprintf(format, args...))
}

func (r *clusterRun) problems() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.report.Problems)
}

// fillWithin bounds the first indexing.
const fillWithin = 10 * time.Minute

// fill adds the repositories, through one node after the other, and waits until each
// is searched on all.
func (r *clusterRun) fill(ctx context.Context) error {
	r.Note("adding the repositories")
	start := time.Now()
	if err := r.nodes[0].createUser(ctx, keeper, true); err != nil {
		return err
	}
	var err error
	if r.searcher, err = r.nodes[0].createToken(ctx); err != nil {
		return err
	}
	for i := range r.Repositories {
		one := r.fleet.repository(i)
		if err := r.nodes[i%r.Nodes].call(ctx, "POST", "repositories", nil, map[string]string{"source": one.name + "=" + r.fleet.dirOf(one)}, nil); err != nil {
			return err
		}
	}
	_, err = r.awaitAll(ctx, r.nodes, fillWithin, "all repositories", func(ctx context.Context, n *clusterNode) (bool, error) {
		a, err := n.asker(r.searcher.Secret).search(ctx, "count:all "+everyRepositoryWord, "keyword", nil)
		return err == nil && a.Results >= len(r.searched), ignoreUnavailable(err)
	})
	r.report.Filled = time.Since(start)
	if err != nil {
		return err
	}
	bytes, err := r.database.number(ctx, `SELECT sum(length(key) + length(value)) FROM trawl.record`)
	r.perRepository = bytes / int64(r.Repositories)
	return err
}

// awaitAll polls nodes side by side until each has seen something, and returns how
// long the slowest took. what is for the error of one that does not within a time.
func (r *clusterRun) awaitAll(ctx context.Context, nodes []*clusterNode, within time.Duration, what string, seen func(context.Context, *clusterNode) (bool, error)) (time.Duration, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, within, fmt.Errorf("%s: not seen within %s", what, within))
	defer cancel()
	start := time.Now()
	took, errs := make([]time.Duration, len(nodes)), make([]error, len(nodes))
	var group sync.WaitGroup
	for i, n := range nodes {
		group.Go(func() {
			for {
				ok, err := seen(ctx, n)
				took[i] = time.Since(start)
				if ok && err == nil {
					return
				}
				if ctx.Err() == nil && err == nil && pause(ctx, pollEvery) {
					continue
				}
				if ctx.Err() != nil {
					err = context.Cause(ctx)
				}
				errs[i] = fmt.Errorf("%s: %w", n, err)
				return
			}
		})
	}
	group.Wait()
	var slowest time.Duration
	for _, d := range took {
		slowest = max(slowest, d)
	}
	return slowest, errors.Join(errs...)
}

// pollEvery is the time between two looks for a change.
const pollEvery = 2 * time.Millisecond

// ignoreUnavailable takes an answer of a node that cannot tell for none.
func ignoreUnavailable(err error) error {
	if unavailable(err) {
		return nil
	}
	return err
}

// others are all nodes but one.
func (r *clusterRun) others(but *clusterNode) []*clusterNode {
	var out []*clusterNode
	for _, n := range r.nodes {
		if n != but {
			out = append(out, n)
		}
	}
	return out
}

func (r *clusterRun) anyNode() *clusterNode { return r.nodes[r.rng.IntN(len(r.nodes))] }
