package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/trawlsearch/trawl/internal/tcpproxy"
)

// ClusterFault is a fault, and how the cluster fared beside it.
type ClusterFault struct {
	Name string `json:"name"`
	// Answered counts the searches meanwhile, Refused those that nodes did not answer
	// since they could not tell who may.
	Answered int64 `json:"answered"`
	Refused  int64 `json:"refused"`
	// Ended counts the refusals of tokens that were revoked a second before or earlier.
	Ended int64 `json:"ended"`
	// Took is what is judged: the time until all is well again.
	Took time.Duration `json:"tookNanos"`
	// Note is what else there is to say.
	Note string `json:"note,omitempty"`
}

// The faults.
const (
	faultPaused   = "node paused"
	faultStalled  = "node without the database, silent"
	faultCut      = "node without the database, refused"
	faultKilled   = "node killed"
	faultDatabase = "database away"
	faultObjects  = "objects away"
)

// mostBefore is the longest that a load goes on before its fault.
const mostBefore = time.Second

// faults has all faults happen.
func (r *clusterRun) faults(ctx context.Context) error {
	for _, kind := range []struct {
		name  string
		fault func(context.Context, *clusterLoad, *ClusterFault) error
		// tokens is whether it is about tokens.
		tokens bool
	}{
		{faultPaused, r.paused, true}, {faultStalled, r.stalled, true}, {faultCut, r.cut, true},
		{faultKilled, r.killed, false}, {faultDatabase, r.databaseAway, false}, {faultObjects, r.objectsAway, false},
	} {
		if kind.tokens && r.Grace > 0 {
			continue
		}
		r.Note(kind.name)
		facts := ClusterFault{Name: kind.name}
		load, err := r.load(ctx)
		if err != nil {
			return err
		}
		pause(ctx, time.Duration(r.rng.Int64N(int64(mostBefore))))
		err = kind.fault(ctx, load, &facts)
		load.stop()
		load.count(&facts)
		r.report.Faults = append(r.report.Faults, facts)
		if err == nil {
			err = r.judge(ctx, kind.name)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", kind.name, err)
		}
	}
	return nil
}

const (
	// isolatedFor is for how long a node is without news.
	isolatedFor = 2 * time.Second
	// mostRevoked is for how long a token may be taken that was revoked.
	mostRevoked = time.Second
)

// paused stops a node, revokes a token on another, and has the first go on: it does
// not take the token, since it has heard nothing for too long.
func (r *clusterRun) paused(ctx context.Context, l *clusterLoad, facts *ClusterFault) error {
	n := r.anyNode()
	t, err := r.tokenEverywhere(ctx, n)
	if err != nil {
		return err
	}
	l.setAway(n, true)
	defer l.setAway(n, false)
	if err := n.process.freeze(); err != nil {
		return err
	}
	revoked := r.others(n)[0].revoke(ctx, t)
	r.history.revokedToken(t, revoked)
	// The request waits in the socket of the node.
	took := make(chan error, 1)
	go func() {
		ok, err := n.takes(ctx, t)
		if ok && revoked == nil {
			r.problem("%s took a token when it went on %s after that was revoked", n, isolatedFor)
		}
		took <- err
	}()
	pause(ctx, isolatedFor)
	thawed := n.process.thaw()
	start := time.Now()
	if err := errors.Join(revoked, thawed, <-took); err != nil {
		return err
	}
	return r.goodAgain(ctx, start, facts, n)
}

func (r *clusterRun) stalled(ctx context.Context, l *clusterLoad, facts *ClusterFault) error {
	return r.isolated(ctx, l, facts, func(p *tcpproxy.Proxy) { p.Stall(true) })
}

func (r *clusterRun) cut(ctx context.Context, l *clusterLoad, facts *ClusterFault) error {
	return r.isolated(ctx, l, facts, refuse)
}

// refuse closes all connections, and new ones.
func refuse(p *tcpproxy.Proxy) {
	p.Refuse(true)
	p.Cut()
}

// isolated cuts a node off from the database and revokes a token on another. A change
// that the node is asked for meanwhile waits, or fails.
func (r *clusterRun) isolated(ctx context.Context, l *clusterLoad, facts *ClusterFault, cut func(*tcpproxy.Proxy)) error {
	n := r.anyNode()
	t, err := r.tokenEverywhere(ctx, n)
	if err != nil {
		return err
	}
	l.setTroubled([]*clusterNode{n}, true)
	defer l.setTroubled([]*clusterNode{n}, false)
	cut(n.database)
	defer n.database.Heal()
	if err := r.others(n)[0].revoke(ctx, t); err != nil {
		return err
	}
	r.history.revokedToken(t, nil)
	start := time.Now()
	within, cancel := context.WithTimeout(ctx, isolatedFor)
	defer cancel()
	d, err := r.refused(within, []*clusterNode{n}, t)
	if within.Err() == nil && err != nil {
		return err
	}
	facts.Note = "token refused after " + showDuration(d)
	pause(ctx, isolatedFor-time.Since(start))
	n.database.Heal()
	return r.goodAgain(ctx, time.Now(), facts, n)
}

// goodWithin bounds the wait until nodes answer again.
const goodWithin = time.Minute

// goodAgain notes how long after start all of some nodes answer a search, and make a
// change.
func (r *clusterRun) goodAgain(ctx context.Context, start time.Time, facts *ClusterFault, nodes ...*clusterNode) error {
	_, err := r.awaitAll(ctx, nodes, goodWithin, "an answer and a change", func(ctx context.Context, n *clusterNode) (bool, error) {
		ok, err := n.finds(ctx, r.searcher.Secret, uniqueWord(r.searched[0]))
		if !ok || err != nil {
			return false, err
		}
		name := fmt.Sprintf("good%d-%d", n.number, time.Now().UnixNano())
		err = n.createUser(ctx, name, false)
		r.history.madeUser(name, err)
		return err == nil, nil
	})
	facts.Took = time.Since(start)
	return err
}

const (
	// movedWithin bounds the wait until the work of a node is that of others.
	movedWithin = time.Minute
	// dividedEvery is the time between two looks at who does what.
	dividedEvery = 50 * time.Millisecond
)

// killed kills a node, waits until its work is that of the others, and starts it
// again.
func (r *clusterRun) killed(ctx context.Context, l *clusterLoad, facts *ClusterFault) error {
	n := r.anyNode()
	l.setAway(n, true)
	start := time.Now()
	if err := n.process.kill(); err != nil {
		return err
	}
	if err := r.awaitDivided(ctx, r.others(n)[0], r.Nodes-1); err != nil {
		return err
	}
	facts.Took = time.Since(start)
	start = time.Now()
	if err := r.start(ctx, n); err != nil {
		return err
	}
	facts.Note = "ready again after " + showDuration(time.Since(start))
	l.setAway(n, false)
	return r.awaitDivided(ctx, n, r.Nodes)
}

// awaitDivided waits until a node says that the work is that of so many.
func (r *clusterRun) awaitDivided(ctx context.Context, n *clusterNode, nodes int) error {
	ctx, cancel := context.WithTimeoutCause(ctx, movedWithin, fmt.Errorf("the work is not that of %d nodes within %s", nodes, movedWithin))
	defer cancel()
	for {
		s, err := n.status(ctx)
		if err == nil && s.divided(nodes) {
			return nil
		}
		if !pause(ctx, dividedEvery) {
			return errors.Join(context.Cause(ctx), err)
		}
	}
}

// databaseAway stops the database for a while, or cuts all nodes off from one that is
// not ours.
func (r *clusterRun) databaseAway(ctx context.Context, l *clusterLoad, facts *ClusterFault) error {
	l.setTroubled(r.nodes, true)
	defer l.setTroubled(r.nodes, false)
	if err := r.stopDatabase((*clusterDatabase).stop); err != nil {
		return err
	}
	pause(ctx, r.Away)
	if err := r.startDatabase(ctx); err != nil {
		return err
	}
	return r.goodAgain(ctx, time.Now(), facts, r.nodes...)
}

func (r *clusterRun) stopDatabase(stop func(*clusterDatabase) error) error {
	if r.database.ours() {
		return stop(r.database)
	}
	for _, n := range r.nodes {
		refuse(n.database)
	}
	return nil
}

func (r *clusterRun) startDatabase(ctx context.Context) error {
	if r.database.ours() {
		return r.database.start(ctx)
	}
	for _, n := range r.nodes {
		n.database.Heal()
	}
	return nil
}

// syncAgain is the time between two attempts to sync.
const syncAgain = 50 * time.Millisecond

// objectsAway takes the bucket away that nodes share. What is committed meanwhile is
// found afterwards.
func (r *clusterRun) objectsAway(ctx context.Context, l *clusterLoad, facts *ClusterFault) error {
	for _, n := range r.nodes {
		refuse(n.objects)
	}
	name, word, err := r.addCommit(ctx, r.rng)
	if err != nil {
		return err
	}
	n := r.anyNode()
	within, cancel := context.WithTimeout(ctx, r.Away)
	defer cancel()
	start := time.Now()
	err = n.sync(within, name)
	switch {
	case err == nil:
		r.problem("%s says that it has synced %s without the objects", n, name)
	case within.Err() != nil: // a request is made again some times first
		facts.Note = "a sync still tries after " + showDuration(r.Away)
	default:
		facts.Note = "a sync says so after " + showDuration(time.Since(start))
	}
	pause(ctx, r.Away-time.Since(start))
	for _, n := range r.nodes {
		n.objects.Heal()
	}
	start = time.Now()
	for err := n.sync(ctx, name); err != nil; err = n.sync(ctx, name) {
		if time.Since(start) > goodWithin || !pause(ctx, syncAgain) {
			return err
		}
	}
	r.history.found(word, nil)
	_, err = r.awaitAll(ctx, r.nodes, seenWithin, word, func(ctx context.Context, n *clusterNode) (bool, error) {
		return n.finds(ctx, r.searcher.Secret, word)
	})
	facts.Took = time.Since(start)
	return err
}
