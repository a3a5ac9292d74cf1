package store

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/trawlsearch/trawl/store/cluster"
	"github.com/trawlsearch/trawl/store/engine"
	"github.com/trawlsearch/trawl/store/object"
	"github.com/trawlsearch/trawl/store/shard"
)

// sharedAuthority is the authority of a store that follows a log, which other nodes
// write as well. A change is made in the log first and in the data directory then,
// in one batch with the version, so that the directory is always that of a version.
type sharedAuthority struct {
	s   *Store
	log cluster.Log
	// exchange has the runs that versions need, and refetch brings quarantined shards back.
	exchange *exchange
	refetch  *refetcher
	// stop ends follow and keepConfirmed; followed and kept are closed when they have
	// ended.
	stop           context.CancelFunc
	followed, kept chan struct{}
	// confirmed is when the directory was last known to be that of the last version, or
	// to lack nothing but documents.
	confirmed atomic.Pointer[time.Time]
	// asking holds a token while confirmNow asks, so that others wait for its answer.
	asking chan struct{}

	// mu guards the order of versions. It is taken before the committer's, and not held
	// when subscribers are told, nor while runs are fetched.
	mu sync.Mutex
	// attempts are the changes of this node that are not decided yet, guarded by mu.
	attempts map[*attempt]bool
	// documents is a version up to which those behind that of the store bring nothing
	// but documents, guarded by mu. It may be that of the store or an older one.
	documents cluster.Version

	// numbers are those of shards that were reserved, from the first on.
	numbers struct {
		sync.Mutex // guards both
		next, end  uint32
	}
}

// attempt is a change of this node on its way into the log.
type attempt struct {
	id cluster.ID
	// base is the version that it was appended behind last.
	base Version
	// unknown says that an append behind base may have been made.
	unknown bool
	// made is the version that it became, 0 if it did not.
	made Version
}

const (
	// sharedTimeout bounds how long a change waits for the log.
	sharedTimeout = 15 * time.Second
	// tailBytes is how much of the log is read at once.
	tailBytes = 8 << 20
	// reservedNumbers is how many numbers of shards are reserved at once.
	reservedNumbers = 64
	// followRetry is how long follow waits after an error, and appendRetry a change that
	// may have been made.
	followRetry = 500 * time.Millisecond
	appendRetry = 50 * time.Millisecond
)

// join connects an open store with its log and brings it to the last version.
func join(s *Store) error {
	ctx, stop := context.WithCancel(context.Background())
	a := &sharedAuthority{
		s: s, log: s.options.Log, exchange: newExchange(s), attempts: map[*attempt]bool{},
		stop: stop, followed: make(chan struct{}), kept: make(chan struct{}), asking: make(chan struct{}, 1),
	}
	a.refetch = newRefetcher(a)
	s.authority, s.node = a, Node{a}
	s.destination.Number, s.destination.Written = a.number, a.exchange.written
	if err := a.begin(ctx); err != nil {
		stop()
		return err
	}
	go a.follow(ctx)
	go a.keepConfirmed(ctx)
	go a.refetch.run(ctx)
	return nil
}

// begin finds out which version the directory has, and reads what is behind it. Where
// small records of the directory are damaged it is filled again.
func (a *sharedAuthority) begin(ctx context.Context) error {
	at, id, c, err := a.s.committer.follow()
	if err != nil {
		return err
	}
	if at == 0 && c.byID.Len()+c.byNumber.Len() > 0 {
		return errors.New("the directory holds a store of its own, which no node shares: " +
			`"trawl cluster import" makes a cluster of it, and any other directory is filled from that`)
	}
	fill := at == 0 || c.hasDamagedRecords()
	if at > 0 {
		switch last, err := a.log.Tail(ctx, cluster.Version(at-1), 1); {
		case errors.Is(err, cluster.ErrCut):
			fill = true
		case err != nil:
			return err
		case len(last) == 0 || last[0].ID != id:
			return fmt.Errorf("version %d of the log is not the one that this directory was made of: "+
				"the database is another, or was restored from a backup: remove the directory, and it is filled again", at)
		}
	}
	if fill {
		return a.fetching(ctx, a.fill)
	}
	of, err := a.exchange.owner()
	if err != nil {
		return err
	}
	if err := a.exchange.belong(ctx, of); errors.Is(err, object.ErrNotOwned) {
		return err
	} else if err != nil {
		a.s.options.Event("the objects of the cluster cannot be reached", err)
	}
	return a.fetching(ctx, a.read)
}

// fetching calls f, which makes versions, and fetches the runs that it lacks until it
// lacks none.
func (a *sharedAuthority) fetching(ctx context.Context, f func(context.Context) error) error {
	for {
		a.mu.Lock()
		err := f(ctx)
		a.release()
		lacking := (*lackingError)(nil)
		if !errors.As(err, &lacking) {
			return err
		}
		if lacking.why = a.exchange.arrive(ctx, lacking.files); lacking.why != nil {
			return lacking
		}
	}
}

// follow applies what others append, until ctx ends.
func (a *sharedAuthority) follow(ctx context.Context) {
	defer close(a.followed)
	var before string
	for ctx.Err() == nil {
		err := a.catchUp(ctx)
		if err == nil {
			err = a.log.Wait(ctx, a.at())
		}
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			if before != "" {
				a.s.options.Event("the log of versions is followed again", nil)
			}
			before = ""
			continue
		case err.Error() != before:
			before = err.Error()
			message := "the log of versions cannot be read"
			if errors.As(err, new(*lackingError)) {
				message = fmt.Sprintf("the runs of the next version cannot be fetched, this node stays at version %d", a.at())
			}
			a.s.options.Event(message, err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(followRetry):
		}
	}
}

func (a *sharedAuthority) at() cluster.Version { return cluster.Version(a.s.committer.at()) }

// catchUp brings the store to the last version.
func (a *sharedAuthority) catchUp(ctx context.Context) error {
	return a.fetching(ctx, a.read)
}

// release releases mu, and tells subscribers of the versions that were made meanwhile.
func (a *sharedAuthority) release() {
	deliver := a.s.committer.take()
	a.mu.Unlock()
	deliver()
}

// close stops following and fetching.
func (a *sharedAuthority) close() {
	a.stop()
	<-a.followed
	<-a.refetch.ended
	<-a.kept
}

// commit appends ops to the log and applies them. Whether an append that failed has
// reached the log is found out by trying it again: the second one is beaten by the
// first.
func (a *sharedAuthority) commit(base base, reads []keyRange, ops []operation) error {
	if err := a.exchange.own.name(ops); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), sharedTimeout)
	defer cancel()
	t := &attempt{}
	_, _ = rand.Read(t.id[:]) // which never fails
	if err := a.decide(ctx, t, base, reads, ops); err != nil {
		return err
	}
	// Another goroutine may be telling subscribers of it.
	return a.s.committer.deliveries.told(context.WithoutCancel(ctx), func(v Version) bool { return v == t.made })
}

// decide has t made, unless what it read has changed. What it does not find out in time
// is for outcome.
func (a *sharedAuthority) decide(ctx context.Context, t *attempt, base base, reads []keyRange, ops []operation) error {
	a.mu.Lock()
	defer a.release()
	a.attempts[t] = true
	defer delete(a.attempts, t)
	for {
		at, all, err := a.s.committer.check(base, reads, ops)
		if err != nil {
			return outcome(t.unknown, err)
		}
		writes, err := encodeOperations(all)
		if err != nil {
			return outcome(t.unknown, err)
		}
		t.base = at
		err = a.log.Append(ctx, cluster.Version(at), t.id, writes)
		switch {
		case err == nil:
			return outcome(true, a.apply(at+1, t.id, all))
		case errors.Is(err, cluster.ErrUnknown):
			t.unknown = true
		case !errors.Is(err, cluster.ErrBeaten):
			return outcome(t.unknown, fmt.Errorf("%w: %w", ErrAway, err))
		}
		readErr := a.readOn(ctx)
		switch {
		case t.made > 0:
			return nil
		case ctx.Err() != nil || readErr != nil && !t.unknown:
			return outcome(t.unknown, cmp.Or(readErr, err))
		case readErr != nil:
			time.Sleep(appendRetry)
		}
	}
}

// readOn is read, and lets go of mu while it waits for runs that follow fetches: a
// change gives up sooner than a large run may take.
func (a *sharedAuthority) readOn(ctx context.Context) error {
	for {
		ended, why := a.exchange.arrivals.attempt()
		err := a.read(ctx)
		lacking := (*lackingError)(nil)
		if !errors.As(err, &lacking) {
			return err
		}
		lacking.why = why
		a.release()
		select {
		case <-ended:
		case <-ctx.Done():
		}
		a.mu.Lock()
		if ctx.Err() != nil {
			return err
		}
	}
}

// outcome is the error of a change of which it is not known whether it was made, or is
// known, but not here yet. It matches none that says that nothing was changed.
func outcome(unknown bool, err error) error {
	if err == nil || !unknown {
		return err
	}
	return fmt.Errorf("%w: the change may have been made: %v", ErrBroken, err)
}

// change is an entry of the log.
type change struct {
	version Version
	id      cluster.ID
	ops     []operation
}

// read applies what is behind the version of the store. It fails with a *lackingError
// in front of a version that needs runs which have not arrived.
func (a *sharedAuthority) read(ctx context.Context) error {
	for {
		start, at := time.Now(), a.at()
		entries, err := a.log.Tail(ctx, at, tailBytes)
		if errors.Is(err, cluster.ErrCut) {
			return a.fill(ctx)
		}
		if err != nil {
			return err
		}
		if len(entries) == 0 {
			a.confirmed.Store(&start)
			return nil
		}
		changes, err := decodeEntries(at, entries)
		for i, e := range changes {
			if files := a.exchange.ahead(changes[i:]); len(files) > 0 {
				return &lackingError{version: e.version, files: files}
			}
			if err := a.apply(e.version, e.id, e.ops); err != nil {
				return err
			}
		}
		if err != nil {
			return err
		}
	}
}

// decodeEntries returns the changes behind a version, up to one that is damaged.
func decodeEntries(at cluster.Version, entries []cluster.Entry) (out []change, err error) {
	for _, e := range entries {
		if at++; e.Version != at {
			return out, fmt.Errorf("version %d of the log is missing: %w", at, ErrCorrupt)
		}
		ops, err := decodeOperations(e.Writes)
		if err != nil {
			return out, fmt.Errorf("version %d of the log: %w", at, err)
		}
		out = append(out, change{Version(at), e.ID, ops})
	}
	return out, nil
}

// apply makes the version v of the store, as it is in the log.
func (a *sharedAuthority) apply(v Version, id cluster.ID, ops []operation) error {
	c, err := a.s.committer.apply(v, slices.Concat(ops, a.exchange.quarantines(ops), []operation{valueOperation{keyApplied, encodeApplied(v, id)}}))
	if err != nil {
		return err
	}
	a.exchange.applied(ops)
	a.refetch.note(c)
	for t := range a.attempts {
		if t.id == id {
			t.made = v
		} else if v == t.base+1 {
			t.unknown = false // another node made the version
		}
	}
	return nil
}

// number reserves numbers of shards, some at once.
func (a *sharedAuthority) number() (uint32, error) {
	n := &a.numbers
	n.Lock()
	defer n.Unlock()
	if n.next == n.end {
		ctx, cancel := context.WithTimeout(context.Background(), sharedTimeout)
		defer cancel()
		first, err := a.log.Reserve(ctx, reservedNumbers)
		if err != nil {
			return 0, fmt.Errorf("reserve numbers of shards: %w", err)
		}
		n.next, n.end = first, first+reservedNumbers
	}
	n.next++
	return n.next - 1, nil
}

// isShared reports whether a record is one of the log: those of quarantined shards
// and of the version are a directory's own.
func isShared(key []byte) bool {
	return key[0] != prefixAside && key[0] != shard.Prefix && !bytes.Equal(key, keyApplied)
}

// The record keyApplied is
//
//	version(8) id(16)
//
// of the last entry of the log that the directory has.
func encodeApplied(v Version, id cluster.ID) []byte {
	return append(binary.BigEndian.AppendUint64(nil, uint64(v)), id[:]...)
}

// appliedVersion returns the version of the log that the directory has, 0 for none.
func appliedVersion(db pebble.Reader) (v Version, id cluster.ID, err error) {
	_, err = engine.Get(db, keyApplied, func(value []byte) error {
		if len(value) != 8+len(id) {
			return fmt.Errorf("version of the directory: %w", ErrCorrupt)
		}
		v = Version(binary.BigEndian.Uint64(value))
		copy(id[:], value[8:])
		return nil
	})
	return v, id, err
}
