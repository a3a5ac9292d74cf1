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
	s    *Store
	log  cluster.Log
	runs Runs
	own  ownRuns
	// stop ends follow, followed is closed when it has ended.
	stop     context.CancelFunc
	followed chan struct{}
	// confirmed is when the directory was last known to be that of the last version.
	confirmed atomic.Pointer[time.Time]
	// asking holds a token while catchUpNow asks, so that others wait for its answer.
	asking chan struct{}

	// mu guards the order of versions. It is taken before Store.mu, and not held
	// when subscribers are told.
	mu sync.Mutex
	// numbers are those of shards that were reserved, from the first on.
	numbers struct{ next, end uint32 }
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

// join connects an open store with a log and brings it to the last version.
func (s *Store) join(log cluster.Log, runs Runs) error {
	ctx, stop := context.WithCancel(context.Background())
	a := &sharedAuthority{s: s, log: log, runs: runs, own: ownRuns{files: map[runKey]object.Content{}}, stop: stop, followed: make(chan struct{}), asking: make(chan struct{}, 1)}
	s.authority = a
	if err := a.begin(ctx); err != nil {
		stop()
		return err
	}
	go a.follow(ctx)
	return nil
}

// Confirmed returns when the store was last known to have the last version of the
// log that it shares with others. A store that shares none always has: ok is false
// then.
func (s *Store) Confirmed() (at time.Time, ok bool) {
	a, ok := s.authority.(*sharedAuthority)
	if !ok {
		return time.Time{}, false
	}
	return *a.confirmed.Load(), true
}

// catchUpTime bounds how long CatchUp waits for the log.
const catchUpTime = 2 * time.Second

// CatchUp has the store and its subscribers know all that other nodes changed before
// the call, so that no subscriber may call it. A store that shares no log always does.
// The error is ErrAway if the log does not answer.
func (s *Store) CatchUp(ctx context.Context) error {
	a, ok := s.authority.(*sharedAuthority)
	if !ok {
		return nil
	}
	within, cancel := context.WithTimeout(ctx, catchUpTime)
	defer cancel()
	err := a.catchUpNow(within, time.Now())
	if err == nil {
		err = s.told(within, func(Version) bool { return true })
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return fmt.Errorf("%w: %w", ErrAway, err)
}

// wasBehind reports whether there is a newer version than v, which other nodes may have
// made.
func (s *Store) wasBehind(v Version) bool {
	a, ok := s.authority.(*sharedAuthority)
	if !ok {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), catchUpTime)
	defer cancel()
	return a.catchUpNow(ctx, time.Now()) == nil && a.at() > cluster.Version(v)
}

// catchUpNow brings the store to the last version of a time. Calls that wait for each
// other share one look at the log.
func (a *sharedAuthority) catchUpNow(ctx context.Context, now time.Time) error {
	select {
	case a.asking <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	answered := func() { <-a.asking }
	if a.confirmed.Load().After(now) {
		answered()
		return nil
	}
	a.mu.Lock()
	defer a.release()
	defer answered() // before subscribers are told, which may ask
	_, err := a.read(ctx)
	return err
}

// begin finds out which version the directory has, and reads what is behind it.
func (a *sharedAuthority) begin(ctx context.Context) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	at, id, err := appliedVersion(a.s.engine.DB)
	if err != nil {
		return err
	}
	a.s.publish(at, a.s.catalogue)
	a.s.journal.forget(at)
	if at == 0 {
		if a.s.catalogue.repositories.Len()+a.s.catalogue.shards.Len() > 0 {
			return errors.New("the directory holds a store of its own, which no node shares: " +
				`"trawl cluster import" makes a cluster of it, and any other directory is filled from that`)
		}
		return a.fill(ctx)
	}
	switch last, err := a.log.Tail(ctx, cluster.Version(at-1), 1); {
	case errors.Is(err, cluster.ErrCut):
		return a.fill(ctx)
	case err != nil:
		return err
	case len(last) == 0 || last[0].ID != id:
		return fmt.Errorf("version %d of the log is not the one that this directory was made of: "+
			"the database is another, or was restored from a backup: remove the directory, and it is filled again", at)
	}
	_, err = a.read(ctx)
	return err
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
				a.s.options.Event("the log of versions can be read again", nil)
			}
			before = ""
			continue
		case err.Error() != before:
			before = err.Error()
			a.s.options.Event("the log of versions cannot be read", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(followRetry):
		}
	}
}

func (a *sharedAuthority) at() cluster.Version {
	a.s.mu.Lock()
	defer a.s.mu.Unlock()
	return cluster.Version(a.s.version)
}

// catchUp brings the store to the last version.
func (a *sharedAuthority) catchUp(ctx context.Context) error {
	a.mu.Lock()
	defer a.release()
	_, err := a.read(ctx)
	return err
}

// release releases mu, and tells subscribers of the versions that were made meanwhile:
// whoever made one does, and before it is done.
func (a *sharedAuthority) release() {
	a.s.mu.Lock()
	a.mu.Unlock()
	a.s.unlock()
}

// close stops following.
func (a *sharedAuthority) close() {
	a.stop()
	<-a.followed
}

// commit appends ops to the log and applies them. Whether an append that failed has
// reached the log is found out by trying it again: the second one is beaten by the
// first.
func (a *sharedAuthority) commit(base base, reads []keyRange, ops []operation) error {
	if err := a.own.name(ops); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), sharedTimeout)
	defer cancel()
	a.mu.Lock()
	defer a.release()
	var id cluster.ID
	_, _ = rand.Read(id[:]) // which never fails
	// unknown says that an append behind the last version may have been made.
	unknown := false
	for {
		at, all, err := a.check(base, reads, ops)
		if err != nil {
			return outcome(unknown, err)
		}
		writes, err := encodeOperations(all)
		if err != nil {
			return outcome(unknown, err)
		}
		err = a.log.Append(ctx, cluster.Version(at), id, writes)
		switch {
		case err == nil:
			return outcome(true, a.apply(at+1, id, all))
		case errors.Is(err, cluster.ErrUnknown):
			unknown = true
		case !errors.Is(err, cluster.ErrBeaten):
			return outcome(unknown, fmt.Errorf("%w: %w", ErrAway, err))
		}
		read, readErr := a.read(ctx)
		if slices.Contains(read, id) {
			return nil
		}
		if len(read) > 0 {
			unknown = false // another made the version
		}
		switch {
		case ctx.Err() != nil || readErr != nil && !unknown:
			return outcome(unknown, cmp.Or(readErr, err))
		case readErr != nil:
			time.Sleep(appendRetry)
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

// check fails with ErrConflict when what was read has changed, and returns the
// version to append to and all that is to be appended.
func (a *sharedAuthority) check(base base, reads []keyRange, ops []operation) (at Version, all []operation, err error) {
	s := a.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.writable(); err != nil {
		return 0, nil, err
	}
	return s.version, s.withUnwanted(ops), s.conflict(base, reads, ops)
}

// read applies what is behind the version of the store, and returns the IDs of the
// changes.
func (a *sharedAuthority) read(ctx context.Context) (ids []cluster.ID, err error) {
	for {
		start, at := time.Now(), a.at()
		entries, err := a.log.Tail(ctx, at, tailBytes)
		if errors.Is(err, cluster.ErrCut) {
			return ids, a.fill(ctx)
		}
		if err != nil {
			return ids, err
		}
		if len(entries) == 0 {
			a.confirmed.Store(&start)
			return ids, nil
		}
		for _, e := range entries {
			if at++; e.Version != at {
				return ids, fmt.Errorf("version %d of the log is missing: %w", at, ErrCorrupt)
			}
			ops, err := decodeOperations(e.Writes)
			if err != nil {
				return ids, fmt.Errorf("version %d of the log: %w", at, err)
			}
			if err := a.fetch(ctx, ops); errors.As(err, new(*object.DamagedError)) {
				// It may be gone since a later version does without it.
				return ids, a.fill(ctx)
			} else if err != nil {
				return ids, err
			}
			if err := a.apply(Version(at), e.ID, ops); err != nil {
				return ids, err
			}
			ids = append(ids, e.ID)
		}
	}
}

// apply makes the version v of the store, as it is in the log.
func (a *sharedAuthority) apply(v Version, id cluster.ID, ops []operation) error {
	s := a.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.writable(); err != nil {
		return err
	}
	if err := s.install(v, append(slices.Clip(ops), valueOperation{keyApplied, encodeApplied(v, id)})); err != nil {
		return err
	}
	a.own.committed(ops)
	return nil
}

// found begins a log that has no version. Another node may be first.
func (a *sharedAuthority) found(ctx context.Context) error {
	var id cluster.ID
	_, _ = rand.Read(id[:]) // which never fails
	err := a.log.Append(ctx, 0, id, []cluster.Write{newCluster()})
	if errors.Is(err, cluster.ErrBeaten) {
		return nil
	}
	return err
}

// newCluster returns the record that tells a log from all others.
func newCluster() cluster.Write {
	var name cluster.ID
	_, _ = rand.Read(name[:]) // which never fails
	return cluster.Write{Key: keyCluster, Value: name[:]}
}

// fill makes the store the last version of the log from all its records, whatever it
// was before. A log without a version is begun. What only this directory has, stays.
func (a *sharedAuthority) fill(ctx context.Context) error {
	start := time.Now()
	head, err := a.log.Head(ctx)
	if err == nil && head == 0 {
		err = a.found(ctx)
	}
	if err != nil {
		return err
	}
	s := a.s
	e := s.versions.enter()
	defer s.versions.leave(e)
	b := &batch{Batch: e.DB.NewBatch()}
	defer b.Close()
	at, lacked, err := a.difference(ctx, e.DB, b)
	if err == nil {
		err = a.take(ctx, lacked)
	}
	if err != nil {
		return err
	}
	last, err := a.log.Tail(ctx, at-1, 1)
	if err != nil {
		return err
	}
	if len(last) == 0 || last[0].Version != at {
		return fmt.Errorf("version %d of the log is missing: %w", at, ErrCorrupt)
	}
	b.set(keyApplied, encodeApplied(Version(at), last[0].ID))
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.writable(); err != nil {
		return err
	}
	if e != s.engine {
		return fmt.Errorf("%w: the store was opened again while it was filled", ErrBroken)
	}
	if b.err != nil {
		return b.err
	}
	if err := e.Do(func() error { return b.Commit(pebble.Sync) }); err != nil {
		return err
	}
	c, err := load(e.DB)
	if err != nil {
		return err
	}
	before := s.catalogue
	s.publish(Version(at), c)
	s.journal.forget(Version(at))
	s.announce(reopened(s.version, before, c))
	a.confirmed.Store(&start)
	return nil
}

// difference puts into b what makes the records of the directory those of the log,
// and returns the version of these and the runs that the directory lacks. Both are
// read in the order of their keys.
func (a *sharedAuthority) difference(ctx context.Context, db pebble.Reader, b *batch) (at cluster.Version, lacked []shard.File, err error) {
	it, err := db.NewIter(&pebble.IterOptions{UpperBound: []byte{shard.Prefix}})
	if err != nil {
		return 0, nil, err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	more := it.First()
	// behind deletes the records before key that the log does not have.
	behind := func(key []byte) error {
		for ; more && (key == nil || bytes.Compare(it.Key(), key) < 0); more = it.Next() {
			if !isShared(it.Key()) {
				continue
			}
			op, err := decodeOperation(slices.Clone(it.Key()), nil)
			if err != nil {
				return err
			}
			b.putOperations([]operation{op})
		}
		return nil
	}
	at, err = a.log.Records(ctx, func(key, value []byte) error {
		if bytes.Equal(key, keyImporting) {
			return fmt.Errorf("%w: %s: wait until that ends, and repeat it if it was interrupted", ErrImporting, value)
		}
		if err := behind(key); err != nil {
			return err
		}
		var old []byte
		if more && bytes.Equal(it.Key(), key) {
			found, err := it.ValueAndErr()
			if err != nil {
				return err
			}
			old = slices.Clone(found)
			if more = it.Next(); bytes.Equal(old, value) {
				return nil
			}
			if bytes.Equal(key, keyCluster) {
				return errors.New("the database is that of another cluster: remove the directory, and it is filled from this one")
			}
		}
		if key[0] == prefixHeader {
			id, err := recordID(key, prefixHeader)
			if err != nil {
				return err
			}
			files, err := a.lackedRecord(b, id, old, value)
			if err != nil {
				return err
			}
			lacked = append(lacked, files...)
		}
		b.set(key, value)
		return nil
	})
	if err != nil {
		return 0, nil, err
	}
	return at, lacked, behind(nil)
}

// number reserves numbers of shards, some at once.
func (a *sharedAuthority) number() (uint32, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if n := &a.numbers; n.next == n.end {
		ctx, cancel := context.WithTimeout(context.Background(), sharedTimeout)
		defer cancel()
		first, err := a.log.Reserve(ctx, reservedNumbers)
		if err != nil {
			return 0, fmt.Errorf("reserve numbers of shards: %w", err)
		}
		n.next, n.end = first, first+reservedNumbers
	}
	a.numbers.next++
	return a.numbers.next - 1, nil
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
