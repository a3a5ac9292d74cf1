package backup

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/disk"
	"github.com/trawlsearch/trawl/store/object"
)

// known are the files and objects that a run need not read or send again: files
// as in the last backup, and content whose object is at the destination. It is
// kept in the data directory, as the last manifest and, for encrypted
// destinations, a journal of objects sent since. Losing it costs only time.
type known struct {
	fs  disk.FS
	dir string
	// id is the repository's.
	id string
	// present are the objects at the destination with their sizes.
	present map[string]int64
	// last is the last manifest, files its files by path.
	last  *Manifest
	files map[string]File

	mu sync.Mutex // guards the rest
	// content finds objects by the SHA-256 of their content.
	content map[string]Object
	journal disk.File
}

func (k *known) path(suffix string) string { return k.fs.PathJoin(k.dir, stateDir, k.id+suffix) }

// The names of the files about a repository, behind its ID.
const (
	lastSuffix    = "-last.json"
	journalSuffix = "-sent"
)

// remember reads what is known about a repository and its objects.
func remember(ctx context.Context, st *store.Store, r *repository) (*known, error) {
	k := &known{fs: st.FS(), dir: st.Dir(), id: r.ID, present: map[string]int64{}, files: map[string]File{}, content: map[string]Object{}}
	err := r.dest.List(ctx, objectsFolder, func(s object.Info) error {
		if _, name, ok := strings.Cut(s.Name[len(objectsFolder)+1:], "/"); ok && sha256Hex.MatchString(name) {
			k.present[name] = s.Size
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	k.last = k.readLast()
	if k.last == nil {
		if k.last, err = newest(ctx, r); err != nil {
			return nil, err
		}
	}
	if k.last != nil {
		k.index()
	}
	if r.Encrypted {
		k.readJournal()
	}
	return k, nil
}

// readLast reads the manifest that the last run left here, if it can.
func (k *known) readLast() *Manifest {
	data, err := disk.ReadFile(k.fs, k.path(lastSuffix), 2*maxManifestBytes)
	if err != nil {
		return nil
	}
	m := &Manifest{}
	if json.Unmarshal(data, m) != nil || m.Body == nil || m.checkBody("") != nil {
		return nil
	}
	return m
}

// newest reads the newest manifest at the destination, if it can.
func newest(ctx context.Context, r *repository) (*Manifest, error) {
	all, err := listBackups(ctx, r.dest)
	if len(all) == 0 || err != nil {
		return nil, err
	}
	m, err := r.manifest(ctx, all[len(all)-1])
	switch {
	case err == nil && m.Body == nil:
		return nil, nil // no key at hand reads it
	// A damaged backup is in the way of nothing.
	case errors.Is(err, store.ErrCorrupt) || errors.Is(err, os.ErrNotExist) || errors.Is(err, ErrWrongKey):
		return nil, nil
	}
	return m, err
}

func (k *known) index() {
	for i, o := range k.last.Objects {
		content := o.Name
		if k.last.Encrypted {
			content = k.last.Body.Plain[i]
		}
		k.content[content] = o
	}
	for _, f := range k.last.Body.Files {
		k.files[f.Path] = f
	}
}

// unchanged returns the parts of a file of the last backup with their objects,
// if it is still the same and all of them are at the destination.
func (k *known) unchanged(f File) ([]Part, bool) {
	was, ok := k.files[f.Path]
	if !ok || was.Size != f.Size || was.Modified != f.Modified {
		return nil, false
	}
	for _, p := range was.Parts {
		if !k.has(k.last.Objects[p.Object]) {
			return nil, false
		}
	}
	return was.Parts, true
}

func (k *known) has(o Object) bool { return k.present[o.Name] == o.Size && o.Size > 0 }

// find returns the object with some content, if it is at the destination.
func (k *known) find(content string) (Object, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	o, ok := k.content[content]
	return o, ok && k.has(o)
}

// readJournal takes in what interrupted runs sent. A line that was cut off is
// no line.
func (k *known) readJournal() {
	data, err := disk.ReadFile(k.fs, k.path(journalSuffix), maxStateBytes)
	if err != nil {
		return
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		if len(f) != 4 || f[3] != "." || !sha256Hex.MatchString(f[0]) || !sha256Hex.MatchString(f[1]) {
			continue
		}
		if size, err := strconv.ParseInt(f[2], 10, 64); err == nil {
			k.content[f[0]] = Object{f[1], size}
		}
	}
}

// sent notes an object that was stored, for a run after this one. Its name does
// not reveal its content, so without the note it would be sent again.
func (k *known) sent(content string, o Object) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.content[content] = o
	if content == o.Name {
		return
	}
	line := fmt.Sprintf("%s %s %d .\n", content, o.Name, o.Size)
	if k.journal == nil {
		k.openJournal()
	}
	if k.journal != nil {
		_, _ = k.journal.Write([]byte(line)) // what is not noted is sent again
	}
}

// openJournal begins the journal anew with what is known.
func (k *known) openJournal() {
	if err := k.fs.MkdirAll(k.fs.PathJoin(k.dir, stateDir), 0o700); err != nil {
		return
	}
	old, _ := disk.ReadFile(k.fs, k.path(journalSuffix), maxStateBytes)
	f, err := k.fs.Create(k.path(journalSuffix), writeCategory)
	if err != nil {
		return
	}
	_, _ = f.Write(old)
	k.journal = f
}

// close ends the journal.
func (k *known) close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.journal != nil {
		_ = k.journal.Close() // as with Write
		k.journal = nil
	}
}

// keep leaves the manifest of a run that went well to the next, in place of the
// journal.
func (k *known) keep(m *Manifest) {
	k.close()
	data, err := json.Marshal(m)
	if err != nil {
		return
	}
	if writeFile(k.fs, k.fs.PathJoin(k.dir, stateDir), k.id+lastSuffix, data) == nil {
		_ = k.fs.Remove(k.path(journalSuffix))
	}
}
