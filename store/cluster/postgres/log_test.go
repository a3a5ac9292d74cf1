package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/store/cluster"
	"github.com/trawlsearch/trawl/store/cluster/postgres"
)

func TestAppendTailRecords(t *testing.T) {
	c := open(t, template.Start(t).Address())
	follower := newReplica()
	records(t, c).equal(t, follower)
	id := must(t, c, 0, set("b", "1"), set("a", "2"), set("b", "3"), set("gone", "x"), set("\xff\x00", "\x00\xff"), set("empty", ""))
	must(t, c, 1, remove("gone"), remove("never there"), set("a\x00", "4"))
	must(t, c, 2)
	entries := follower.follow(t, c, 0)
	if len(entries) != 3 || entries[0].ID != id || len(entries[0].Writes) != 6 || string(entries[0].Writes[2].Value) != "3" {
		t.Errorf("entries are %v", entries)
	}
	want := map[string]string{"a": "2", "a\x00": "4", "b": "3", "empty": "", "\xff\x00": "\x00\xff"}
	follower.equal(t, &replica{version: 3, records: want})
	records(t, c).equal(t, follower)
	must(t, c, 3, set("gone", "back"))
	follower.follow(t, c, 0)
	records(t, c).equal(t, follower)
	if head, err := c.Log.Head(t.Context()); head != 4 || err != nil {
		t.Errorf("head is %d, %v, want 4", head, err)
	}
	if err := c.Log.Append(t.Context(), 4, newID(), []cluster.Write{set("", "x")}); err == nil {
		t.Error("an empty key is taken")
	}
}

func TestAppendIsBeatenOrRepeated(t *testing.T) {
	c := open(t, template.Start(t).Address())
	id := must(t, c, 0, set("a", "1"))
	must(t, c, 1, set("b", "1"))
	for range 2 {
		if err := c.Log.Append(t.Context(), 0, id, []cluster.Write{set("a", "1")}); err != nil {
			t.Errorf("again with its ID: %v", err)
		}
	}
	if err := c.Log.Append(t.Context(), 0, newID(), []cluster.Write{set("a", "2")}); !errors.Is(err, cluster.ErrBeaten) {
		t.Errorf("behind: %v, want ErrBeaten", err)
	}
	if err := c.Log.Append(t.Context(), 3, newID(), []cluster.Write{set("a", "2")}); !errors.Is(err, cluster.ErrAhead) {
		t.Errorf("ahead: %v, want ErrAhead", err)
	}
	if _, err := c.Log.Tail(t.Context(), 3, 1); !errors.Is(err, cluster.ErrAhead) {
		t.Errorf("tail ahead: %v, want ErrAhead", err)
	}
	records(t, c).equal(t, &replica{version: 2, records: map[string]string{"a": "1", "b": "1"}})
	if err := c.Log.CutTo(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if err := c.Log.Append(t.Context(), 0, id, []cluster.Write{set("a", "1")}); !errors.Is(err, cluster.ErrUnknown) || !errors.Is(err, cluster.ErrCut) {
		t.Errorf("again after the log was cut: %v, want ErrUnknown and ErrCut", err)
	}
}

func TestTailKeepsToItsLimit(t *testing.T) {
	c := open(t, template.Start(t).Address())
	for i := range 10 {
		must(t, c, cluster.Version(i), set("a", strings.Repeat("x", 1000)))
	}
	for _, tt := range []struct{ after, limit, want int }{
		{0, 0, 1}, {0, 1000, 1}, {0, 1500, 1}, {0, 3100, 3}, {0, 1 << 20, 10}, {8, 1 << 20, 2}, {9, 1, 1}, {10, 1 << 20, 0},
	} {
		entries, err := c.Log.Tail(t.Context(), cluster.Version(tt.after), tt.limit)
		if err != nil || len(entries) != tt.want {
			t.Errorf("after %d with %d bytes: %d entries, %v, want %d", tt.after, tt.limit, len(entries), err, tt.want)
		}
	}
}

// Ten megabytes in some thousand records are one version, as a merge of shards makes.
func TestLargeAppend(t *testing.T) {
	t.Parallel()
	c := open(t, template.Start(t).Address())
	var writes []cluster.Write
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 5000 {
		value := make([]byte, 2500)
		for j := range value {
			value[j] = byte(rng.Uint32())
		}
		writes = append(writes, cluster.Write{Key: fmt.Appendf(nil, "key %d", i), Value: value})
	}
	must(t, c, 0, writes...)
	for i := range writes {
		writes[i].Value = writes[i].Value[1:]
	}
	must(t, c, 1, writes...)
	follower := newReplica()
	follower.follow(t, c, 0)
	records(t, c).equal(t, follower)
}

func TestCutKeepsWhatNodesNeed(t *testing.T) {
	t.Parallel()
	c := open(t, template.Start(t).Address())
	ctx := t.Context()
	const versions = postgres.KeptEntries + 100
	for i := range versions {
		must(t, c, cluster.Version(i), set(fmt.Sprint(i%10), fmt.Sprint(i)), remove(fmt.Sprint("gone", i)))
	}
	slow, fast := cluster.Node{ID: "slow", Reads: formats, Applied: 20}, cluster.Node{ID: "fast", Reads: formats, Applied: versions}
	for _, n := range []cluster.Node{slow, fast} {
		if err := c.Nodes.Join(ctx, n); err != nil {
			t.Fatal(err)
		}
	}
	// reaches checks that the log reaches back to a version and no further.
	reaches := func(when string, to cluster.Version) {
		t.Helper()
		if err := c.Log.Cut(ctx); err != nil {
			t.Fatal(err)
		}
		if entries, err := c.Log.Tail(ctx, to, 1<<10); err != nil || entries[0].Version != to+1 {
			t.Errorf("%s: tail after %d: %v", when, to, err)
		}
		if _, err := c.Log.Tail(ctx, to-1, 1<<10); !errors.Is(err, cluster.ErrCut) {
			t.Errorf("%s: tail after %d: %v, want ErrCut", when, to-1, err)
		}
	}
	reaches("a slow node", 20)
	slow.Applied = 70
	if err := c.Nodes.Beat(ctx, slow); err != nil {
		t.Fatal(err)
	}
	reaches("a slow node goes on", 70)
	if err := c.Exec(ctx, `UPDATE trawl.node SET seen = now() - interval '61 seconds' WHERE id = 'slow'`); err != nil {
		t.Fatal(err)
	}
	reaches("the slow node is dead", versions-postgres.KeptEntries)
	if r := records(t, c); r.version != versions || len(r.records) != 10 {
		t.Errorf("version %d with %d records, want %d with 10", r.version, len(r.records), versions)
	}
	if err := c.Exec(ctx, `UPDATE trawl.node SET seen = now() - interval '25 hours' WHERE id = 'slow'`); err != nil {
		t.Fatal(err)
	}
	if err := c.Log.Cut(ctx); err != nil {
		t.Fatal(err)
	}
	if nodes, err := c.Nodes.Nodes(ctx); err != nil || len(nodes) != 1 || nodes[0].ID != "fast" {
		t.Errorf("nodes are %v, %v, want the fast one", nodes, err)
	}
}

// A node that reads the log while others cut it has all of it, or is told.
func TestCutBesideASlowReader(t *testing.T) {
	address := template.Start(t).Address()
	writer, reader := open(t, address), open(t, address)
	ctx := t.Context()
	const versions = 600
	var writing sync.WaitGroup
	writing.Go(func() {
		for i := range versions {
			if err := writer.Log.Append(ctx, cluster.Version(i), newID(), []cluster.Write{set(fmt.Sprint(i%50), fmt.Sprint(i))}); err != nil {
				t.Error(err)
				return
			}
			if i%5 == 0 {
				if err := writer.Log.CutTo(ctx, 20); err != nil {
					t.Error(err)
				}
			}
		}
	})
	follower, cuts := newReplica(), 0
	rng := rand.New(rand.NewPCG(5, 6))
	for head := cluster.Version(0); follower.version < versions; {
		for to := min(versions, follower.version+cluster.Version(rng.IntN(60))); head < to; { // it falls behind
			if err := reader.Log.Wait(ctx, head); err != nil {
				t.Fatal(err)
			}
			var err error
			if head, err = reader.Log.Head(ctx); err != nil {
				t.Fatal(err)
			}
		}
		entries, err := reader.Log.Tail(ctx, follower.version, 40)
		switch {
		case errors.Is(err, cluster.ErrCut):
			cuts++
			follower = records(t, reader)
		case err != nil:
			t.Fatal(err)
		}
		follower.apply(t, entries)
	}
	writing.Wait()
	records(t, reader).equal(t, follower)
	if cuts == 0 {
		t.Error("the reader never came too late")
	}
	t.Logf("the log was cut before the reader %d times", cuts)
}

func TestRecordsAtOneVersionBesideWriters(t *testing.T) {
	address := template.Start(t).Address()
	c := open(t, address)
	var first []cluster.Write
	for i := range 3000 { // several batches
		first = append(first, set(fmt.Sprintf("key %04d", i), strings.Repeat("x", 500)))
	}
	must(t, c, 0, first...)
	ctx, stop := context.WithCancel(t.Context())
	var writing sync.WaitGroup
	defer writing.Wait()
	defer stop()
	w := open(t, address)
	writing.Go(func() {
		rng := rand.New(rand.NewPCG(3, 4))
		for v := cluster.Version(1); ctx.Err() == nil; v++ {
			var writes []cluster.Write
			for range 20 {
				key := fmt.Sprintf("key %04d", rng.IntN(3500))
				if rng.IntN(3) == 0 {
					writes = append(writes, remove(key))
				} else {
					writes = append(writes, set(key, fmt.Sprint(v)))
				}
			}
			if err := w.Log.Append(t.Context(), v, newID(), writes); err != nil {
				t.Error(err)
				return
			}
			if v%50 == 0 { // drops what was deleted; the log stays
				if err := w.Log.Cut(t.Context()); err != nil {
					t.Error(err)
				}
			}
		}
	})
	follower := newReplica()
	for end, n := time.Now().Add(patience), 0; n < 20 || follower.version < 3 && time.Now().Before(end); n++ {
		r := records(t, c)
		follower.follow(t, c, r.version)
		r.equal(t, follower)
	}
	if follower.version < 3 {
		t.Errorf("nothing was written meanwhile: version %d", follower.version)
	}
}

func TestRecordsEndsWithItsCaller(t *testing.T) {
	c := open(t, template.Start(t).Address())
	must(t, c, 0, set("a", "1"), set("b", "2"))
	stop := errors.New("stop")
	for range 20 { // more than there are connections
		if _, err := c.Log.Records(t.Context(), func([]byte, []byte) error { return stop }); !errors.Is(err, stop) {
			t.Fatalf("got %v, want the error of the callback", err)
		}
	}
	records(t, c)
}

func TestWaitHearsOfVersions(t *testing.T) {
	t.Parallel()
	address := template.Start(t).Address()
	version := cluster.Version(0)
	for how, option := range map[string]func(*postgres.Options){"listening": func(*postgres.Options) {}, "polling": (*postgres.Options).Silent} {
		a, b := open(t, address, option), open(t, address, option)
		ctx := within(t, patience)
		for range 10 {
			must(t, a, version)
			for n := 0; n == 0; {
				if err := b.Log.Wait(ctx, version); err != nil {
					t.Fatalf("%s: %v", how, err)
				}
				entries, err := b.Log.Tail(ctx, version, 1)
				if err != nil {
					t.Fatal(err)
				}
				n = len(entries)
			}
			version++
		}
		if err := b.Log.Wait(ctx, version); err != nil {
			t.Errorf("%s: nothing comes: %v", how, err)
		}
		ended, end := context.WithTimeout(t.Context(), time.Millisecond)
		defer end()
		<-ended.Done()
		if err := b.Log.Wait(ended, version); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: the context has ended: %v", how, err)
		}
	}
}

// A node hears of versions without asking, also after its connection was lost.
func TestListening(t *testing.T) {
	t.Parallel()
	s := template.Start(t)
	address := s.Address()
	a, b := open(t, address), open(t, address)
	await := func(what string, ready func() bool) {
		t.Helper()
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for timeout := time.After(patience); !ready(); {
			select {
			case <-tick.C:
			case <-timeout:
				t.Fatal(what)
			}
		}
	}
	for v := range cluster.Version(3) {
		await("nothing listens", b.Log.Listening)
		must(t, a, v)
		await("the version was not heard of", func() bool { return b.Log.Heard(v + 1) })
		s.Kill()
		await("a killed server is listened to", func() bool { return !b.Log.Listening() })
		s.Start()
	}
}

func TestReserveGivesNumbersOnce(t *testing.T) {
	address := template.Start(t).Address()
	var mu sync.Mutex
	taken := map[uint32]bool{}
	var all sync.WaitGroup
	for range 4 {
		c := open(t, address)
		all.Go(func() {
			for i := range uint32(50) {
				n := i%3 + 1
				first, err := c.Log.Reserve(t.Context(), n)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				for number := first; number < first+n; number++ {
					if number == 0 || taken[number] {
						t.Errorf("number %d is zero or was given before", number)
					}
					taken[number] = true
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	c := open(t, address)
	if err := c.Exec(t.Context(), `UPDATE trawl.counter SET next = 4294967295`); err != nil {
		t.Fatal(err)
	}
	if n, err := c.Log.Reserve(t.Context(), 1); n != 1<<32-1 || err != nil {
		t.Errorf("the last number: got %d, %v", n, err)
	}
	if n, err := c.Log.Reserve(t.Context(), 1); err == nil {
		t.Errorf("after the last number: got %d", n)
	}
}
