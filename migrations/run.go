package migrations

import (
	"context"
	"errors"
	"fmt"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/disk"
)

// Done is a step, taken or to be taken.
type Done struct {
	From, To store.FormatVersion
	About    string
	// Records counts those that were changed, or would be.
	Records int
}

// Run brings the store in dir to the newest format and returns the steps that it
// took, none for one that is there already or has yet to be made. Interrupted
// anywhere, the store is of one of the formats on the way, and Run goes on from
// there. It fails with store.ErrLocked when another process has the store open,
// and with a *store.FormatError when a newer program wrote it.
func Run(ctx context.Context, dir string, o store.Options) ([]Done, error) {
	o.ReadOnly = false
	return each(dir, o, func(old *store.Old, step Step, d *Done) error {
		err := step.Run(ctx, old, func(n int) { d.Records += n })
		if err == nil {
			err = old.Finish(d.To)
		}
		return err
	})
}

// Plan returns the steps that Run would take, and the shards of the store if
// there are any steps. It changes nothing.
func Plan(dir string, o store.Options) (steps []Done, shards store.OldShards, err error) {
	o.ReadOnly = true
	steps, err = each(dir, o, func(old *store.Old, step Step, d *Done) (err error) {
		if d.Records, err = step.Count(old); err == nil {
			shards, err = old.Shards()
		}
		return err
	})
	return steps, shards, err
}

// each calls f with the steps that lead to the newest format.
func each(dir string, o store.Options, f func(*store.Old, Step, *Done) error) (all []Done, err error) {
	if o.FS == nil {
		o.FS = disk.OS()
	}
	v, err := store.Format(o.FS, dir)
	if err != nil || v == 0 || v == store.FormatNewest {
		return nil, err
	}
	old, err := store.OpenOld(dir, o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, old.Close()) }()
	path, err := Path(old.Version())
	if err != nil {
		return nil, err
	}
	for _, step := range path {
		d := Done{From: step.From, To: step.From + 1, About: step.About}
		if err := f(old, step, &d); err != nil {
			return all, fmt.Errorf("migrate %q from format version %d to %d: %w", dir, d.From, d.To, err)
		}
		all = append(all, d)
	}
	return all, nil
}
