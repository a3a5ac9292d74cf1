package backup

import (
	"context"
	"errors"
	"os"
	"sync"
)

// object reads and decrypts an object and checks it: content is nil if it is
// encrypted and there is no identity.
func (r *repository) object(ctx context.Context, o Object, plain string) (content []byte, err error) {
	name := objectPath(o.Name)
	data, err := r.dest.Get(ctx, name, o.Size)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, damaged(name, "it is not there")
	case err != nil:
		return nil, err
	case int64(len(data)) != o.Size:
		return nil, damaged(name, "it has %d bytes instead of %d", len(data), o.Size)
	case hashOf(data) != o.Name:
		return nil, damaged(name, "its content does not fit its name")
	case r.Encrypted && len(r.identities) == 0:
		return nil, nil
	}
	if content, err = r.decode(name, data); err != nil {
		return nil, err
	}
	if plain != "" && hashOf(content) != plain {
		return nil, damaged(name, "its content does not fit its hash")
	}
	return content, nil
}

// each calls f for every number below n, from some goroutines, until one call
// fails or ctx ends.
func each(ctx context.Context, n, workers int, f func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var mu sync.Mutex // guards next
	next := 0
	var working sync.WaitGroup
	for range min(n, workers) {
		working.Go(func() {
			for ctx.Err() == nil {
				mu.Lock()
				i := next
				next++
				mu.Unlock()
				if i >= n {
					return
				}
				if err := f(ctx, i); err != nil {
					cancel(err) // the first counts
				}
			}
		})
	}
	working.Wait()
	return context.Cause(ctx)
}
