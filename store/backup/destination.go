package backup

import (
	"errors"
	"fmt"
	"path"
	"time"

	"github.com/trawlsearch/trawl/store"
)

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
