package backup

import (
	"context"
	"fmt"
	"sync"
)

// sending stores the contents of objects. Workers take them in order; each has
// one in hand, so that memory does not grow with what there is.
type sending struct {
	*creation
	*repository
	*known
	files []source
	units [][]piece

	mu sync.Mutex // guards the rest and the calls of Report
	// next is the first unit that no worker has taken, stored the outcome of
	// each.
	next   int
	stored []storedUnit
	done   int64
	err    error
}

// storedUnit is a content and its object.
type storedUnit struct {
	content string
	object  Object
}

func (s *sending) run(ctx context.Context) error {
	s.stored = make([]storedUnit, len(s.units))
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s.report(0)
	var workers sync.WaitGroup
	for range min(s.Workers, len(s.units)) {
		workers.Go(func() {
			if err := s.work(ctx); err != nil {
				s.fail(err)
				cancel(err)
			}
		})
	}
	workers.Wait()
	return s.err
}

// fail keeps the first error: those that follow are that others were cancelled.
func (s *sending) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
	}
}

func (s *sending) work(ctx context.Context) error {
	buf := make([]byte, 0, partBytes)
	var sealed []byte
	if s.repository.Encrypted {
		sealed = make([]byte, 0, maxObjectBytes)
	}
	for {
		if err := s.Yield(ctx); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		u, ok := s.take()
		if !ok {
			return nil
		}
		var err error
		if buf, err = readPieces(s.st.FS(), s.files, s.units[u], buf); err != nil {
			return err
		}
		if err := s.store(ctx, u, buf, sealed); err != nil {
			return err
		}
		s.report(int64(len(buf)))
	}
}

func (s *sending) take() (unit int, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next++
	return s.next - 1, s.next <= len(s.units)
}

// store makes sure that a content is at the destination.
func (s *sending) store(ctx context.Context, unit int, content, buf []byte) error {
	hash := hashOf(content)
	if o, ok := s.find(hash); ok {
		s.stored[unit] = storedUnit{hash, o}
		return nil
	}
	data, err := s.encode(buf, content)
	if err != nil {
		return err
	}
	o := Object{hash, int64(len(data))}
	if s.repository.Encrypted {
		o.Name = hashOf(data)
	}
	s.stored[unit] = storedUnit{hash, o}
	if s.has(o) {
		return nil
	}
	if o.Size > maxObjectBytes {
		return fmt.Errorf("object %s has %d bytes: there are too many recipients", o.Name, o.Size)
	}
	if err := s.repository.dest.Put(ctx, objectPath(o.Name), data); err != nil {
		return err
	}
	s.sent(hash, o)
	s.count(o.Size)
	return nil
}

func (s *sending) count(bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.res.SentObjects++
	s.res.SentBytes += bytes
}

func (s *sending) report(bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done += bytes
	s.Report(Progress{PhaseSend, s.done, s.res.ReadBytes})
}
