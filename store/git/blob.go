package git

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// Blob is what Read found for one object id.
type Blob struct {
	// Size is the content's length in bytes; 0 if the object is not there.
	Size int64
	// Data is the content, nil if Err is set. It belongs to the reader and is
	// overwritten by the next blob: copy what is to stay.
	Data []byte
	// Err wraps ErrTooLarge, ErrMissing, ErrCorrupt or ErrNotBlob, or is nil.
	Err error
}

// BlobReader reads blobs through a git process that is kept running from one
// Read to the next. It reads one list at a time: a second Read waits for the
// first. For parallel reading open several; each costs one process.
type BlobReader struct {
	repo *Repo

	mu    sync.Mutex // held for the length of a Read; f must not call Read or Close
	child *batch     // nil until needed, and after a Read that ended early
	sizes *batch     // answers sizes before content is asked for; nil as child
	// deaths counts how often git died of an object.
	deaths int
}

const (
	// askedAtOnce is the number of objects whose sizes are asked for before any
	// is read. Their IDs fit a pipe, so no goroutine has to write and read at
	// once.
	askedAtOnce = 512
	// mostDeaths is of how many objects git may die before the others are given
	// up: each costs a process or two, and perhaps all the memory that git may
	// take.
	mostDeaths = 200
)

// Blobs starts a BlobReader. Close must be called to end its process.
func (r *Repo) Blobs(ctx context.Context) (*BlobReader, error) {
	b := &BlobReader{repo: r}
	if err := b.start(ctx); err != nil {
		return nil, err
	}
	return b, nil
}

// Close ends the reader's process. It waits for a Read at work; cancel that
// one's context to hurry it.
func (b *BlobReader) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.drop()
	b.dropSizes()
}

// Forget drops the memory of a large blob that was read last. Its data is not
// used any more.
func (b *BlobReader) Forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.child != nil {
		b.child.large = nil
	}
}

// Read calls f once for every object id, in the order given, with the index of
// the id. Requests are sent ahead, so that git works while f does. Content of
// more than maxBytes bytes is skipped without being held in memory. An object
// that cannot be read is reported to f and does not end the reading: git stops
// at a corrupt object, and is then started again behind it.
//
// The size is asked first, and an object that is too large is never inflated: a
// pack of some kilobytes may hold gigabytes.
//
// Read returns f's error as it is, the context's if that ends, and otherwise
// nil unless git can no longer be run on the repository at all.
func (b *BlobReader) Read(ctx context.Context, oids []string, maxBytes int64, f func(i int, blob Blob) error) error {
	return b.ReadSized(ctx, oids, nil, maxBytes, f)
}

// ReadSized is Read of objects whose sizes are known, such as from ListTreeSizes,
// which saves the process that is asked for them. A size below 0 is not known.
func (b *BlobReader) ReadSized(ctx context.Context, oids []string, sizes []int64, maxBytes int64, f func(i int, blob Blob) error) error {
	for _, oid := range oids {
		if !isObjectID(oid) {
			return fmt.Errorf("read blobs of %s: %q is not an object id", b.repo.dir, oid)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for at := 0; at < len(oids); at += askedAtOnce {
		end := min(at+askedAtOnce, len(oids))
		part, known := oids[at:end], []int64(nil)
		if sizes != nil {
			known = sizes[at:end]
		}
		if err := b.readPart(ctx, part, known, maxBytes, func(i int, blob Blob) error { return f(at+i, blob) }); err != nil {
			return err
		}
	}
	return nil
}

// readPart reads what is not too large of some objects.
func (b *BlobReader) readPart(ctx context.Context, oids []string, sizes []int64, maxBytes int64, f func(i int, blob Blob) error) error {
	heads, err := b.heads(ctx, oids, sizes, maxBytes)
	if err != nil {
		return err
	}
	for at := 0; at < len(oids); {
		if heads[at].Err != nil {
			if err := f(at, heads[at]); err != nil {
				return err
			}
			at++
			continue
		}
		first := at
		for at < len(oids) && heads[at].Err == nil {
			at++
		}
		err := b.readAll(ctx, oids[first:at], maxBytes, func(i int, blob Blob) error { return f(first+i, blob) })
		if err != nil {
			return err
		}
	}
	return nil
}

// heads finds the objects that are no blobs or too large, which have an Err.
// Whatever else is wrong with an object shows when it is read.
func (b *BlobReader) heads(ctx context.Context, oids []string, sizes []int64, maxBytes int64) ([]Blob, error) {
	heads := make([]Blob, len(oids))
	if sizes != nil && !slices.ContainsFunc(sizes, func(n int64) bool { return n < 0 }) {
		for i, n := range sizes {
			if n > maxBytes {
				heads[i] = Blob{Size: n, Err: tooLarge(oids[i], n, maxBytes)}
			}
		}
		return heads, nil
	}
	if err := b.startSizes(ctx); err != nil {
		return nil, err
	}
	unwatch := context.AfterFunc(ctx, b.sizes.kill)
	defer unwatch()
	defer b.sizes.stdout.rest()
	b.sizes.ask(oids)
	for i, oid := range oids {
		h, err := b.sizes.headOf(oid, maxBytes)
		if cause := context.Cause(ctx); cause != nil {
			b.dropSizes()
			return nil, fmt.Errorf("read blobs: %w", cause)
		}
		if errors.Is(err, errDied) {
			b.dropSizes() // the object that git died of, and those behind, are asked for
			return heads, nil
		}
		if err != nil {
			b.dropSizes()
			return nil, err
		}
		heads[i] = h
	}
	return heads, nil
}

func (b *BlobReader) startSizes(ctx context.Context) error {
	if b.sizes != nil {
		return nil
	}
	child, err := b.repo.git.startBatch(ctx, "--batch-check")
	if err != nil {
		return fmt.Errorf("read blobs of %s: %w", b.repo.dir, err)
	}
	b.sizes = child
	return nil
}

func (b *BlobReader) dropSizes() {
	if b.sizes != nil {
		b.sizes.stop()
		b.sizes = nil
	}
}

// readAll reads objects, and goes on behind one that git dies of.
func (b *BlobReader) readAll(ctx context.Context, oids []string, maxBytes int64, f func(i int, blob Blob) error) error {
	deaths := 0 // at the same object
	for next := 0; next < len(oids); {
		if b.deaths >= mostDeaths {
			if err := f(next, Blob{Err: corruptError(oids[next], fmt.Sprintf("git died of %d objects before", mostDeaths))}); err != nil {
				return err
			}
			next++
			continue
		}
		if err := b.start(ctx); err != nil {
			return err
		}
		done, err := b.child.read(ctx, oids[next:], maxBytes, func(i int, blob Blob) error { return f(next+i, blob) })
		if err == nil {
			return nil
		}
		message := b.drop()
		if !errors.Is(err, errDied) {
			return err
		}
		if done > 0 {
			deaths = 0
		}
		next, deaths = next+done, deaths+1
		if deaths < 2 && !outOfMemory(message) {
			continue // perhaps another process killed it: blame the object at the second time
		}
		deaths = 0
		b.deaths++
		if err := f(next, Blob{Err: corruptError(oids[next], message)}); err != nil {
			return err
		}
		next++
	}
	return nil
}

// start makes sure that a child runs and answers.
func (b *BlobReader) start(ctx context.Context) error {
	if b.child != nil {
		return nil
	}
	child, err := b.repo.git.startBatch(ctx, "--batch")
	if err != nil {
		return fmt.Errorf("read blobs of %s: %w", b.repo.dir, err)
	}
	// git knows the empty tree without reading a file. So an answer to it shows
	// that the object is bad and not the whole repository.
	_, err = child.read(ctx, []string{b.repo.git.emptyTree()}, 0, func(int, Blob) error { return nil })
	if err != nil {
		message := child.stop()
		if errors.Is(err, errDied) {
			err = fmt.Errorf("read blobs of %s: git cat-file: %s", b.repo.dir, message)
		}
		return err
	}
	b.child = child
	return nil
}

// drop ends the child, if there is one, and returns its last words.
func (b *BlobReader) drop() string {
	if b.child == nil {
		return ""
	}
	message := b.child.stop()
	b.child = nil
	return message
}

func corruptError(oid, message string) error {
	if message == "" {
		message = "git stops there"
	}
	return fmt.Errorf("%w: %s: %s", ErrCorrupt, oid, message)
}
