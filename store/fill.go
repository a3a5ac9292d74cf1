package store

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/trawlsearch/trawl/store/cluster"
	"github.com/trawlsearch/trawl/store/engine"
	"github.com/trawlsearch/trawl/store/shard"
)

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
	e := s.committer.versions.enter()
	defer s.committer.versions.leave(e)
	b := &batch{Batch: e.DB.NewBatch()}
	defer b.Close()
	at, of, lacked, err := a.difference(ctx, e, b)
	if err == nil {
		err = a.exchange.belong(ctx, of)
	}
	if err != nil {
		return err
	}
	if len(lacked) > 0 {
		return &lackingError{version: Version(at), files: lacked}
	}
	last, err := a.log.Tail(ctx, at-1, 1)
	if err != nil {
		return err
	}
	if len(last) == 0 || last[0].Version != at {
		return fmt.Errorf("version %d of the log is missing: %w", at, ErrCorrupt)
	}
	b.set(keyApplied, encodeApplied(Version(at), last[0].ID))
	c, err := s.committer.refill(Version(at), e, b)
	if err != nil {
		return err
	}
	a.confirmed.Store(&start)
	a.refetch.note(c)
	if left := a.exchange.arrivals.filled(c); len(left) > 0 {
		return s.committer.commitHere(left)
	}
	return nil
}

// owner is what the records of a log say of the runs that are stored.
type owner struct {
	// cluster is the name of the cluster.
	cluster []byte
	// shards says that there are some.
	shards bool
}

// belong fails if the runs are not those of the cluster.
func (x *exchange) belong(ctx context.Context, o owner) error {
	if x.runs == nil {
		return nil
	}
	return x.runs.Belong(ctx, o.cluster, !o.shards)
}

// owner returns that of the records of the directory.
func (x *exchange) owner() (o owner, err error) {
	m := x.s.committer.versions.hold()
	defer x.s.committer.versions.release(m)
	o.shards = m.catalogue.byNumber.Len() > 0
	_, err = engine.Get(m.snap, keyCluster, func(value []byte) error {
		o.cluster = bytes.Clone(value)
		return nil
	})
	return o, err
}

// difference puts into b what makes the records of the directory those of the log,
// and returns the version of these, whose runs there are, and those that are to be
// fetched. Both are read in the order of their keys.
func (a *sharedAuthority) difference(ctx context.Context, in *database, b *batch) (at cluster.Version, of owner, lacked []shard.File, err error) {
	it, err := in.DB.NewIter(&pebble.IterOptions{UpperBound: []byte{shard.Prefix}})
	if err != nil {
		return 0, of, nil, err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	more := it.First()
	// behind deletes the records before key that the log does not have.
	behind := func(key []byte) error {
		for ; more && (key == nil || bytes.Compare(it.Key(), key) < 0); more = it.Next() {
			if !isShared(it.Key()) {
				continue
			}
			key := slices.Clone(it.Key())
			if op, err := decodeOperation(key, nil); err == nil {
				b.putOperations([]operation{op})
			} else {
				b.delete(key) // it is damaged
			}
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
		if bytes.Equal(key, keyCluster) {
			of.cluster = bytes.Clone(value)
		}
		of.shards = of.shards || key[0] == prefixHeader
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
			files, h, err := a.exchange.lackedRecord(in, id, old, value)
			if err != nil {
				return err
			}
			lacked = append(lacked, files...)
			b.putOperations(a.exchange.quarantines([]operation{headerOperation{id, h}}))
		}
		b.set(key, value)
		return nil
	})
	if err != nil {
		return 0, of, nil, err
	}
	return at, of, lacked, behind(nil)
}
