package store_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/trawlsearch/trawl/internal/postgrestest"
	"github.com/trawlsearch/trawl/internal/tcpproxy"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/cluster"
	"github.com/trawlsearch/trawl/store/cluster/postgres"
	"github.com/trawlsearch/trawl/store/cluster/runs"
	"github.com/trawlsearch/trawl/store/object"
	"github.com/trawlsearch/trawl/store/shard"
)

// TestNodesOnPostgreSQL has nodes count in the same records and write shards, with a
// real database behind a network that cuts connections in the middle of messages. No
// acknowledged change is lost, none is made twice, and in the end all nodes, and a new
// one, have the same records and texts.
func TestNodesOnPostgreSQL(t *testing.T) {
	const nodes, rounds, cutEvery = 3, 60, 6
	var template postgrestest.Template
	defer template.Remove()
	server := template.Start(t)
	folder := object.NewFolder(vfs.NewMem(), "shared")
	node := func(address string) *store.Store {
		t.Helper()
		log, err := postgres.Open(t.Context(), postgres.Options{Address: address, Reads: store.RecordFormats, Patience: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		s, err := store.Open("data", store.Options{FS: vfs.NewMem(), Log: log.Log, Runs: runs.New(folder)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			closeStore(t, s)
			log.Close()
		})
		return s
	}
	var proxies []*tcpproxy.Proxy
	var stores []*store.Store
	for range nodes {
		p := tcpproxy.New(t, "unix", server.Socket())
		proxies = append(proxies, p)
		stores = append(stores, node(fmt.Sprintf("postgres://postgres@%s/postgres?sslmode=disable", p.Address())))
	}
	if _, err := stores[0].Repositories().New(store.Repository{Name: "r0"}); err != nil {
		t.Fatal(err)
	}
	docs, texts := documents(1, 5)
	var made, unknown atomic.Int64
	var shards sync.Map
	var wg sync.WaitGroup
	for n, s := range stores {
		if err := s.Follow(t.Context()); err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(uint64(n), 3))
		wg.Go(func() {
			for round := range rounds {
				if round%cutEvery == n {
					proxies[n].CutAfter(rng.Int64N(3000))
				}
				switch err := increment(s, 0); {
				case err == nil:
					made.Add(1)
				case errors.Is(err, store.ErrBroken):
					unknown.Add(1)
				default:
					t.Logf("node %d: %v", n, err) // nothing was changed
				}
				if round%(rounds/3) == 0 {
					h := writeShard(t, s, docs, texts)
					switch err := s.Commit(store.Change{Add: []shard.Header{h}}); {
					case err == nil:
						shards.Store(h.ID, nil)
					case !errors.Is(err, store.ErrBroken):
						t.Errorf("node %d, shard %d: %v", n, h.ID, err)
					}
				}
			}
		})
	}
	wg.Wait()
	cuts := 0
	for _, p := range proxies {
		cuts += p.Cuts()
	}
	t.Logf("%d additions, %d of which it is not known, %d connections cut", made.Load(), unknown.Load(), cuts)
	if cuts == 0 || made.Load() == 0 {
		t.Error("nothing was tried")
	}
	stores = append(stores, node(server.Address()))
	for n, s := range stores {
		if err := s.Follow(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got, want := s.SharedRecords(), stores[0].SharedRecords(); got != want {
			t.Errorf("node %d has\n%s\nthe first one has\n%s", n, got, want)
		}
		sn := s.Snapshot()
		r, err := sn.Repository("r0")
		if err != nil {
			t.Fatal(err)
		}
		if got := int64(r.Generation); got < made.Load() || got > made.Load()+unknown.Load() {
			t.Errorf("node %d: counted to %d, want %d, and at most %d more", n, got, made.Load(), unknown.Load())
		}
		shards.Range(func(id, _ any) bool {
			if v, found := sn.Shard(id.(uint32)); !found {
				t.Errorf("node %d: shard %d is not there", n, id)
			} else {
				check(t, v, docs, texts)
			}
			return true
		})
		sn.Close()
	}
}

// TestRollingUpgrade replaces the program of one node after the other with one that
// reads a newer format. The older one works until all others are newer, and is refused
// then.
func TestRollingUpgrade(t *testing.T) {
	var template postgrestest.Template
	defer template.Remove()
	server := template.Start(t)
	older, newer := cluster.Formats{Lowest: 1, Newest: 1}, cluster.Formats{Lowest: 1, Newest: 2}
	node := func(id string, reads cluster.Formats) (*store.Store, *postgres.Cluster) {
		t.Helper()
		log, err := postgres.Open(t.Context(), postgres.Options{Address: server.Address(), Reads: reads, Patience: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		if err := log.Nodes.Join(t.Context(), cluster.Node{ID: id, Reads: reads}); err != nil {
			t.Fatal(err)
		}
		s, err := store.Open("data", store.Options{FS: vfs.NewMem(), Log: log.Log})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			closeStore(t, s)
			log.Close()
		})
		return s, log
	}
	a, logA := node("a", older)
	if _, err := a.Repositories().New(store.Repository{Name: "r0"}); err != nil {
		t.Fatal(err)
	}
	b, logB := node("b", newer)
	if format, err := logB.Nodes.Raise(t.Context(), newer.Newest); format != 1 || err != nil {
		t.Errorf("beside an older node the format is raised to %d, %v", format, err)
	}
	for _, s := range []*store.Store{a, b} {
		if err := increment(s, 0); err != nil {
			t.Errorf("beside a node with another program: %v", err)
		}
	}
	if err := logA.Nodes.Leave(t.Context(), "a"); err != nil { // its process goes on all the same
		t.Fatal(err)
	}
	if format, err := logB.Nodes.Raise(t.Context(), newer.Newest); format != 2 || err != nil {
		t.Errorf("with newer nodes alone the format is raised to %d, %v", format, err)
	}
	if err := increment(b, 0); err != nil {
		t.Error(err)
	}
	if err := a.Follow(t.Context()); !errors.As(err, new(*cluster.FormatError)) {
		t.Errorf("an older node reads on: %v", err)
	}
	before, _ := a.Node().Confirmed() // what was being looked at earlier is over
	if err := increment(a, 0); !errors.As(err, new(*cluster.FormatError)) {
		t.Errorf("an older node writes on: %v", err)
	}
	if after, _ := a.Node().Confirmed(); !after.Equal(before) {
		t.Error("an older node takes its version for the last one")
	}
	sn := a.Snapshot()
	defer sn.Close()
	if sn.RepositoryCount() != 1 {
		t.Error("an older node can search no more")
	}
	c, _ := node("c", newer)
	if got, want := c.SharedRecords(), b.SharedRecords(); got != want {
		t.Errorf("a new node has\n%s\nwant\n%s", got, want)
	}
}
