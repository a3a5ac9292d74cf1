package runs

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/store/object"
)

// The usual times of a Sweep.
const (
	unnamedAfter = 24 * time.Hour
	droppedAfter = time.Hour
	clockPrefix  = "clock-"
)

// Needs are what keeps objects from being swept.
type Needs struct {
	// Named has the names that a record has, or that a reader still needs.
	Named map[string]bool
	// Dropped says of names that records had how long ago they were dropped.
	Dropped map[string]time.Duration
}

// SweepOptions say what is swept.
type SweepOptions struct {
	// UnnamedAfter is the age at which an object goes that no record ever named, and
	// DroppedAfter how long one stays that was dropped; 0 are a day and an hour.
	UnnamedAfter, DroppedAfter time.Duration
}

// Swept is what was deleted.
type Swept struct {
	Objects int
	Bytes   int64
}

// Sweep deletes objects that nothing needs, and what interrupted uploads left. Ages are
// by the clock of the store alone. needs is called once the objects were listed, so
// that it knows all names that were committed by then; an object that is named later
// is younger than UnnamedAfter. Several nodes may sweep at once.
func (r *Runs) Sweep(ctx context.Context, o SweepOptions, needs func(context.Context) (Needs, error)) (out Swept, err error) {
	all, now, err := r.list(ctx)
	if err != nil {
		return out, err
	}
	n, err := needs(ctx)
	if err != nil {
		return out, err
	}
	for _, it := range all {
		if !o.takes(it, now.Sub(it.Changed), n) {
			continue
		}
		if err := r.objects.Delete(ctx, it.Name); err != nil {
			return out, err
		}
		out.Objects++
		out.Bytes += it.Size
	}
	if err := r.objects.Sync(ctx); err != nil {
		return out, err
	}
	return out, r.objects.Sweep(ctx, now)
}

// takes reports whether an object goes.
func (o SweepOptions) takes(it object.Info, age time.Duration, n Needs) bool {
	unnamed, dropped := cmp.Or(o.UnnamedAfter, unnamedAfter), cmp.Or(o.DroppedAfter, droppedAfter)
	if strings.HasPrefix(path.Base(it.Name), clockPrefix) {
		return age >= unnamed // a sweep was interrupted
	}
	if _, ok := Parse(it.Name); !ok || n.Named[it.Name] {
		return false
	}
	if since, ok := n.Dropped[it.Name]; ok {
		return min(since, age) >= dropped
	}
	return age >= unnamed
}

// list returns all objects, and the time by the clock of the store.
func (r *Runs) list(ctx context.Context) (all []object.Info, now time.Time, err error) {
	clock := path.Join(folder, clockPrefix+strings.ToLower(rand.Text()))
	if err := r.objects.Put(ctx, clock, []byte("now")); err != nil {
		return nil, now, err
	}
	err = r.objects.List(ctx, folder, func(it object.Info) error {
		if it.Name == clock {
			now = it.Changed
		} else {
			all = append(all, it)
		}
		return nil
	})
	if err == nil && now.IsZero() {
		err = fmt.Errorf("sweep %s: the list lacks what was just stored", r.objects)
	}
	if derr := r.objects.Delete(ctx, clock); err == nil {
		err = derr
	}
	return all, now, err
}
