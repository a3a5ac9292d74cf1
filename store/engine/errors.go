package engine

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/cockroachdb/pebble/v2"
)

// The errors that callers distinguish.
var (
	// ErrCorrupt: a file or a value is corrupt.
	ErrCorrupt = errors.New("corrupt")
	// ErrDamagedLog: the manifest is damaged.
	ErrDamagedLog = fmt.Errorf("the log of its tables is %w", ErrCorrupt)
	// ErrBroken: the database cannot write, until it is opened again.
	ErrBroken = errors.New("nothing can be written for now")
	// ErrLocked: another process has the directory open.
	ErrLocked = errors.New("data directory is in use by another process")
)

// IsDamage reports whether err says that the data is corrupt, and not only that
// it could not be read.
func IsDamage(err error) bool { return errors.Is(err, ErrCorrupt) || pebble.IsCorruptionError(err) }

// IsNotExist reports whether err says that there is no such file.
func IsNotExist(err error) bool { return errors.Is(err, os.ErrNotExist) }

// Message returns the text of an error without what the library adds for programs.
func Message(err error) string {
	return strings.ReplaceAll(err.Error(), "\n<corruption detail carrier>", "")
}
