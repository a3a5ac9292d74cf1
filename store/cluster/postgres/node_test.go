package postgres_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	detector "github.com/trawlsearch/trawl/internal/race"
	"github.com/trawlsearch/trawl/store/cluster"
	"github.com/trawlsearch/trawl/store/cluster/postgres"
)

func TestNodes(t *testing.T) {
	c := open(t, template.Start(t).Address())
	ctx := t.Context()
	a := cluster.Node{ID: "a", Address: "10.0.0.1:6070", Applied: 7, Reads: formats, Facts: json.RawMessage(`{"disk": 1}`)}
	if err := c.Nodes.Beat(ctx, a); !errors.Is(err, cluster.ErrGone) {
		t.Errorf("beat before joining: %v, want ErrGone", err)
	}
	for _, n := range []cluster.Node{{ID: "b", Reads: formats}, a} {
		if err := c.Nodes.Join(ctx, n); err != nil {
			t.Fatal(err)
		}
	}
	before, err := c.Nodes.Nodes(ctx)
	if err != nil || len(before) != 2 {
		t.Fatalf("nodes are %v, %v", before, err)
	}
	a.Applied, a.Facts = 9, json.RawMessage(`{"disk": 2}`)
	if err := c.Nodes.Beat(ctx, a); err != nil {
		t.Fatal(err)
	}
	after, err := c.Nodes.Nodes(ctx)
	if err != nil {
		t.Fatal(err)
	}
	got := after[0]
	if !got.Seen.After(got.Started) || !got.Started.Equal(before[0].Started) {
		t.Errorf("started %v, seen %v; before it beat %v, %v", got.Started, got.Seen, before[0].Started, before[0].Seen)
	}
	got.Started, got.Seen = time.Time{}, time.Time{}
	if fmt.Sprint(got) != fmt.Sprint(a) || after[1].ID != "b" || after[1].Facts != nil {
		t.Errorf("nodes are %v, want %v and b", after, a)
	}

	if _, held, err := c.Leases.Acquire(ctx, "merge", "a", time.Hour); !held || err != nil {
		t.Fatal(held, err)
	}
	if err := c.Nodes.Leave(ctx, "a"); err != nil {
		t.Fatal(err)
	}
	if nodes, err := c.Nodes.Nodes(ctx); err != nil || len(nodes) != 1 {
		t.Errorf("after one left: %v, %v", nodes, err)
	}
	if _, held, err := c.Leases.Acquire(ctx, "merge", "b", time.Hour); !held || err != nil {
		t.Errorf("the lease of a node that left: held %t, %v", held, err)
	}
}

func TestLeases(t *testing.T) {
	address := template.Start(t).Address()
	a, b := open(t, address), open(t, address)
	ctx := t.Context()
	before := time.Now()
	first, held, err := a.Leases.Acquire(ctx, "sync 1", "a", time.Hour)
	if err != nil || !held || first.Fence != 1 || first.Node != "a" {
		t.Fatalf("got %+v, held %t, %v", first, held, err)
	}
	if first.Deadline.Before(before.Add(time.Hour)) || first.Deadline.After(time.Now().Add(time.Hour)) {
		t.Errorf("the deadline is %v, asked at %v", first.Deadline, before)
	}
	if lease, held, err := b.Leases.Acquire(ctx, "sync 1", "b", time.Hour); held || err != nil || lease != (cluster.Lease{}) {
		t.Errorf("another node: got %+v, held %t, %v", lease, held, err)
	}
	again, held, err := a.Leases.Acquire(ctx, "sync 1", "a", 2*time.Hour)
	if err != nil || !held || again.Fence != first.Fence || !again.Until.After(first.Until) {
		t.Errorf("the same node: got %+v, held %t, %v", again, held, err)
	}
	if _, held, err := a.Leases.Acquire(ctx, "sync 2", "a", time.Hour); err != nil || !held {
		t.Fatal(held, err)
	}
	// What was promised stays so, also where an attempt with an older clock ends later.
	if l, held, err := a.Leases.Acquire(ctx, "sync 1", "a", time.Minute); err != nil || !held || !l.Until.Equal(again.Until) {
		t.Errorf("a shorter time: got %+v, held %t, %v, want until %v", l, held, err, again.Until)
	}
	if l, err := a.Leases.Renew(ctx, "a", time.Minute, "sync 1"); err != nil || len(l) != 1 || !l[0].Until.Equal(again.Until) {
		t.Errorf("renewed for a shorter time: got %+v, %v, want until %v", l, err, again.Until)
	}
	renewed, err := b.Leases.Renew(ctx, "b", time.Hour, "sync 1", "sync 2")
	if err != nil || len(renewed) != 0 {
		t.Errorf("another node renewed %v, %v", renewed, err)
	}
	for _, other := range []cluster.Lease{{Name: "sync 1", Node: "b", Fence: 1}, {Name: "sync 1", Node: "a", Fence: 2}} {
		if err := b.Leases.Release(ctx, other); err != nil {
			t.Error(err)
		}
	}
	renewed, err = a.Leases.Renew(ctx, "a", 3*time.Hour, "sync 1", "sync 2", "sync 3")
	if err != nil || len(renewed) != 2 || !renewed[0].Until.After(again.Until) || renewed[0].Deadline.IsZero() {
		t.Errorf("renewed %v, %v", renewed, err)
	}
	all, err := b.Leases.Leases(ctx)
	if err != nil || len(all) != 2 || all[0].Name != "sync 1" || all[0].Node != "a" || all[0].Fence != 1 || !all[0].Deadline.IsZero() {
		t.Errorf("leases are %v, %v", all, err)
	}
	if err := a.Leases.Release(ctx, first, cluster.Lease{Name: "sync 3", Node: "a", Fence: 1}); err != nil {
		t.Fatal(err)
	}
	if got, held, err := b.Leases.Acquire(ctx, "sync 1", "b", time.Hour); !held || err != nil || got.Fence != 2 {
		t.Errorf("a lease given back: got %+v, held %t, %v", got, held, err)
	}

	// A dead owner: its lease expires, and it gets it again under another number only.
	if err := a.Exec(ctx, `UPDATE trawl.lease SET until = now() WHERE name = 'sync 1'`); err != nil {
		t.Fatal(err)
	}
	if renewed, err := b.Leases.Renew(ctx, "b", time.Hour, "sync 1"); err != nil || len(renewed) != 0 {
		t.Errorf("an expired lease is renewed: %v, %v", renewed, err)
	}
	if all, err := b.Leases.Leases(ctx); err != nil || slices.ContainsFunc(all, func(l cluster.Lease) bool { return l.Name == "sync 1" }) {
		t.Errorf("an expired lease is listed: %v, %v", all, err)
	}
	if got, held, err := b.Leases.Acquire(ctx, "sync 1", "b", time.Hour); !held || err != nil || got.Fence != 3 {
		t.Errorf("an expired lease: got %+v, held %t, %v", got, held, err)
	}
}

// Nodes take a lease from each other as it expires, and their connections are cut.
// While one may act on it, which is until its deadline, no other has it; and numbers
// grow with each owner.
func TestLeaseHasOneOwner(t *testing.T) {
	p, address := through(t, template.Start(t))
	owners := max(detector.Scaled(100, 30), faults(0))
	rng := rand.New(rand.NewPCG(8, 9))
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var mu sync.Mutex
	var owner cluster.Lease
	changes := 0
	lasts := 20 * time.Millisecond
	// took notes an owner, and checks that no other is left.
	took := func(l cluster.Lease) {
		mu.Lock()
		defer mu.Unlock()
		if !time.Now().Before(l.Deadline) {
			lasts += time.Millisecond // where answers are slow, it ends up long enough
			return                    // it was told too late to act on it
		}
		if owner.Node != l.Node && time.Now().Before(owner.Deadline) {
			t.Errorf("%s has the lease while %s may act on it for %v", l.Node, owner.Node, time.Until(owner.Deadline))
		}
		if l.Fence < owner.Fence || l.Node != owner.Node && l.Fence == owner.Fence {
			t.Errorf("%s has number %d after %s had %d", l.Node, l.Fence, owner.Node, owner.Fence)
		}
		if owner.Node != l.Node {
			changes++
			p.CutAfter(rng.Int64N(2000))
		}
		owner = l
		if changes >= owners {
			stop()
		}
	}
	ttl := func() time.Duration {
		mu.Lock()
		defer mu.Unlock()
		return lasts
	}
	// ends notes that an owner stops before it gives its lease back.
	ends := func(l cluster.Lease) {
		mu.Lock()
		defer mu.Unlock()
		if owner.Node == l.Node && owner.Fence == l.Fence {
			owner.Deadline = time.Time{}
		}
	}
	var clients [4]*postgres.Cluster
	for i := range clients { // before any is cut, which opening does not bear
		clients[i] = open(t, address)
	}
	var nodes sync.WaitGroup
	for i, c := range clients {
		id := fmt.Sprint("node ", i)
		nodes.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				lease, held, err := c.Leases.Acquire(t.Context(), "merge", id, ttl())
				if err != nil {
					t.Error(err)
					return
				}
				if !held {
					time.Sleep(time.Millisecond) // the server has as few processors as this has
					continue
				}
				took(lease)
				for range n % 3 {
					renewed, err := c.Leases.Renew(t.Context(), id, ttl(), "merge")
					if err != nil {
						t.Error(err)
						return
					}
					for _, l := range renewed {
						took(l)
					}
				}
				if n%2 == 0 { // otherwise it is as if the node had died
					ends(lease)
					if err := c.Leases.Release(t.Context(), lease); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	nodes.Wait()
	t.Logf("%d owners, %d cuts", changes, p.Cuts())
}
