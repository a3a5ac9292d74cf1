package ingest

import (
	"context"
	"errors"
	"fmt"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/shard"
)

// Outdated are the shards whose index is of an older version than this program
// writes.
type Outdated struct {
	// Shards counts them, of All that there are.
	Shards, All int
	// TextBytes is the text in them.
	TextBytes int64
}

// CountOutdated counts what Rebuild has yet to do.
func CountOutdated(s *store.Store) Outdated {
	sn := s.Snapshot()
	defer sn.Close()
	var o Outdated
	for _, v := range sn.Shards() {
		o.All++
		if outdated(v) {
			o.Shards++
			o.TextBytes += v.Header.TextBytes
		}
	}
	return o
}

// outdated reports whether a shard is to be rewritten; quarantined ones are
// indexed anew instead.
func outdated(v shard.View) bool { return v.Header.Outdated() && v.Quarantine == nil }

// Rebuild rewrites the shards whose index is of an older version, one after the
// other, each switched in one commit while the old one is searched. Interrupted
// anywhere, the next call goes on. A shard that cannot be rewritten is part of
// the error and stops no other; a full disk does. It reports progress in phase
// "rebuild" and returns how many shards it replaced. report may be nil.
func (mr *Merger) Rebuild(ctx context.Context, report func(Progress)) (int, error) {
	if report == nil {
		report = func(Progress) {}
	}
	var errs []error
	replaced, tried := 0, map[uint32]bool{}
	for {
		var id uint32
		err := mr.changes.heal(ctx, func() (err error) {
			id, err = mr.rebuildOne(ctx, tried, report)
			return err
		})
		switch {
		case errors.Is(err, errOvertaken):
			delete(tried, id)
		case id == 0:
			return replaced, errors.Join(append(errs, err)...)
		case err == nil:
			replaced++
		default:
			err = fmt.Errorf("rewrite shard %d: %w", id, err)
			if errs = append(errs, err); hopeless(ctx, err) {
				return replaced, errors.Join(errs...)
			}
		}
	}
}

// hopeless reports whether no other shard would do better.
func hopeless(ctx context.Context, err error) bool {
	return ctx.Err() != nil || errors.Is(err, ErrLowDisk) || errors.Is(err, store.ErrDiskFull) || errors.Is(err, store.ErrBroken)
}

// rebuildOne rewrites a shard that was not tried and returns its number, 0 if
// there is none.
func (mr *Merger) rebuildOne(ctx context.Context, tried map[uint32]bool, report func(Progress)) (uint32, error) {
	leave, err := mr.changes.rewrite(ctx)
	if err != nil {
		return 0, err
	}
	defer leave()
	sn, err := mr.changes.begin()
	if err != nil {
		return 0, err
	}
	defer sn.Close()
	for _, v := range sn.Shards() {
		if !outdated(v) || tried[v.ID] {
			continue
		}
		tried[v.ID] = true
		m := &merging{merger: mr, sn: sn, phase: "rebuild", report: report, circles: newCircles(sn)}
		return v.ID, m.replace(ctx, []shard.View{v})
	}
	return 0, nil
}
