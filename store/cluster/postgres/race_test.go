package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/internal/postgrestest"
	"github.com/trawlsearch/trawl/internal/tcpproxy"
	"github.com/trawlsearch/trawl/store/cluster"
	"github.com/trawlsearch/trawl/store/cluster/postgres"
)

// faults is how many faults a test has. TRAWL_CRASHES=all takes more:
//
//	TRAWL_CRASHES=all go test ./store/cluster/postgres -run Race -v
func faults(usual int) int {
	if os.Getenv("TRAWL_CRASHES") == "all" {
		return 200
	}
	return usual
}

// outcome is what a client knows of an attempt to commit.
type outcome struct {
	base cluster.Version
	err  error // nil if it was acknowledged
}

// race is a few clients that count in the same records, each from its own replica.
type race struct {
	t       *testing.T
	clients int
	options func(*postgres.Options)

	mu        sync.Mutex // guards the rest
	attempts  map[cluster.ID]outcome
	order     [][]cluster.ID // what was acknowledged to each client, in its order
	acked     int
	unknown   int // answers that were lost
	refused   int // other errors
	told      int // unknown outcomes of calls in which no attempt ran out of time
	progress  chan struct{}
	addresses []string
}

const (
	raceClients  = 3
	racePatience = 200 * time.Millisecond
)

func newRace(t *testing.T, addresses ...string) *race {
	return &race{t: t, clients: raceClients, options: func(*postgres.Options) {}, attempts: map[cluster.ID]outcome{}, order: make([][]cluster.ID, raceClients),
		progress: make(chan struct{}, 1), addresses: addresses}
}

// run has the clients count while each fault happens after some of them have
// succeeded, and checks the history.
func (r *race) run(server *postgrestest.Server, n int, fault func(rng *rand.Rand)) {
	r.t.Helper()
	ctx, stop := context.WithCancel(r.t.Context())
	var clients sync.WaitGroup
	defer clients.Wait()
	defer stop()
	for i := range r.clients {
		c := open(r.t, r.addresses[i%len(r.addresses)], r.options)
		c.SetPatience(racePatience)
		clients.Go(func() { r.client(ctx, i, c) })
	}
	rng := rand.New(rand.NewPCG(7, uint64(n)))
	for range n {
		r.await(1 + rng.IntN(10))
		fault(rng)
	}
	r.await(10)
	stop()
	clients.Wait()
	r.check(open(r.t, server.Address()))
}

// await waits until the clients have made some more versions.
func (r *race) await(n int) {
	r.t.Helper()
	timeout := time.After(patience)
	r.mu.Lock()
	to := r.acked + n
	r.mu.Unlock()
	for {
		r.mu.Lock()
		acked := r.acked
		r.mu.Unlock()
		if acked >= to {
			return
		}
		select {
		case <-r.progress:
		case <-timeout:
			r.t.Fatalf("%d of %d versions after %v", acked, to, patience)
		}
	}
}

// client counts until ctx ends. It keeps to what a node does: an attempt with an
// unknown outcome is made again.
func (r *race) client(ctx context.Context, i int, c *postgres.Cluster) {
	rng := rand.New(rand.NewPCG(uint64(i), 1))
	own := newReplica()
	for ctx.Err() == nil {
		entries, err := c.Log.Tail(r.t.Context(), own.version, 1<<16)
		if err != nil {
			r.note(nil, 0, cluster.ID{}, err)
			continue
		}
		own.apply(r.t, entries)
		base, id := own.version, newID()
		writes := own.count(rng, i)
		began := time.Now()
		err = c.Log.Append(r.t.Context(), base, id, writes)
		if errors.Is(err, cluster.ErrUnknown) && time.Since(began) < 3*racePatience { // which one attempt may take
			r.mu.Lock()
			r.told++
			r.mu.Unlock()
		}
		for errors.Is(err, cluster.ErrUnknown) {
			r.note(nil, base, id, err)
			err = c.Log.Append(r.t.Context(), base, id, writes)
		}
		r.note(&r.order[i], base, id, err)
	}
}

// count adds one to a record of all and to one of the client.
func (own *replica) count(rng *rand.Rand, client int) []cluster.Write {
	var writes []cluster.Write
	for _, key := range []string{fmt.Sprint("shared ", rng.IntN(5)), fmt.Sprint("own ", client)} {
		n := 0
		_, _ = fmt.Sscan(own.records[key], &n)
		writes = append(writes, set(key, fmt.Sprint(n+1)))
	}
	fleeting := fmt.Sprint("fleeting ", rng.IntN(3))
	if own.records[fleeting] == "" {
		return append(writes, set(fleeting, strings.Repeat("x", 1+rng.IntN(2000))))
	}
	return append(writes, remove(fleeting))
}

// note notes what a client was told.
func (r *race) note(order *[]cluster.ID, base cluster.Version, id cluster.ID, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if id != (cluster.ID{}) {
		r.attempts[id] = outcome{base, err}
	}
	switch {
	case err == nil:
		r.acked++
		*order = append(*order, id)
		select {
		case r.progress <- struct{}{}:
		default:
		}
	case errors.Is(err, cluster.ErrUnknown):
		r.unknown++
	case !errors.Is(err, cluster.ErrBeaten):
		r.refused++
	}
}

// check checks the history: the log has each version once, what was acknowledged and
// nothing else, in the order in which it was, and no count is lost.
func (r *race) check(c *postgres.Cluster) {
	r.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	final, made, total := newReplica(), map[cluster.ID]cluster.Version{}, 0
	for _, e := range final.follow(r.t, c, 0) {
		if made[e.ID] != 0 {
			r.t.Errorf("an attempt made versions %d and %d", made[e.ID], e.Version)
		}
		made[e.ID] = e.Version
		switch a, known := r.attempts[e.ID]; {
		case !known:
			r.t.Errorf("version %d was made by nobody", e.Version)
		case a.base+1 != e.Version:
			r.t.Errorf("version %d was made from version %d", e.Version, a.base)
		case a.err != nil:
			r.t.Errorf("version %d was made by an attempt that was told: %v", e.Version, a.err)
		}
	}
	for i, ids := range r.order {
		last := cluster.Version(0)
		for _, id := range ids {
			if made[id] <= last {
				r.t.Errorf("client %d: version %d was acknowledged after version %d", i, made[id], last)
			}
			last = made[id]
		}
		total += len(ids)
	}
	if total != len(made) || int(final.version) != total {
		r.t.Errorf("%d attempts were acknowledged, and the log has %d versions up to %d", total, len(made), final.version)
	}
	shared, own := 0, 0
	for key, value := range final.records {
		n := 0
		_, _ = fmt.Sscan(value, &n)
		switch {
		case strings.HasPrefix(key, "shared"):
			shared += n
		case strings.HasPrefix(key, "own"):
			own += n
		}
	}
	if shared != total || own != total {
		r.t.Errorf("the records count %d and %d, want %d", shared, own, total)
	}
	records(r.t, c).equal(r.t, final)
	r.t.Logf("%d versions, %d attempts beaten or refused, %d answers unknown, %d calls refused",
		total, len(r.attempts)-total, r.unknown, r.refused)
}

func TestRace(t *testing.T) {
	s := template.Start(t)
	newRace(t, s.Address()).run(s, faults(20), func(*rand.Rand) {})
}

// Connections are cut after any number of bytes, of question or answer.
func TestRaceWithCutConnections(t *testing.T) {
	t.Parallel()
	s := template.Start(t)
	a, addressA := through(t, s)
	b, addressB := through(t, s)
	proxies := []*tcpproxy.Proxy{a, b}
	newRace(t, addressA, addressB).run(s, faults(40)*5/4, func(rng *rand.Rand) {
		p := proxies[rng.IntN(2)]
		if rng.IntN(4) == 0 {
			p.Cut()
			return
		}
		p.CutAfter(rng.Int64N(4000))
	})
	if cuts := a.Cuts() + b.Cuts(); cuts < faults(40)/3 {
		t.Errorf("only %d cuts", cuts)
	} else {
		t.Logf("%d cuts", cuts)
	}
}

// The network keeps all bytes back until calls give up, and refuses connections.
func TestRaceWithAStalledNetwork(t *testing.T) {
	t.Parallel()
	s := template.Start(t)
	p, address := through(t, s)
	r := newRace(t, address)
	r.run(s, faults(4), func(rng *rand.Rand) {
		p.Stall(true)
		p.Refuse(rng.IntN(3) == 0)
		r.awaitTrouble()
		p.Stall(false)
		p.Refuse(false)
	})
}

// The server is killed and started again.
func TestRaceWithAKilledServer(t *testing.T) {
	t.Parallel()
	s := template.Start(t, "fsync=on", "full_page_writes=on")
	newRace(t, s.Address()).run(s, faults(8), func(rng *rand.Rand) {
		if rng.IntN(5) == 0 {
			s.Stop()
		} else {
			s.Kill()
		}
		s.Start()
	})
}

// The server stops for so long that calls give up, and then goes on with what it was
// sent, long after its client has turned away.
func TestRaceWithAPausedServer(t *testing.T) {
	t.Parallel()
	s := template.Start(t)
	r := newRace(t, s.Address())
	r.run(s, faults(4), func(*rand.Rand) {
		s.Pause()
		r.awaitTrouble()
		s.Resume()
	})
}

// awaitTrouble waits until a call has given up.
func (r *race) awaitTrouble() {
	r.t.Helper()
	timeout := time.After(patience)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	count := func() int {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.unknown + r.refused
	}
	for before := count(); count() == before; {
		select {
		case <-tick.C:
		case <-timeout:
			r.t.Fatalf("calls hang for %v", patience)
		}
	}
}

// The server rolls transactions back, in the middle and while it commits, as databases
// do whose nodes cannot agree.
func TestRaceWithRolledBackTransactions(t *testing.T) {
	t.Parallel()
	s := template.Start(t)
	admin := open(t, s.Address())
	for _, statement := range []string{
		`CREATE FUNCTION trawl.fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			IF random() < 0.2 THEN RAISE EXCEPTION 'restart transaction' USING ERRCODE = '40001'; END IF;
			IF random() < 0.1 THEN RAISE EXCEPTION 'deadlock detected' USING ERRCODE = '40P01'; END IF;
			RETURN NEW; END $$`,
		`CREATE TRIGGER fail_soon BEFORE INSERT ON trawl.log FOR EACH ROW EXECUTE FUNCTION trawl.fail()`,
		`CREATE CONSTRAINT TRIGGER fail_late AFTER INSERT ON trawl.log DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION trawl.fail()`,
	} {
		if err := admin.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	r := newRace(t, s.Address())
	r.run(s, faults(30), func(*rand.Rand) {})
	if r.told > 0 {
		t.Errorf("%d outcomes are unknown, although the server told", r.told)
	}

	// It rolls all back for as long as a call tries, first when it inserts, then when it commits.
	head, err := admin.Log.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c := open(t, s.Address())
	c.SetPatience(racePatience)
	for _, statement := range []string{
		`CREATE OR REPLACE FUNCTION trawl.fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			RAISE EXCEPTION 'restart transaction' USING ERRCODE = '40001'; END $$`,
		`DROP TRIGGER fail_soon ON trawl.log`,
	} {
		if err := admin.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
		for slow := true; slow; { // an attempt that ran out of time leaves it open
			began := time.Now()
			err := c.Log.Append(t.Context(), head, newID(), nil)
			unknown := errors.Is(err, cluster.ErrUnknown)
			slow = unknown && time.Since(began) >= 3*racePatience
			if err == nil || unknown && !slow {
				t.Errorf("rolled back: %v, want an error that is not ErrUnknown", err)
			}
		}
	}
}

// Transactions are serializable, which other databases insist on, and nobody is told.
func TestRaceOfSerializableTransactions(t *testing.T) {
	s := template.Start(t)
	r := newRace(t, s.Address())
	r.options = func(o *postgres.Options) {
		o.Serializable()
		o.Silent()
	}
	r.run(s, faults(30), func(*rand.Rand) {})
}

// An attempt whose answer does not come has an unknown outcome if it was sent, and has
// changed nothing if it was not. It is made again with its ID, whatever came of it.
func TestUnknownOutcome(t *testing.T) {
	t.Parallel()
	s := template.Start(t)
	p, address := through(t, s)
	c := open(t, address)
	unknown := 0
	for version := cluster.Version(0); unknown < 5; version += 2 {
		c.SetPatience(patience)
		must(t, c, version, set("a", "1"))
		c.SetPatience(20 * time.Millisecond)
		id, writes := newID(), []cluster.Write{set("b", fmt.Sprint(version))}
		s.Pause()
		err := c.Log.Append(t.Context(), version+1, id, writes)
		s.Resume()
		c.SetPatience(patience)
		switch {
		case err == nil:
			t.Fatal("a paused server answers")
		case errors.Is(err, cluster.ErrUnknown):
			unknown++
			ended, end := context.WithCancel(t.Context())
			end() // nothing is sent, and nothing is known either
			if err := c.Log.Append(ended, version+1, id, writes); !errors.Is(err, cluster.ErrUnknown) {
				t.Errorf("again without an attempt: %v, want ErrUnknown", err)
			}
		default: // its connection had to be tested first, and nothing was sent
			if head, herr := c.Log.Head(t.Context()); head != version+1 || herr != nil {
				t.Fatalf("version %d was made: %v", head, err)
			}
		}
		if err := c.Log.Append(t.Context(), version+1, id, writes); err != nil {
			t.Fatal(err)
		}
		entries, err := c.Log.Tail(t.Context(), version+1, 1<<10)
		if err != nil || len(entries) != 1 || entries[0].ID != id {
			t.Fatalf("entries are %v, %v, want the one that was tried again", entries, err)
		}
	}

	head, err := c.Log.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c.SetPatience(20 * time.Millisecond)
	p.Refuse(true)
	p.Cut()
	c.DropConnections()
	if err := c.Log.Append(t.Context(), head, newID(), nil); err == nil || errors.Is(err, cluster.ErrUnknown) {
		t.Errorf("no connection: %v, want an error that is not ErrUnknown", err)
	}
}

// A node that stops while it sends a version keeps no other node from making it: what
// the server has not got whole it has not begun. Only between the last two messages,
// the second of which is 5 bytes long, the server has begun and waits for more.
func TestStoppedNodeHoldsNoLock(t *testing.T) {
	const endBytes = 5
	step := int64(4)
	if faults(0) > 0 {
		step = 1
	}
	s := template.Start(t)
	p, address := through(t, s)
	stopped, other := open(t, address, (*postgres.Options).Silent), open(t, s.Address()) // no notifications pass the proxy
	other.SetPatience(patience)
	for version, n, held := cluster.Version(0), int64(0), int64(0); ; n += step {
		stopped.SetPatience(patience)
		must(t, stopped, version, set("a", "1")) // its connection is there and knows the statement
		version++
		ctx, stop := context.WithCancel(t.Context())
		p.StallAfter(n)
		ended := make(chan error)
		go func() {
			ended <- stopped.Log.Append(ctx, version, newID(), []cluster.Write{set("a", strings.Repeat("x", 100))})
		}()
		p.AwaitStall(t)
		waited, cancel := context.WithTimeout(t.Context(), time.Second)
		id, writes := newID(), []cluster.Write{set("b", "1")}
		err := other.Log.Append(waited, version, id, writes)
		cancel()
		if errors.Is(err, cluster.ErrUnknown) {
			held += step
		}
		stop()
		first := <-ended
		p.Cut()
		p.Stall(false)
		if first == nil {
			t.Errorf("acknowledged with %d bytes", n)
		}
		for late := err; errors.Is(late, cluster.ErrUnknown); { // it may be made all the same
			late = other.Log.Append(t.Context(), version, id, writes)
		}
		var herr error
		if version, herr = other.Log.Head(t.Context()); herr != nil {
			t.Fatal(herr)
		}
		if errors.Is(err, cluster.ErrBeaten) { // the server has got all
			// What the proxy passes besides, as a request to cancel, moves the place, and a
			// machine that stands still looks like a lock. The whole message is far longer.
			if n < 100 || held > 8*endBytes {
				t.Errorf("of %d bytes up to %d held the lock", n, held)
			}
			t.Logf("of %d bytes up to %d held the lock", n, held)
			return
		}
	}
}
