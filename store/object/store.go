package object

import (
	"context"
	"errors"
	"io"
	"time"
)

// Store is where objects are: a folder, or a bucket. Names are paths with slashes.
// It is safe for concurrent use.
type Store interface {
	// Put stores data under name, whole or not at all, over what is there. It
	// does not keep data, but may write to it.
	Put(ctx context.Context, name string, data []byte) error
	// Get returns the content of the object called name. The error is
	// os.ErrNotExist if there is none, and another if it is longer than limit.
	Get(ctx context.Context, name string, limit int64) ([]byte, error)
	// Upload stores content, which is read from a source once or several times,
	// under name, whole or not at all, over what is there. It holds some megabytes
	// of it in memory. If the source has other bytes it fails with a *ContentError.
	Upload(ctx context.Context, name string, from io.ReaderAt, content Content) error
	// Download writes the object called name to a file or the like, from its
	// beginning to its end. It holds some megabytes of it in memory. It fails with a
	// *DamagedError if the object is missing or is not content; what was written by
	// then is worth nothing.
	Download(ctx context.Context, name string, to io.Writer, content Content) error
	// List calls each with all that is stored in a folder and its folders, in
	// any order; a folder that is not there is empty.
	List(ctx context.Context, folder string, each func(Info) error) error
	// Delete removes what is stored under name, if anything is.
	Delete(ctx context.Context, name string) error
	// Sweep removes what uploads left that were interrupted a day or more before now.
	Sweep(ctx context.Context, now time.Time) error
	// Sync returns when all that was stored survives a power failure.
	Sync(ctx context.Context) error
	// String names the store, without secrets.
	String() string
}

// ErrNotOwned is that of a place which has not what its owner has stored, or has what is
// another's.
var ErrNotOwned = errors.New("these objects are not the ones")

// Info is what a list says of an object.
type Info struct {
	Name string
	Size int64
	// Changed is when it was stored, by the clock of the store.
	Changed time.Time
}
