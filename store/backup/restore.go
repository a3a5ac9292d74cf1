package backup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/disk"
	"github.com/trawlsearch/trawl/store/object"
)

// RestoreOptions say what is restored, and how. The zero value restores the
// newest backup of a destination that is not encrypted.
type RestoreOptions struct {
	Keys Keys
	// Backup is an ID; "" is the newest.
	Backup string
	// Workers read at the same time, each an object; 0 is 2.
	Workers int
	// Report is as in Options.
	Report func(Progress)
}

// Restored is what Restore did.
type Restored struct {
	// Backup is the ID of the backup that is now there, Created when it was made.
	Backup  string
	Created time.Time
	Files   int
	Bytes   int64
}

// ErrNotEmpty is that of a directory that a backup would be restored over.
var ErrNotEmpty = errors.New("there is something already: a backup is restored into a new or an empty directory")

// restoringSuffix is that of the folder beside a data directory that a restore
// works in; in a directory that is there already, it is the folder's name.
const restoringSuffix = ".restoring"

// Restore makes the data directory dir of a backup. It is there wholly or not
// at all: files are written beside it, everything is checked and synced, and
// then the folder is renamed. A directory that is there already stays, as it
// may be a mount point or a link: files are written in a folder of it and then
// moved out, the index last. The leftovers of an earlier attempt are removed.
func Restore(ctx context.Context, dest object.Store, fs disk.FS, dir string, o RestoreOptions) (Restored, error) {
	out, err := restore(ctx, dest, fs, dir, o)
	if err != nil {
		return out, fmt.Errorf("restore from %s to %s: %w", dest, dir, err)
	}
	return out, nil
}

func restore(ctx context.Context, dest object.Store, fs disk.FS, dir string, o RestoreOptions) (out Restored, err error) {
	if _, err := vacant(fs, dir); err != nil {
		return out, err
	}
	r, err := openRepository(ctx, dest, o.Keys)
	if err != nil {
		return out, err
	}
	all, err := listBackups(ctx, dest)
	if err != nil {
		return out, err
	}
	b, err := choose(all, o.Backup)
	if err != nil {
		return out, err
	}
	m, err := r.manifest(ctx, b)
	if err != nil {
		return out, err
	}
	if err := restorable(m); err != nil {
		return out, err
	}
	if err := placeFor(ctx, fs, dir, func(tmp string) error {
		w := &restoring{RestoreOptions: o, repository: r, m: m, fs: fs, dir: tmp, total: m.Body.Bytes()}
		return w.run(ctx)
	}); err != nil {
		return out, err
	}
	return Restored{Backup: m.ID, Created: m.Created, Files: len(m.Body.Files), Bytes: m.Body.Bytes()}, nil
}

// vacant fails if there are files at dir, and reports whether it is a
// directory. The leftovers of an interrupted restore do not count, nor does the
// folder that some file systems begin with.
func vacant(fs disk.FS, dir string) (there bool, err error) {
	info, err := fs.Stat(dir)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if !info.IsDir() {
		return false, ErrNotEmpty
	}
	names, err := fs.List(dir)
	if err != nil {
		return false, err
	}
	left := slices.Contains(names, restoringSuffix) && !slices.Contains(names, indexFolder)
	for _, n := range names {
		switch {
		case n == restoringSuffix, n == restoringSuffix+lockSuffix, n == "lost+found":
		case left && slices.Contains(beforeIndex, n):
		default:
			return false, ErrNotEmpty
		}
	}
	return true, nil
}

// indexFolder is what makes a folder a data directory; beforeIndex is what a
// backup may hold beside it.
const indexFolder = "index"

var beforeIndex = []string{"FORMAT", mirrorsFolder}

// restorable refuses what this program could not open.
func restorable(m *Manifest) error {
	if m.Body == nil {
		return ErrNoKey
	}
	if m.Body.DataFormat > uint32(store.FormatNewest) {
		return &FormatError{"the data directory in the backup", m.Body.DataFormat, uint32(store.FormatNewest)}
	}
	if m.Body.DataFormat == 0 {
		return damaged(m.name(), "it has no format version of a data directory")
	}
	return nil
}

// lockSuffix is that of the lock of a folder that a restore works in.
const lockSuffix = ".lock"

// placeFor has fill make a folder, and moves it to dir, or what it holds into
// dir, when it is whole and durable.
func placeFor(ctx context.Context, fs disk.FS, dir string, fill func(tmp string) error) (err error) {
	there, err := vacant(fs, dir)
	if err != nil {
		return err
	}
	tmp, parent := dir+restoringSuffix, fs.PathDir(dir)
	if there {
		tmp, parent = fs.PathJoin(dir, restoringSuffix), dir
	}
	if err := disk.MakeDir(fs, parent); err != nil {
		return err
	}
	held, err := fs.Lock(tmp + lockSuffix)
	if errors.As(err, new(*os.PathError)) {
		return err // there is no lock to be held
	}
	if err != nil {
		return fmt.Errorf("another restore is at work there: %w", err)
	}
	defer func() { err = errors.Join(err, held.Close(), fs.Remove(tmp+lockSuffix)) }()
	// Another may have ended since that was looked at.
	if now, err := vacant(fs, dir); err != nil || now != there {
		return cmp.Or(err, ErrNotEmpty)
	}
	if there {
		for _, n := range beforeIndex {
			if err := fs.RemoveAll(fs.PathJoin(dir, n)); err != nil {
				return err
			}
		}
	}
	if err := fs.RemoveAll(tmp); err != nil {
		return err
	}
	if err := fs.MkdirAll(tmp, 0o700); err != nil {
		return err
	}
	err = fill(tmp)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		_ = fs.RemoveAll(tmp) // the next attempt tries again
		return err
	}
	// Another process may have put something there meanwhile.
	if now, err := vacant(fs, dir); err != nil || now != there {
		return errors.Join(cmp.Or(err, ErrNotEmpty), fs.RemoveAll(tmp))
	}
	if there {
		return moveInto(fs, tmp, dir)
	}
	if err := fs.Rename(tmp, dir); err != nil {
		return errors.Join(err, fs.RemoveAll(tmp))
	}
	return disk.SyncDir(fs, parent)
}

// moveInto moves what tmp holds into dir, which is a data directory when the
// index is there: that comes when all else is durable.
func moveInto(fs disk.FS, tmp, dir string) error {
	for _, n := range append(slices.Clone(beforeIndex), indexFolder) {
		from := fs.PathJoin(tmp, n)
		if _, err := fs.Stat(from); errors.Is(err, os.ErrNotExist) {
			continue
		} else if err != nil {
			return err
		}
		if err := fs.Rename(from, fs.PathJoin(dir, n)); err != nil {
			return err
		}
		if err := disk.SyncDir(fs, dir); err != nil {
			return err
		}
	}
	return errors.Join(fs.RemoveAll(tmp), disk.SyncDir(fs, dir))
}

// restoring is a Restore at work. Files are written in the order of objects, so
// that each object is read once.
type restoring struct {
	RestoreOptions
	*repository
	m   *Manifest
	fs  disk.FS
	dir string
	// total is the size of all files.
	total int64

	mu   sync.Mutex // guards done and the calls of Report
	done int64
}

// target is where a part goes.
type target struct {
	file         int
	at           int64
	offset, size int64
}

func (w *restoring) run(ctx context.Context) error {
	if err := w.fits(); err != nil {
		return err
	}
	folders, err := w.makeFiles(ctx)
	if err != nil {
		return err
	}
	targets := make([][]target, len(w.m.Objects))
	for i, f := range w.m.Body.Files {
		at := int64(0)
		for _, p := range f.Parts {
			targets[p.Object] = append(targets[p.Object], target{i, at, p.Offset, p.Length})
			at += p.Length
		}
	}
	err = each(ctx, len(targets), cmp.Or(w.Workers, 2), func(ctx context.Context, i int) error {
		return w.object(ctx, i, targets[i])
	})
	if err != nil {
		return err
	}
	for i, f := range w.m.Body.Files {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := w.makeDurable(f); err != nil {
			return fmt.Errorf("%s: %w", w.m.Body.Files[i].Path, err)
		}
	}
	for _, folder := range folders {
		if err := disk.SyncDir(w.fs, folder); err != nil {
			return err
		}
	}
	return nil
}

// fits fails if the disk is too small; a file may ask for an object many times.
func (w *restoring) fits() error {
	usage, err := w.fs.GetDiskUsage(w.dir)
	if err != nil {
		return nil // a file system that cannot report it
	}
	if uint64(w.total) > usage.AvailBytes {
		return fmt.Errorf("%w: the backup has %d MiB and %d are free", store.ErrDiskFull, w.total>>20, usage.AvailBytes>>20)
	}
	return nil
}

func (w *restoring) path(name string) string {
	return w.fs.PathJoin(append([]string{w.dir}, strings.Split(name, "/")...)...)
}

// makeFiles makes all files, empty, and returns their folders, the deepest
// first. No path leads out of the folder: decodeManifest refuses such.
func (w *restoring) makeFiles(ctx context.Context) ([]string, error) {
	folders := map[string]bool{w.dir: true}
	mkdir := func(name string) error {
		for ; name != "."; name = path.Dir(name) {
			if folders[w.path(name)] {
				break
			}
			folders[w.path(name)] = true
			if err := w.fs.MkdirAll(w.path(name), 0o700); err != nil {
				return err
			}
		}
		return nil
	}
	for _, f := range w.m.Body.Files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := mkdir(path.Dir(f.Path)); err != nil {
			return nil, err
		}
		if mirror, ok := strings.CutSuffix(f.Path, ".git/HEAD"); ok {
			// git knows a repository by these, also when they are empty.
			if err := errors.Join(mkdir(mirror+".git/refs"), mkdir(mirror+".git/objects")); err != nil {
				return nil, err
			}
		}
		file, err := w.fs.Create(w.path(f.Path), writeCategory)
		if err == nil {
			err = file.Close()
		}
		if err != nil {
			return nil, err
		}
	}
	out := make([]string, 0, len(folders))
	for folder := range folders {
		out = append(out, folder)
	}
	slices.SortFunc(out, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	return out, nil
}

// object reads an object and writes what files have of it.
func (w *restoring) object(ctx context.Context, i int, targets []target) error {
	if len(targets) == 0 {
		return nil
	}
	o := w.m.Objects[i]
	content, err := w.repository.object(ctx, o, w.m.plain(i))
	if err != nil {
		if errors.Is(err, store.ErrCorrupt) {
			err = fmt.Errorf("%w (it is needed for %s)", err, w.m.Body.Files[targets[0].file].Path)
		}
		return err
	}
	for _, t := range targets {
		if t.offset+t.size > int64(len(content)) {
			return damaged(objectPath(o.Name), "it holds %d bytes of %d", len(content), t.offset+t.size)
		}
		if err := w.write(w.m.Body.Files[t.file].Path, t.at, content[t.offset:t.offset+t.size]); err != nil {
			return err
		}
	}
	return nil
}

func (w *restoring) write(name string, at int64, data []byte) error {
	f, err := w.fs.OpenReadWrite(w.path(name), writeCategory)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(data, at)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done += int64(len(data))
	if w.Report != nil {
		w.Report(Progress{PhaseRestore, w.done, w.total})
	}
	return nil
}

// makeDurable makes a file durable. It reduces a mirror's configuration to the lines
// that git needs.
func (w *restoring) makeDurable(file File) error {
	name := w.path(file.Path)
	if configPath.MatchString(file.Path) {
		config, err := disk.ReadFile(w.fs, name, maxConfigBytes)
		if err != nil {
			return err
		}
		return disk.WriteSynced(w.fs, name, harmlessConfig(config))
	}
	f, err := w.fs.OpenReadWrite(name, writeCategory)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// maxConfigBytes bounds the configuration of a mirror.
const maxConfigBytes = 1 << 20
