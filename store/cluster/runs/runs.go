package runs

import (
	"cmp"
	"context"
	"errors"
	"io"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/trawlsearch/trawl/store/object"
	"github.com/trawlsearch/trawl/store/shard"
)

// fetchesAtOnce bounds the runs that a node fetches side by side, and so the files that
// it has which are not taken in yet. What they hold in memory is bounded by the store
// of objects.
const fetchesAtOnce = 3

// Runs are the runs of a cluster. They are safe for concurrent use.
type Runs struct{ objects object.Store }

// New returns the runs that are in a store of objects.
func New(objects object.Store) *Runs { return &Runs{objects} }

// Put stores a run and returns its name, once it survives a power failure. It replaces
// what is there under that name, which may be damaged. A run that no record names
// within a day is swept, so what took longer to commit is stored again before.
func (r *Runs) Put(ctx context.Context, f shard.File, from io.ReaderAt) (name string, err error) {
	name = Name(f)
	if err := r.objects.Upload(ctx, name, from, f.Content); err != nil {
		return "", err
	}
	return name, r.objects.Sync(ctx)
}

// Stored returns a function that reports whether a run is there, as of now. What is
// there survives a power failure; whether it is sound shows when it is fetched.
func (r *Runs) Stored(ctx context.Context) (func(shard.File) bool, error) {
	all, _, err := r.list(ctx)
	if err == nil {
		err = r.objects.Sync(ctx)
	}
	if err != nil {
		return nil, err
	}
	sizes := make(map[string]int64, len(all))
	for _, it := range all {
		sizes[it.Name] = it.Size
	}
	return func(f shard.File) bool {
		size, found := sizes[Name(f)]
		return found && size == f.Size
	}, nil
}

// Fetch calls take with each wanted run, for a few at a time, from goroutines. fill
// writes the run to a file; shard.Destination.Import is what uses it. A run that is
// missing or damaged keeps no other from being taken: the error has an
// *object.DamagedError for each of them, so that they can be stored again from a sound
// node. Any other error ends it.
func (r *Runs) Fetch(ctx context.Context, wanted []shard.File, take func(ctx context.Context, f shard.File, fill func(io.Writer) error) error) error {
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(fetchesAtOnce)
	var mu sync.Mutex // guards damage
	var damage []error
	for _, f := range wanted {
		if inner.Err() != nil {
			break
		}
		group.Go(func() error {
			err := take(inner, f, func(w io.Writer) error { return r.objects.Download(inner, Name(f), w, f.Content) })
			if !errors.As(err, new(*object.DamagedError)) {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			damage = append(damage, err)
			return nil
		})
	}
	err := group.Wait()
	return errors.Join(append(damage, cmp.Or(err, ctx.Err()))...)
}
