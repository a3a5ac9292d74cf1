package object

import (
	"context"
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
	// List calls each with all that is stored in a folder and its folders, in
	// any order; a folder that is not there is empty.
	List(ctx context.Context, folder string, each func(Info) error) error
	// Delete removes what is stored under name, if anything is.
	Delete(ctx context.Context, name string) error
	// Sync returns when all that was stored survives a power failure.
	Sync(ctx context.Context) error
	// String names the store, without secrets.
	String() string
}

// Info is what a list says of an object.
type Info struct {
	Name string
	Size int64
	// Changed is when it was stored, by the clock of the store.
	Changed time.Time
}
