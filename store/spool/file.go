package spool

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/trawlsearch/trawl/store/fair"
)

// File is a temporary file that is written from beginning to end and then read,
// any number of times. It belongs to one goroutine.
type File struct {
	space *Space
	file  *os.File
	grant *fair.Grant
	// size is what was written, room what may be.
	size, room int64
}

// growBytes is how much more room a file is given at once.
const growBytes = 1 << 20

// Write implements io.Writer. It does not wait: the error of a file that grows
// where there is no room is ErrFull, and ErrTooLarge if there never is.
func (f *File) Write(p []byte) (int, error) {
	if err := f.grow(f.size + int64(len(p))); err != nil {
		return 0, err
	}
	n, err := f.file.Write(p)
	f.size += int64(n)
	if err != nil {
		err = fmt.Errorf("write a temporary file: %w", err)
	}
	return n, err
}

// grow makes room for a size.
func (f *File) grow(size int64) error {
	if size <= f.room {
		return nil
	}
	if size > f.space.Largest() {
		return fmt.Errorf("%w: at most %d bytes", ErrTooLarge, f.space.Largest())
	}
	more := max(size-f.room, min(growBytes, f.space.Largest()-f.room))
	if err := f.space.free(more); err != nil {
		return err
	}
	if !f.grant.Grow(more) {
		return ErrFull
	}
	f.room += more
	return nil
}

// Size is how many bytes were written.
func (f *File) Size() int64 { return f.size }

// Reader returns a reader from the beginning to what was written last. Room that
// was not used is given back.
func (f *File) Reader() io.Reader {
	f.room = min(f.room, max(f.size, 1))
	f.grant.Shrink(f.room)
	return io.NewSectionReader(f.file, 0, f.size)
}

// Close gives everything back. It may be called again.
func (f *File) Close() error {
	defer f.grant.Release()
	if err := f.file.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return err
	}
	if err := os.Remove(f.file.Name()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove a temporary file: %w", err)
	}
	return nil
}
