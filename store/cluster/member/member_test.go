package member_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trawlsearch/trawl/store/cluster"
	"github.com/trawlsearch/trawl/store/cluster/member"
)

// tasks are those of the tests beside the parts.
var tasks = []string{"backup", "merge"}

// settled is longer than tasks take to move between nodes that live: one says in a round
// that it is there, the other gives them up in its next, and they are taken in a third.
const settled = 10 * time.Second

// node is a member that is kept.
type node struct {
	*member.Member
	// gained counts calls of Gained, events has what was said.
	mu     sync.Mutex // guards both
	gained int
	events []string
	stop   context.CancelFunc
	ended  chan struct{}
}

func start(t *testing.T, c *memoryCluster) *node {
	t.Helper()
	n := &node{ended: make(chan struct{})}
	m, err := member.Join(t.Context(), member.Options{
		Nodes: c, Leases: c, Tasks: tasks, Describe: func() cluster.Node { return cluster.Node{Address: "here"} },
		Gained: func() {
			n.mu.Lock()
			defer n.mu.Unlock()
			n.gained++
		},
		Event: func(message string, _ error) {
			n.mu.Lock()
			defer n.mu.Unlock()
			n.events = append(n.events, message)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	n.Member = m
	ctx, stop := context.WithCancel(context.Background())
	n.stop = stop
	go func() {
		defer close(n.ended)
		m.Keep(ctx)
	}()
	t.Cleanup(n.end)
	return n
}

func (n *node) end() {
	n.stop()
	<-n.ended
}

// holders counts the nodes that do the work on each number, and the tasks.
func holders(nodes ...*node) (least, most int) {
	least = len(nodes)
	count := func(holds func(n *node) bool) {
		found := 0
		for _, n := range nodes {
			if holds(n) {
				found++
			}
		}
		least, most = min(least, found), max(most, found)
	}
	for number := range uint32(200) {
		count(func(n *node) bool { return n.HoldsPart(number) })
	}
	for _, task := range tasks {
		count(func(n *node) bool { return n.Holds(task) })
	}
	return least, most
}

// wantOne fails unless each task has one node, and each node a fair share.
func wantOne(t *testing.T, nodes ...*node) {
	t.Helper()
	if least, most := holders(nodes...); least != 1 || most != 1 {
		t.Errorf("tasks have %d to %d nodes, want 1", least, most)
	}
	for _, n := range nodes {
		held := 0
		for part := range uint32(64) {
			if n.HoldsPart(part) {
				held++
			}
		}
		if fair := 64 / len(nodes); held < fair/3 || held > 3*fair {
			t.Errorf("a node of %d holds %d of 64 parts", len(nodes), held)
		}
		if n.Live() != len(nodes) {
			t.Errorf("a node knows of %d nodes, want %d", n.Live(), len(nodes))
		}
	}
}

// TestTasksMove has nodes come, leave, die and come back.
func TestTasksMove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newMemoryCluster()
		a := start(t, c)
		wantOne(t, a)
		b := start(t, c)
		if _, most := holders(a, b); most > 1 {
			t.Error("a task has two nodes when one has just joined")
		}
		time.Sleep(settled)
		wantOne(t, a, b)
		d := start(t, c)
		time.Sleep(settled)
		wantOne(t, a, b, d)
		if b.gained == 0 || d.gained == 0 {
			t.Errorf("nodes that joined heard of their tasks %d and %d times", b.gained, d.gained)
		}
		b.end()
		if least, _ := holders(b); least != 0 || b.Holds("merge") {
			t.Error("a node that left holds tasks")
		}
		time.Sleep(4 * time.Second)
		wantOne(t, a, d)
	})
}

// TestNodeDies has a node fall silent, as one that is killed or paused.
func TestNodeDies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newMemoryCluster()
		a := start(t, c)
		silent := c.another()
		b := start(t, silent)
		time.Sleep(settled)
		wantOne(t, a, b)
		silent.setAway(true)
		for range 15 {
			time.Sleep(time.Second)
			if _, most := holders(a, b); most > 1 {
				t.Fatal("a task has two nodes")
			}
		}
		if least, _ := holders(a); least != 1 {
			t.Error("the tasks of a silent node have not moved within 15 s")
		}
		if held, _ := holders(b); held != 0 {
			t.Error("a silent node believes that it holds tasks")
		}
		silent.setAway(false)
		time.Sleep(settled)
		wantOne(t, a, b)
		b.end()
		if got := b.events; len(got) != 2 {
			t.Errorf("events %q, want that the node was not heard of, and that it is again", got)
		}
	})
}

// TestForgotten has the cluster forget a node, which joins again.
func TestForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newMemoryCluster()
		a := start(t, c)
		if err := c.Leave(t.Context(), a.ID()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(settled)
		wantOne(t, a)
	})
}

// TestCannotJoin has the cluster away from the beginning.
func TestCannotJoin(t *testing.T) {
	c := newMemoryCluster()
	c.setAway(true)
	_, err := member.Join(t.Context(), member.Options{
		Nodes: c, Leases: c, Describe: func() cluster.Node { return cluster.Node{} }, Event: func(string, error) {},
	})
	if err == nil {
		t.Error("a node joined a cluster that is away")
	}
}

// TestNobody has no member, as a store of one machine.
func TestNobody(t *testing.T) {
	var m *member.Member
	if !m.Holds("merge") || !m.HoldsPart(7) || m.Live() != 1 {
		t.Error("a store of one machine does not do everything")
	}
}

// A claim is one node's until it is given back, and outlives rounds; that of a node
// that is gone is lost.
func TestClaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newMemoryCluster()
		a, b := start(t, c), start(t, c)
		claim := func(n *node, want bool, when string) (release func()) {
			t.Helper()
			release, held, err := n.Claim(t.Context(), "sync-7")
			if held != want || err != nil {
				t.Fatalf("%s: claimed %t, %v, want %t", when, held, err, want)
			}
			return release
		}
		release := claim(a, true, "free")
		claim(b, false, "at once")
		time.Sleep(10 * member.MissedAfter)
		claim(b, false, "rounds later")
		claim(a, true, "twice by one node")()
		claim(b, false, "shared within a node")
		release()
		release()
		release = claim(b, true, "given back")
		claim(a, false, "of another node")
		release()
		claim(a, true, "given back again")
		a.end()
		claim(b, true, "behind a node that left")
		c.setAway(true)
		if _, held, err := a.Claim(t.Context(), "sync-8"); held || !errors.Is(err, errAway) {
			t.Errorf("without the cluster: claimed %t, %v", held, err)
		}
		c.setAway(false)
		var alone *member.Member
		release, held, err := alone.Claim(t.Context(), "sync-7")
		if !held || err != nil {
			t.Fatalf("one machine: claimed %t, %v", held, err)
		}
		release()
	})
}

// A claim that is given back and made again while the node waits for the answer to a
// renewal is another one: the answer says nothing of it.
func TestClaimBesideARenewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newMemoryCluster()
		n := start(t, c)
		var release func()
		claim := func() {
			var held bool
			var err error
			if release, held, err = n.Claim(t.Context(), "sync-7"); !held || err != nil {
				t.Errorf("claim: %t, %v", held, err)
			}
		}
		claim()
		for name, beside := range map[string][2]func(){
			"before and after": {func() { release() }, claim},
			"after":            {func() {}, func() { release(); claim() }},
		} {
			c.beside(beside[0], beside[1])
			for c.waits() {
				time.Sleep(time.Second)
			}
			synctest.Wait()
			if !n.Holds("sync-7") {
				t.Errorf("%s: the new claim was lost", name)
			}
			release()
			if _, held, err := c.Acquire(t.Context(), "sync-7", "another", time.Second); !held || err != nil {
				t.Errorf("%s: what was given back is not free: %t, %v", name, held, err)
			}
			time.Sleep(time.Minute)
			claim()
		}
	})
}
