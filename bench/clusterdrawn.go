package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/trawlsearch/trawl/internal/tcpproxy"
)

// drawnFault is a fault that begins, goes on beside other things, and ends.
type drawnFault struct {
	name string
	// nodes are those whose searches may fail meanwhile.
	nodes []*clusterNode
	// process is whether it is one of the process of a node, server whether it is one of
	// the database itself.
	process, server bool
	begin, end      func(context.Context) error
}

const (
	// mostFault is the longest that a drawn fault lasts. Half of them are short: a node
	// hears of nothing for less than a second.
	mostFault  = 3 * time.Second
	shortFault = 700 * time.Millisecond
	// twoAtOnce is of how many faults one has another beside it.
	twoAtOnce = 4
	// secondFault is between the names of two.
	secondFault = " + "
)

// drawnFaults has faults happen that are drawn from the seed, now and then two at once,
// and judges all nodes behind each. It ends at the first problem.
func (r *clusterRun) drawnFaults(ctx context.Context) error {
	r.report.Drawn = true
	for i := range r.Faults {
		load, err := r.load(ctx)
		if err != nil {
			return err
		}
		faults := []drawnFault{r.draw(load)}
		if r.rng.IntN(twoAtOnce) == 0 {
			if second := r.draw(load); !faults[0].bars(second) {
				faults = append(faults, second)
			}
		}
		facts := ClusterFault{Name: faults[0].name}
		if len(faults) > 1 {
			facts.Name += secondFault + faults[1].name
		}
		r.Note(fmt.Sprintf("fault %d of %d: %s of %v", i+1, r.Faults, facts.Name, faults[0].nodes))
		err = r.happen(ctx, load, faults, &facts)
		load.stop()
		load.count(&facts)
		r.report.Faults = append(r.report.Faults, facts)
		if err == nil {
			err = r.judge(ctx, facts.Name)
		}
		if err == nil && r.problems() > 0 {
			err = errors.New("more faults would hide what is wrong")
		}
		if err != nil {
			return fmt.Errorf("fault %d, %s: %w", i+1, facts.Name, err)
		}
	}
	return nil
}

// bars reports whether two faults cannot be at once.
func (f drawnFault) bars(g drawnFault) bool {
	return f.name == g.name || f.server && g.server || f.process && g.process && f.nodes[0] == g.nodes[0]
}

// happen has faults begin, last and end, and waits until all nodes are well.
func (r *clusterRun) happen(ctx context.Context, l *clusterLoad, faults []drawnFault, facts *ClusterFault) error {
	for _, f := range faults {
		pause(ctx, time.Duration(r.rng.Int64N(int64(mostBefore)/2)))
		l.setTroubled(f.nodes, true)
		defer l.setTroubled(f.nodes, false)
		if err := f.begin(ctx); err != nil {
			return err
		}
	}
	most := mostFault
	if r.rng.IntN(2) == 0 {
		most = shortFault
	}
	pause(ctx, time.Duration(r.rng.Int64N(int64(most))))
	// A node that was killed gets ready once nothing else is wrong.
	for _, process := range []bool{false, true} {
		for _, f := range faults {
			if f.process == process {
				if err := f.end(ctx); err != nil {
					return err
				}
			}
		}
	}
	return r.goodAgain(ctx, time.Now(), facts, r.nodes...)
}

// The faults that are drawn, beside those above.
const (
	faultSlow       = "slow network to the database"
	faultBroken     = "connections to the database break"
	faultCrashed    = "database crashed"
	faultStopped    = "database stopped"
	faultConflicts  = "transactions rolled back (40001)"
	faultErrors     = "objects: requests fail"
	faultNoObjects  = "objects: no connections"
	faultSilent     = "objects: silent network"
	faultSlowFetch  = "objects: slow network"
	pieces          = 8 << 10
	mostDelay       = 150 * time.Millisecond
	failingRequests = 60
)

// drawnNames are those of all faults that are drawn.
var drawnNames = []string{
	faultKilled, faultPaused, faultStalled, faultBroken, faultCut, faultSlow, faultStopped, faultCrashed, faultConflicts,
	faultErrors, faultNoObjects, faultSilent, faultSlowFetch,
}

// draw draws a fault of the kinds that are wanted.
func (r *clusterRun) draw(l *clusterLoad) drawnFault {
	for {
		if f := r.drawAny(l); len(r.Kinds) == 0 || slices.Contains(r.Kinds, f.name) {
			return f
		}
	}
}

func (r *clusterRun) drawAny(l *clusterLoad) drawnFault {
	n := r.anyNode()
	one := []*clusterNode{n}
	switch r.rng.IntN(12) {
	case 0, 1:
		return drawnFault{name: faultKilled, nodes: one, process: true,
			begin: func(context.Context) error {
				l.setAway(n, true)
				return n.process.kill()
			},
			end: func(ctx context.Context) error {
				err := r.start(ctx, n)
				l.setAway(n, false)
				return err
			}}
	case 2:
		return drawnFault{name: faultPaused, nodes: one, process: true,
			begin: func(context.Context) error { return n.process.freeze() },
			end:   func(context.Context) error { return n.process.thaw() }}
	case 3:
		return databaseNetwork(faultStalled, one, r.rng.Int64N(pieces), (*tcpproxy.Proxy).StallAfter)
	case 4:
		return databaseNetwork(faultBroken, one, r.rng.Int64N(pieces), (*tcpproxy.Proxy).CutAfter)
	case 5:
		return databaseNetwork(faultCut, one, 0, func(p *tcpproxy.Proxy, _ int64) { refuse(p) })
	case 6:
		return databaseNetwork(faultSlow, one, r.rng.Int64N(int64(mostDelay)), func(p *tcpproxy.Proxy, d int64) { p.Delay(time.Duration(d)) })
	case 7:
		return r.databaseGone(faultStopped, (*clusterDatabase).stop)
	case 8:
		return r.databaseGone(faultCrashed, (*clusterDatabase).crash)
	case 9:
		return r.conflicts()
	case 10:
		return drawnFault{name: faultErrors, nodes: r.nodes,
			begin: func(context.Context) error { r.objects.failing.Store(failingRequests); return nil },
			end:   func(context.Context) error { r.objects.failing.Store(0); return nil }}
	default:
		return r.objectsNetwork()
	}
}

// databaseNetwork is a fault of the network between nodes and the database.
func databaseNetwork(name string, nodes []*clusterNode, value int64, fault func(*tcpproxy.Proxy, int64)) drawnFault {
	return drawnFault{name: name, nodes: nodes,
		begin: func(context.Context) error {
			for _, n := range nodes {
				fault(n.database, value)
			}
			return nil
		},
		end: func(context.Context) error {
			for _, n := range nodes {
				n.database.Heal()
			}
			return nil
		}}
}

// objectsNetwork is a fault of the network between the objects and one node or all.
func (r *clusterRun) objectsNetwork() drawnFault {
	f := drawnFault{nodes: r.nodes}
	if r.rng.IntN(2) == 0 {
		f.nodes = []*clusterNode{r.anyNode()}
	}
	var fault func(*tcpproxy.Proxy)
	switch value := r.rng.Int64N(pieces); r.rng.IntN(3) {
	case 0:
		f.name, fault = faultNoObjects, refuse
	case 1:
		f.name, fault = faultSilent, func(p *tcpproxy.Proxy) { p.StallAfter(value) }
	default:
		f.name, fault = faultSlowFetch, func(p *tcpproxy.Proxy) { p.Delay(time.Duration(value) * mostDelay / pieces) }
	}
	f.begin = func(context.Context) error {
		for _, n := range f.nodes {
			fault(n.objects)
		}
		return nil
	}
	f.end = func(context.Context) error {
		for _, n := range f.nodes {
			n.objects.Heal()
		}
		return nil
	}
	return f
}

// databaseGone ends the database and starts it again.
func (r *clusterRun) databaseGone(name string, stop func(*clusterDatabase) error) drawnFault {
	return drawnFault{name: name, nodes: r.nodes, server: true,
		begin: func(context.Context) error { return r.stopDatabase(stop) }, end: r.startDatabase}
}

// conflicts has the database roll back one transaction in two that makes a version, half
// of them while it commits them.
func (r *clusterRun) conflicts() drawnFault {
	return drawnFault{name: faultConflicts, server: true,
		begin: func(ctx context.Context) error {
			_, err := r.database.query(ctx,
				`CREATE OR REPLACE FUNCTION trawl.fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
					IF random() < 0.3 THEN RAISE EXCEPTION 'restart transaction' USING ERRCODE = '40001'; END IF;
					RETURN NEW; END $$`,
				`CREATE TRIGGER fail_soon BEFORE INSERT ON trawl.log FOR EACH ROW EXECUTE FUNCTION trawl.fail()`,
				`CREATE CONSTRAINT TRIGGER fail_late AFTER INSERT ON trawl.log DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION trawl.fail()`)
			return err
		},
		end: func(ctx context.Context) error {
			_, err := r.database.query(ctx, `DROP TRIGGER fail_soon ON trawl.log`, `DROP TRIGGER fail_late ON trawl.log`)
			return err
		}}
}
