package runs

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/store/object"
	"github.com/trawlsearch/trawl/store/shard"
)

const (
	unnamedAfter = 24 * time.Hour
	droppedAfter = time.Hour
	clockPrefix  = "clock-"
	// unnamedName is the object that says since when runs are unnamed, and unnamedBytes
	// bounds it, at a hundred bytes a run.
	unnamedName  = folder + "/unnamed"
	unnamedBytes = 256 << 20
)

// SweepOptions say what is swept.
type SweepOptions struct {
	// UnnamedAfter is the age at which an object goes that no record names: a run is
	// committed within that time, or stored again before. DroppedAfter is for how long no
	// record must have named it: a node that fills itself, or is behind, has time to fetch
	// what its version needs. 0 are a day and an hour.
	UnnamedAfter, DroppedAfter time.Duration
}

// Swept is what was deleted.
type Swept struct {
	Objects int
	Bytes   int64
}

// Sweep is SweepAfter with the usual times.
func (r *Runs) Sweep(ctx context.Context, named func(context.Context) ([]shard.File, error)) (objects int, bytes int64, err error) {
	out, err := r.SweepAfter(ctx, SweepOptions{}, named)
	return out.Objects, out.Bytes, err
}

// SweepAfter deletes runs that no record names, and what interrupted uploads left. named
// returns what the records name, and is called once the objects were listed: a run that
// is named later is younger than UnnamedAfter. Since when a run has not been named is
// kept in an object beside the runs, so that another node knows it, and all times are by
// the clock of the store. Where that object is missing or damaged the time begins anew.
//
// Several nodes may sweep at once: the object is that of one of them then, and runs
// stay for longer. A node that is behind for longer than DroppedAfter misses runs of
// versions that are past; it goes on without them.
func (r *Runs) SweepAfter(ctx context.Context, o SweepOptions, named func(context.Context) ([]shard.File, error)) (out Swept, err error) {
	all, now, err := r.list(ctx)
	if err != nil {
		return out, err
	}
	files, err := named(ctx)
	if err != nil {
		return out, err
	}
	names := make(map[string]bool, len(files))
	for _, f := range files {
		names[Name(f)] = true
	}
	since, err := r.unnamed(ctx, all, names, now)
	if err != nil {
		return out, err
	}
	for _, it := range all {
		if !o.takes(it, now, since) {
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

// unnamed returns since when each of the runs that are not among names has been so, and
// stores that if it is new.
func (r *Runs) unnamed(ctx context.Context, all []object.Info, names map[string]bool, now time.Time) (map[string]time.Time, error) {
	before := map[string]time.Time{}
	data, err := r.objects.Get(ctx, unnamedName, unnamedBytes)
	switch {
	case err == nil:
		if json.Unmarshal(data, &before) != nil {
			clear(before)
		}
	case !errors.Is(err, os.ErrNotExist):
		return nil, err
	}
	since := map[string]time.Time{}
	for _, it := range all {
		if _, ok := Parse(it.Name); !ok || names[it.Name] {
			continue
		}
		since[it.Name] = now
		if at, ok := before[it.Name]; ok && at.Before(now) {
			since[it.Name] = at
		}
	}
	if maps.EqualFunc(since, before, time.Time.Equal) {
		return since, nil
	}
	if data, err = json.Marshal(since); err != nil {
		return nil, err
	}
	return since, r.objects.Put(ctx, unnamedName, data)
}

// takes reports whether an object goes.
func (o SweepOptions) takes(it object.Info, now time.Time, since map[string]time.Time) bool {
	age := now.Sub(it.Changed)
	old := age >= cmp.Or(o.UnnamedAfter, unnamedAfter)
	if strings.HasPrefix(path.Base(it.Name), clockPrefix) || strings.HasPrefix(it.Name, askedFolder+"/") {
		return old // a sweep was interrupted, or nobody has what was asked for
	}
	at, unnamed := since[it.Name]
	return unnamed && old && now.Sub(at) >= cmp.Or(o.DroppedAfter, droppedAfter)
}

// list returns all objects, and the time by the clock of the store.
func (r *Runs) list(ctx context.Context) (all []object.Info, now time.Time, err error) {
	clock := path.Join(folder, clockPrefix+strings.ToLower(rand.Text()))
	if err := r.objects.Put(ctx, clock, []byte("now")); err != nil {
		return nil, now, err
	}
	for _, in := range []string{folder, askedFolder} {
		err = errors.Join(err, r.objects.List(ctx, in, func(it object.Info) error {
			if it.Name == clock {
				now = it.Changed
			} else {
				all = append(all, it)
			}
			return nil
		}))
	}
	if err == nil && now.IsZero() {
		err = fmt.Errorf("sweep %s: the list lacks what was just stored", r.objects)
	}
	if derr := r.objects.Delete(ctx, clock); err == nil {
		err = derr
	}
	return all, now, err
}
