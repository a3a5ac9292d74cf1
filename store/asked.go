package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/trawlsearch/trawl/store/engine"
	"github.com/trawlsearch/trawl/store/shard"
)

// ask asks other nodes to store again those of files that were not received.
func (x *exchange) ask(ctx context.Context, files []shard.File, received []shard.LocalFile) error {
	for _, f := range files {
		if slices.ContainsFunc(received, func(l shard.LocalFile) bool { return l.File == f }) {
			continue
		}
		if err := x.runs.Ask(ctx, f); err != nil {
			return fmt.Errorf("ask for the %v of shard %d: %w", f.Part, f.Shard, err)
		}
	}
	return nil
}

// answer stores again the runs that other nodes ask for, of which this one has a good
// copy.
func (x *exchange) answer(ctx context.Context) error {
	if x.runs == nil {
		return nil
	}
	asked, err := x.runs.Asked(ctx)
	if err != nil || len(asked) == 0 {
		return err
	}
	m := x.s.committer.versions.hold()
	defer x.s.committer.versions.release(m)
	var errs []error
	for _, f := range asked {
		if !m.catalogue.inService(f.Shard) {
			continue
		}
		for _, have := range m.catalogue.shard(f.Shard).Header.Files() {
			if f.Size = have.Size; have == f {
				errs = append(errs, x.storeAgain(ctx, m, f))
			}
		}
	}
	return errors.Join(errs...)
}

// storeAgain stores a run as m has it, unless that differs from what was stored, because
// another program wrote it or because it is damaged here as well.
func (x *exchange) storeAgain(ctx context.Context, m *version, f shard.File) (err error) {
	to := x.s.destination
	local, err := to.Export(ctx, m.snap, f.Shard, f.Part)
	if engine.IsDamage(err) {
		_, aside := x.s.SetAside(f.Shard, err, time.Now())
		return aside
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Discard(local)) }()
	if local.File != f {
		return nil
	}
	in, err := x.s.fs.Open(local.Path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	if _, err := x.runs.Put(ctx, f, in); err != nil {
		return err
	}
	x.s.options.Event(fmt.Sprintf("the %v of shard %d was stored again for another node", f.Part, f.Shard), nil)
	return x.runs.Answered(ctx, f)
}
