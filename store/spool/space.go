package spool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/trawlsearch/trawl/store/fair"
)

var (
	// ErrTooLarge says that a file would be larger than one may be, whatever else
	// there is.
	ErrTooLarge = errors.New("larger than what is kept for a client that reads")
	// ErrFull says that the space is full at present.
	ErrFull = errors.New("no room for what clients have not read yet")
)

// Folder is the name of the folder in a data directory.
const Folder = "spool"

// Options are bounds. The zero value is the defaults.
type Options struct {
	// Bytes is how much all files hold together; 0 is 1 GiB. One file holds at most
	// half of it, the files of one client three quarters.
	Bytes int64
	// Free returns how much the disk has left beyond what others need of it; nil
	// is enough.
	Free func() (int64, error)
}

const defaultBytes = 1 << 30

// Space is a folder of temporary files. It is safe for concurrent use.
type Space struct {
	dir  string
	opts Options
	room *fair.Semaphore
}

// Open returns the space in dir, and removes what a process that was killed left
// there. No other process may have it. The folder is made with the first file.
func Open(dir string, o Options) (*Space, error) {
	if o.Bytes == 0 {
		o.Bytes = defaultBytes
	}
	if err := os.RemoveAll(dir); err != nil {
		return nil, fmt.Errorf("remove what was left in %s: %w", dir, err)
	}
	return &Space{dir: dir, opts: o, room: fair.NewSemaphore(o.Bytes, 0)}, nil
}

// Close removes the folder. Files that are open stay readable where the system
// allows that.
func (s *Space) Close() error {
	if err := os.RemoveAll(s.dir); err != nil {
		return fmt.Errorf("remove %s: %w", s.dir, err)
	}
	return nil
}

// Largest is how many bytes one file can have.
func (s *Space) Largest() int64 { return s.opts.Bytes / 2 }

// Held is how many bytes are held at present, or reserved for files being
// written.
func (s *Space) Held() int64 { return s.room.Held() }

// Create returns a new file for a client. It waits until there is room for so
// many bytes, or ctx ends. The file may grow beyond that if there is room then.
// The errors are ErrTooLarge, and ErrFull, which a wait that was given up is,
// too.
func (s *Space) Create(ctx context.Context, client string, bytes int64) (*File, error) {
	if bytes > s.Largest() {
		return nil, fmt.Errorf("%w: %d bytes, at most %d", ErrTooLarge, bytes, s.Largest())
	}
	grant, err := s.room.Acquire(ctx, client, max(bytes, 1))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFull, err)
	}
	if err := s.free(bytes); err != nil {
		grant.Release()
		return nil, err
	}
	f, err := s.temporary()
	if err != nil {
		grant.Release()
		return nil, err
	}
	return &File{space: s, file: f, grant: grant, room: max(bytes, 1)}, nil
}

// free fails with ErrFull if the disk has no room for so many bytes.
func (s *Space) free(bytes int64) error {
	if s.opts.Free == nil {
		return nil
	}
	left, err := s.opts.Free()
	if err == nil && left < bytes {
		err = fmt.Errorf("%w: the disk is nearly full", ErrFull)
	}
	return err
}

// temporary opens a file that only this process has, and takes its name away.
func (s *Space) temporary() (*os.File, error) {
	f, err := os.CreateTemp(s.dir, "")
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(s.dir, 0o700); err != nil {
			return nil, err
		}
		f, err = os.CreateTemp(s.dir, "")
	}
	if err != nil {
		return nil, fmt.Errorf("make a temporary file: %w", err)
	}
	_ = os.Remove(f.Name()) // Close removes it elsewhere
	return f, nil
}
