package engine

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/cespare/xxhash/v2"
	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/trawlsearch/trawl/store/disk"
)

// The engine reads its manifest, the log of its tables, up to the first record
// that is not whole, and takes that for the place where a crash cut it off. A
// flipped bit there would silently take away what was written behind. So would
// one in the log of what is not in tables yet. Therefore a store that is closed
// in good order has all in tables, and beside the engine's files a seal:
//
//	MANIFEST-000007 4096 0123456789abcdef\n
//	0123456789abcdef\n
//
// the name of the manifest, its length, its XXH64; and the XXH64 of that line. A
// seal over the whole manifest proves it good. A store without a seal was not
// closed in good order: its manifest may be cut off, but no whole record may stand
// behind the cut.
const sealFile = "SEAL"

func sealOf(name string, manifest []byte) []byte {
	line := fmt.Sprintf("%s %d %016x\n", name, len(manifest), xxhash.Sum64(manifest))
	return fmt.Appendf(nil, "%s%016x\n", line, xxhash.Sum64String(line))
}

// judgeManifest compares the manifest with the seal, if there is a good one.
// Without one, or if there are bytes behind the part that is sealed, it looks for
// damage in the manifest itself. Over files without a manifest the engine would make
// a new store, and delete their tables: a store that is known to exist has one.
func judgeManifest(fs vfs.FS, index string, exists bool) error {
	name, manifest, err := readManifest(fs, index)
	if err != nil {
		return err
	}
	if name == "" {
		return checkTables(fs, index, exists)
	}
	if !exists {
		return nil // a crash may have left anything, see Open
	}
	seal, err := readAll(fs, fs.PathJoin(index, sealFile))
	if err != nil && !IsNotExist(err) {
		return err
	}
	sealed, length, sum, ok := parseSeal(seal)
	switch {
	case !ok || sealed != name:
		return checkManifest(manifest)
	case length > len(manifest):
		return fmt.Errorf("%w: %d bytes are missing", ErrDamagedLog, length-len(manifest))
	case xxhash.Sum64(manifest[:length]) != sum:
		return ErrDamagedLog
	case length < len(manifest):
		return checkManifest(manifest)
	}
	return nil
}

// checkTables fails if there is a store, but no manifest.
func checkTables(fs vfs.FS, index string, exists bool) error {
	if !exists {
		names, err := fs.List(index)
		if err != nil || !slices.ContainsFunc(names, isTable) {
			return err
		}
	}
	return fmt.Errorf("the log of its tables is not there: %w", ErrCorrupt)
}

// readManifest returns the engine's manifest, and no name if there is none.
func readManifest(fs vfs.FS, index string) (name string, manifest []byte, err error) {
	if _, err := fs.Stat(index); IsNotExist(err) {
		return "", nil, nil
	}
	about, err := pebble.Peek(index, fs)
	if err != nil || !about.Exists {
		return "", nil, err
	}
	name = fs.PathBase(about.ManifestFilename)
	manifest, err = readAll(fs, fs.PathJoin(index, name))
	if IsNotExist(err) {
		return "", nil, nil // the engine knows what to say
	}
	return name, manifest, err
}

func readAll(fs vfs.FS, path string) ([]byte, error) {
	f, err := fs.Open(path)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(f)
	return data, errors.Join(err, f.Close())
}

func parseSeal(seal []byte) (name string, length int, sum uint64, ok bool) {
	var own uint64
	if n, err := fmt.Sscanf(string(seal), "%s %d %x\n%x\n", &name, &length, &sum, &own); n != 4 || err != nil || length < 0 {
		return "", 0, 0, false
	}
	line, _, _ := bytes.Cut(seal, []byte("\n"))
	return name, length, sum, own == xxhash.Sum64(append(line, '\n'))
}

// breakSeal removes the seal, durably, before anything is changed.
func breakSeal(fs vfs.FS, index string) error {
	err := fs.Remove(fs.PathJoin(index, sealFile))
	if IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	return disk.SyncDir(fs, index)
}

// FlushToTables puts all that was committed into tables. It reports false when the engine
// cannot.
func (e *Engine) FlushToTables() (done bool) {
	select {
	case <-e.stuck: // of long ago
	default:
	}
	err := e.Do(func() error {
		flushed, err := e.DB.AsyncFlush()
		if err != nil {
			return err
		}
		select {
		case <-flushed:
			done = true
		case <-e.stuck:
		}
		return nil
	})
	return err == nil && done
}

// Seal seals the manifest of an engine that was flushed and is closed.
func (e *Engine) Seal() error {
	fs := e.options.FS
	name, manifest, err := readManifest(fs, e.dir)
	if err != nil || name == "" {
		return err
	}
	path := fs.PathJoin(e.dir, sealFile)
	if err := disk.Replace(fs, path, path+".tmp", sealOf(name, manifest)); err != nil {
		return fmt.Errorf("seal store: %w", err)
	}
	return nil
}
