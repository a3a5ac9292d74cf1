package backup

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/trawlsearch/trawl/store/object"
)

// PruneOptions say what is kept.
type PruneOptions struct {
	Keep Keep
	// DryRun deletes nothing.
	DryRun bool
	// Report is as in Options.
	Report func(Progress)
	// Now is the time, that of the clock if it is zero.
	Now time.Time

	timing timing
}

// Pruned is what Prune did, or would do.
type Pruned struct {
	Kept, Removed []Backup
	// Why names the rules that keep a backup, by ID.
	Why map[string][]string
	// Objects and Bytes are what was deleted of content.
	Objects int
	Bytes   int64
	// Busy says that a backup is being made, so that objects stay until the next
	// Prune.
	Busy bool
}

// Prune deletes the backups that no rule keeps, and then objects that no
// backup needs. It may run beside anything else, and be interrupted: an object
// is deleted only when all manifests that name it are gone.
func Prune(ctx context.Context, dest object.Store, o PruneOptions) (Pruned, error) {
	if o.timing == (timing{}) {
		o.timing = usualTiming()
	}
	if o.Report == nil {
		o.Report = func(Progress) {}
	}
	if o.Now.IsZero() {
		o.Now = time.Now()
	}
	out, err := prune(ctx, dest, o)
	if err != nil {
		return out, fmt.Errorf("prune %s: %w", dest, err)
	}
	return out, nil
}

func prune(ctx context.Context, dest object.Store, o PruneOptions) (out Pruned, err error) {
	if o.Keep == (Keep{}) {
		return out, errors.New("no rule says what to keep")
	}
	r, err := openRepository(ctx, dest, Keys{})
	if err != nil {
		return out, err
	}
	var l *lock
	if !o.DryRun {
		if l, err = takeLock(ctx, dest, lockPrune, o.timing); err != nil {
			return out, err
		}
		defer l.release(ctx)
	}
	// A backup that starts from here on waits. Manifests are listed after that.
	waiting := func() { o.Report(Progress{Phase: PhaseWatch}) }
	if out.Busy, err = anyAlive(ctx, dest, lockCreate, o.timing, waiting); err != nil {
		return out, err
	}
	all, err := listBackups(ctx, dest)
	if err != nil {
		return out, err
	}
	out.Why = o.Keep.Choose(all, o.Now)
	for _, b := range all {
		if out.Why[b.ID] != nil {
			out.Kept = append(out.Kept, b)
		} else {
			out.Removed = append(out.Removed, b)
		}
	}
	needed, err := r.needed(ctx, out.Kept)
	if err != nil {
		return out, err
	}
	if !o.DryRun {
		if err := forget(ctx, dest, out.Removed); err != nil {
			return out, err
		}
	}
	if out.Busy {
		return out, nil
	}
	return out, sweep(ctx, dest, l, needed, &out)
}

// needed returns the objects of backups. One whose manifest is damaged may need
// anything, so nothing can be deleted beside it.
func (r *repository) needed(ctx context.Context, all []Backup) (map[string]bool, error) {
	needed := map[string]bool{}
	for _, b := range all {
		// The head says it; reading it takes no key.
		m, err := r.manifest(ctx, b)
		if err != nil {
			return nil, fmt.Errorf("backup %s: %w", b.ID, err)
		}
		for _, o := range m.Objects {
			needed[objectPath(o.Name)] = true
		}
	}
	return needed, nil
}

// forget deletes manifests, for good before their objects go.
func forget(ctx context.Context, dest object.Store, removed []Backup) error {
	for _, b := range removed {
		if err := dest.Delete(ctx, b.name); err != nil {
			return err
		}
	}
	return dest.Sync(ctx)
}

// sweep deletes, or without a lock counts, the objects that are not needed.
func sweep(ctx context.Context, dest object.Store, l *lock, needed map[string]bool, out *Pruned) error {
	var unneeded []object.Info
	err := dest.List(ctx, objectsFolder, func(s object.Info) error {
		if !needed[s.Name] {
			unneeded = append(unneeded, s)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, s := range unneeded {
		if l != nil {
			if err := l.held(); err != nil {
				return err
			}
			if err := dest.Delete(ctx, s.Name); err != nil {
				return err
			}
		}
		out.Objects++
		out.Bytes += s.Size
	}
	if f, ok := dest.(*object.Folder); ok && l != nil {
		return f.Sweep(ctx, time.Now())
	}
	return nil
}
