package store

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/trawlsearch/trawl/store/disk"
	"github.com/trawlsearch/trawl/store/engine"
)

// FormatVersion numbers the layouts of a data directory. Versions are never
// renumbered or removed; each newer one has a step in package migrations.
type FormatVersion uint32

const (
	// FormatBlocks is the first: sharded 4 KiB-block posting lists, text in
	// 32 KiB chunks, one sorted run per shard.
	FormatBlocks FormatVersion = 1

	// FormatNumbered numbers the layout of each shard's index in its header, so
	// that a later layout needs no new format: programs that do not know it
	// refuse the store, others rewrite old shards while they serve. It also fixes
	// the format of the engine, which a library could raise before.
	FormatNumbered FormatVersion = 2

	// FormatNewest is what this program writes.
	FormatNewest = FormatNumbered
)

// FormatAbout returns a short description of a format version.
type FormatAbout struct {
	Version FormatVersion
	Name    string
	// Upgrade is what happens to a store of the version before, Releases are the
	// programs that read it.
	Upgrade, Releases string
}

// Formats are all versions there ever were, the oldest first.
func Formats() []FormatAbout {
	return []FormatAbout{
		{FormatBlocks, "blocks", "the first format", "development builds; 0.1 and later migrate it"},
		{FormatNumbered, "numbered", "each shard is given the number of its index, which takes milliseconds", "0.1 and later"},
	}
}

// formatFile stands in the data directory and holds the version in decimal
// and a newline. It is a file and not a record so that a version can be
// refused before the engine, which may be newer too, opens anything.
const formatFile = "FORMAT"

// knownFormat returns the format of the directory, 0 if it has none, or a
// *FormatError for one that this program does not read.
func knownFormat(fs vfs.FS, dir string) (FormatVersion, error) {
	v, err := readFormat(fs, fs.PathJoin(dir, formatFile))
	if err != nil {
		return 0, fmt.Errorf("open store %q: %w", dir, err)
	}
	if v > FormatNewest {
		return 0, &FormatError{Found: v, Known: FormatNewest}
	}
	return v, nil
}

// openable fails with a *FormatError for a directory that is neither new nor of
// the newest format, and for one that has lost its index, or is yet to be given
// it by a restore.
func openable(fs vfs.FS, dir string) error {
	v, err := knownFormat(fs, dir)
	if err != nil || v == 0 {
		return err
	}
	if v < FormatNewest {
		return &FormatError{Found: v, Known: FormatNewest}
	}
	if _, err := fs.Stat(fs.PathJoin(dir, "index")); engine.IsNotExist(err) {
		return fmt.Errorf("open store %q: its index is not there: %w: %s", dir, ErrCorrupt, whatToDo)
	}
	return nil
}

// readFormat returns 0 for a directory that has no format file.
func readFormat(fs vfs.FS, path string) (FormatVersion, error) {
	f, err := fs.Open(path)
	if engine.IsNotExist(err) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read format version: %w", err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, 64))
	if err != nil {
		return 0, fmt.Errorf("read format version: %w", err)
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(b)), 10, 32)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("read format version: %w: %q holds %q", ErrCorrupt, path, b)
	}
	return FormatVersion(n), nil
}

// writeFormat puts the version into place.
func writeFormat(fs vfs.FS, dir string, v FormatVersion) error {
	path := fs.PathJoin(dir, formatFile)
	if err := disk.Replace(fs, path, path+".tmp", fmt.Appendf(nil, "%d\n", v)); err != nil {
		return fmt.Errorf("write format version: %w", err)
	}
	return nil
}
