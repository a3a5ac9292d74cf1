package backup

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/trawlsearch/trawl/store/object"
)

// Locks keep Prune from removing objects that a backup in progress relies on. A
// run first writes a lock of its kind and then looks for others, so of two runs
// at least one sees the other. Create waits for a Prune to end, and Prune
// leaves objects alone beside a Create. A lock holds a number that its owner
// counts up. A lock whose number stands still for long enough has lost its
// owner, and the run that notices removes it. So no clocks are compared.
const (
	lockCreate = "create"
	lockPrune  = "prune"
)

// maxLockBytes bounds what a lock holds.
const maxLockBytes = 64

// lock is a lock that is held. Its owner releases it.
type lock struct {
	dest object.Store
	name string
	t    timing
	stop context.CancelFunc
	done sync.WaitGroup

	mu sync.Mutex // guards fresh, when the lock was last written
	// fresh is when the lock was last written.
	fresh time.Time
}

// takeLock writes a lock and keeps it fresh.
func takeLock(ctx context.Context, dest object.Store, kind string, t timing) (*lock, error) {
	l := &lock{dest: dest, t: t, name: path.Join(locksFolder, kind+"-"+strings.ToLower(rand.Text()[:12]))}
	if err := l.write(ctx, 0); err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	ctx, l.stop = context.WithCancel(context.WithoutCancel(ctx))
	l.done.Go(func() { l.refresh(ctx) })
	return l, nil
}

func (l *lock) write(ctx context.Context, n int) error {
	if err := l.dest.Put(ctx, l.name, []byte(strconv.Itoa(n))); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fresh = time.Now()
	return nil
}

func (l *lock) refresh(ctx context.Context) {
	tick := time.NewTicker(l.t.refresh)
	defer tick.Stop()
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			_ = l.write(ctx, n) // held reports it if that goes on
		}
	}
}

// held fails when others may have taken the lock for one without an owner.
func (l *lock) held() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if time.Since(l.fresh) > l.t.dead/2 {
		return errors.New("the lock at the destination could not be kept: try again")
	}
	return nil
}

// releaseWithin is how long removing a lock may take; one that stays is found
// dead by others.
const releaseWithin = 10 * time.Second

func (l *lock) release(ctx context.Context) {
	l.stop()
	l.done.Wait()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseWithin)
	defer cancel()
	_ = l.dest.Delete(ctx, l.name)
}

// locks lists the locks of a kind.
func locks(ctx context.Context, dest object.Store, kind string) ([]string, error) {
	var names []string
	err := dest.List(ctx, locksFolder, func(s object.Info) error {
		if strings.HasPrefix(path.Base(s.Name), kind+"-") {
			names = append(names, s.Name)
		}
		return nil
	})
	return names, err
}

// state reads a lock; ok is false if it is gone.
func lockState(ctx context.Context, dest object.Store, name string) (state string, ok bool, err error) {
	data, err := dest.Get(ctx, name, maxLockBytes)
	if errors.Is(err, os.ErrNotExist) {
		return "", false, nil
	}
	return string(data), err == nil, err
}

// alive watches a lock until it changes, is gone or is found dead, which
// removes it.
func alive(ctx context.Context, dest object.Store, name string, t timing) (bool, error) {
	first, ok, err := lockState(ctx, dest, name)
	if !ok || err != nil {
		return false, err
	}
	for begun := time.Now(); time.Since(begun) < t.dead; {
		if err := wait(ctx, t.poll); err != nil {
			return false, err
		}
		now, ok, err := lockState(ctx, dest, name)
		if !ok || err != nil || now != first {
			return ok, err
		}
	}
	return false, dest.Delete(ctx, name)
}

// anyAlive reports whether one of the locks of a kind has an owner. It calls
// waiting before it watches one.
func anyAlive(ctx context.Context, dest object.Store, kind string, t timing, waiting func()) (bool, error) {
	names, err := locks(ctx, dest, kind)
	for _, name := range names {
		waiting()
		if is, err := alive(ctx, dest, name, t); is || err != nil {
			return is, err
		}
	}
	return false, err
}

// awaitNone waits until no run holds a lock of a kind.
func awaitNone(ctx context.Context, dest object.Store, kind string, t timing, waiting func()) error {
	for {
		names, err := locks(ctx, dest, kind)
		if err != nil || len(names) == 0 {
			return err
		}
		waiting()
		if _, err := alive(ctx, dest, names[0], t); err != nil {
			return err
		}
	}
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}
