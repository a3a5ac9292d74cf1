package backup

import (
	"context"
	"errors"
	"fmt"
	"path"
	"time"

	"github.com/trawlsearch/trawl/store"
)

// Destination is where backups are: a folder, or a bucket. Names are paths with
// slashes that Repository makes. It is safe for concurrent use.
type Destination interface {
	// Put stores data under name, whole or not at all, over what is there. It
	// does not keep data, but may write to it.
	Put(ctx context.Context, name string, data []byte) error
	// Get returns the content of the file called name. The error is
	// os.ErrNotExist if there is none, and another if it is longer than limit.
	Get(ctx context.Context, name string, limit int64) ([]byte, error)
	// List calls each with all that is stored in a folder and its folders, in
	// any order; a folder that is not there is empty.
	List(ctx context.Context, folder string, each func(Stored) error) error
	// Delete removes what is stored under name, if anything is.
	Delete(ctx context.Context, name string) error
	// Sync returns when all that was Put survives a power failure.
	Sync(ctx context.Context) error
	// String names the destination, without secrets.
	String() string
}

// Stored is one thing at a destination.
type Stored struct {
	Name string
	Size int64
}

// The folders of a destination.
const (
	objectsFolder   = "objects"
	manifestsFolder = "manifests"
	keysFolder      = "keys"
	locksFolder     = "locks"
	headerName      = "repository"
)

// objectPath returns where an object is.
func objectPath(name string) string { return path.Join(objectsFolder, name[:2], name) }

// ErrNoBackups is that of a destination at which nothing was stored.
var ErrNoBackups = errors.New("there are no backups here")

// DamagedError is a damaged file at a destination. It is store.ErrCorrupt.
type DamagedError struct {
	// Name is the file's, Why what is wrong with it.
	Name, Why string
}

// Error names the file.
func (e *DamagedError) Error() string { return fmt.Sprintf("%s is damaged: %s", e.Name, e.Why) }

// Unwrap says that this is store.ErrCorrupt.
func (e *DamagedError) Unwrap() error { return store.ErrCorrupt }

func damaged(name, why string, args ...any) error {
	return &DamagedError{name, fmt.Sprintf(why, args...)}
}

// FormatError is a backup that a newer program made.
type FormatError struct {
	// What names the file; Found is its format version and Known the newest
	// that this program reads.
	What         string
	Found, Known uint32
}

// Error names both versions.
func (e *FormatError) Error() string {
	return fmt.Sprintf("%s has format version %d, this program reads up to %d: use a newer trawl", e.What, e.Found, e.Known)
}

// timing is what takes time on purpose; tests are faster.
type timing struct {
	// refresh is the time between two changes of a lock, dead how long a lock
	// has not changed whose owner is gone, poll the time between two looks.
	refresh, dead, poll time.Duration
	// scrypt is the logarithm of what guessing a passphrase takes.
	scrypt int
}

// The progress reports the minute to a waiting user.
func usualTiming() timing {
	return timing{5 * time.Second, time.Minute, 500 * time.Millisecond, scryptWork}
}
