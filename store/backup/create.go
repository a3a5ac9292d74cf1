package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/disk"
	"github.com/trawlsearch/trawl/store/object"
)

// Options say how a backup is made. The zero value makes one without mirrors
// that is not encrypted.
type Options struct {
	Keys Keys
	// Mirrors takes git mirrors in; without them a restored server fetches them
	// again.
	Mirrors bool
	// ReadAll reads files that seem unchanged since the last backup, too.
	ReadAll bool
	// Program is noted in the backup.
	Program string
	// Workers read, encrypt and send at the same time, each with 8 MiB; 0 is 2.
	Workers int
	// Report, if set, hears how far the backup is, from one goroutine at a time.
	Report func(Progress)
	// Yield, if set, is called before each part and may wait for more urgent
	// work.
	Yield func(context.Context) error

	now    func() time.Time
	timing timing
}

func (o Options) withDefaults() Options {
	if o.Workers == 0 {
		o.Workers = 2
	}
	if o.Report == nil {
		o.Report = func(Progress) {}
	}
	if o.Yield == nil {
		o.Yield = func(context.Context) error { return nil }
	}
	if o.now == nil {
		o.now = time.Now
	}
	if o.timing == (timing{}) {
		o.timing = usualTiming()
	}
	return o
}

// Phases of Progress.
const (
	// PhaseWait is a Create's that waits for a Prune, PhaseWatch a Prune's that
	// looks whether a Create is at work or was killed.
	PhaseWait    = "backup-wait"
	PhaseWatch   = "backup-watch"
	PhaseSend    = "backup-send"
	PhaseVerify  = "backup-verify"
	PhaseRestore = "backup-restore"
)

// Progress is the progress of a run.
type Progress struct {
	Phase string
	// DoneBytes of TotalBytes are done.
	DoneBytes, TotalBytes int64
}

// Result is what Create did.
type Result struct {
	// Backup is the new backup's ID.
	Backup  string
	Created time.Time
	// Files and Bytes are what it holds.
	Files int
	Bytes int64
	// ReadBytes counts those of them that had to be read.
	ReadBytes int64
	// Objects is how many it needs, SentObjects and SentBytes what of them was
	// not at the destination.
	Objects     int
	SentObjects int
	SentBytes   int64
	Took        time.Duration
}

// Create makes a backup of a store that is open, as it is now, while others go
// on searching and writing. It notes the run in the record that LastRun
// returns. If it fails, or is killed, earlier backups are as they were, and the
// next call does not send again what this one sent.
func Create(ctx context.Context, st *store.Store, dest object.Store, o Options) (Result, error) {
	o = o.withDefaults()
	c := &creation{Options: o, st: st, dest: dest, begun: o.now()}
	err := c.run(ctx)
	c.res.Took = o.now().Sub(c.begun)
	run := Run{Started: c.begun.UTC(), Destination: dest.String(), Bytes: c.res.Bytes, SentBytes: c.res.SentBytes, TookMillis: c.res.Took.Milliseconds()}
	if err != nil {
		run.Error = err.Error()
	} else {
		run.Backup = c.res.Backup
	}
	if nerr := Note(st.FS(), st.Dir(), run); err == nil {
		err = nerr
	}
	if err != nil {
		return c.res, fmt.Errorf("back up to %s: %w", dest, err)
	}
	return c.res, nil
}

// creation is a backup that is being made.
type creation struct {
	Options
	st    *store.Store
	dest  object.Store
	begun time.Time
	// created is begun, or later if a backup is there that claims to be.
	created time.Time
	res     Result
}

func (c *creation) run(ctx context.Context) (err error) {
	l, err := takeLock(ctx, c.dest, lockCreate, c.timing)
	if err != nil {
		return err
	}
	defer l.release(ctx)
	if err := awaitNone(ctx, c.dest, lockPrune, c.timing, func() { c.Report(Progress{Phase: PhaseWait}) }); err != nil {
		return err
	}
	r, err := openForCreate(ctx, c.dest, c.Keys, c.timing)
	if err != nil {
		return err
	}
	if c.created, err = afterAll(ctx, c.dest, c.begun); err != nil {
		return err
	}
	k, err := remember(ctx, c.st, r)
	if err != nil {
		return err
	}
	defer k.close()
	point, err := c.st.Checkpoint()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, point.Close()) }()
	m, err := c.send(ctx, r, k, point.Dir())
	if err != nil {
		return err
	}
	return c.finish(ctx, l, r, k, m)
}

// afterAll returns the time of a backup begun at the time begun: right after the
// newest that is there if the clock was set back. By the clock it would be an old
// one, which Prune deletes and Restore does not choose.
func afterAll(ctx context.Context, dest object.Store, begun time.Time) (time.Time, error) {
	begun = begun.UTC().Truncate(time.Millisecond)
	all, err := listBackups(ctx, dest)
	if err != nil || len(all) == 0 {
		return begun, err
	}
	if next := all[len(all)-1].Created.Add(time.Millisecond); next.After(begun) {
		return next, nil
	}
	return begun, nil
}

// send stores what the destination does not have of the files in dir, and
// returns the manifest of all.
func (c *creation) send(ctx context.Context, r *repository, k *known, dir string) (*Manifest, error) {
	if c.Mirrors {
		if err := stageMirrors(ctx, c.st.FS(), c.st.Dir(), dir); err != nil {
			return nil, err
		}
	}
	format, err := store.Format(c.st.FS(), dir)
	if err != nil {
		return nil, err
	}
	files, err := scan(c.st.FS(), dir)
	if err != nil {
		return nil, err
	}
	b := newBuilder(r.Encrypted)
	b.m.Head = Head{ID: newID(), Created: c.created, Encrypted: r.Encrypted}
	b.m.Body = &Body{DataFormat: uint32(format), Program: c.Program, Mirrors: c.Mirrors}
	var todo []int
	for i := range files {
		parts, same := k.unchanged(files[i].File)
		if !same || c.ReadAll {
			todo = append(todo, i)
			c.res.ReadBytes += files[i].Size
			continue
		}
		for _, p := range parts {
			p.Object = b.object(k.last.Objects[p.Object], k.last.plain(p.Object))
			files[i].Parts = append(files[i].Parts, p)
		}
	}
	s := &sending{creation: c, repository: r, known: k, files: files, units: cut(files, todo)}
	if err := s.run(ctx); err != nil {
		return nil, err
	}
	for u, pieces := range s.units {
		at := int64(0)
		for _, p := range pieces {
			f := &files[p.file]
			f.Parts = append(f.Parts, Part{b.object(s.stored[u].object, s.stored[u].content), at, p.length})
			at += p.length
		}
	}
	for _, f := range files {
		b.m.Body.Files = append(b.m.Body.Files, f.File)
	}
	return &b.m, nil
}

// finish stores the manifest when all that it names is there for good.
func (c *creation) finish(ctx context.Context, l *lock, r *repository, k *known, m *Manifest) error {
	if err := c.dest.Sync(ctx); err != nil {
		return err
	}
	if err := complete(ctx, c.dest, m); err != nil {
		return err
	}
	data, err := m.encode(r.sealer)
	if err != nil {
		return err
	}
	if err := l.held(); err != nil {
		return err
	}
	if err := c.dest.Put(ctx, m.name(), data); err != nil {
		return err
	}
	if err := c.dest.Sync(ctx); err != nil {
		return err
	}
	k.keep(m)
	c.res.Backup, c.res.Created = m.ID, m.Created
	c.res.Files, c.res.Bytes, c.res.Objects = len(m.Body.Files), m.Body.Bytes(), len(m.Objects)
	return nil
}

// complete fails unless all objects of a manifest are at the destination.
func complete(ctx context.Context, dest object.Store, m *Manifest) error {
	missing := make(map[string]int64, len(m.Objects))
	for _, o := range m.Objects {
		missing[objectPath(o.Name)] = o.Size
	}
	err := dest.List(ctx, objectsFolder, func(s object.Info) error {
		if missing[s.Name] == s.Size {
			delete(missing, s.Name)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for name := range missing {
		return fmt.Errorf("%s went away meanwhile: does another program delete there? try again", name)
	}
	return nil
}

// builder collects the objects of a manifest.
type builder struct {
	m     Manifest
	index map[string]int
	plain bool
}

func newBuilder(encrypted bool) *builder { return &builder{index: map[string]int{}, plain: encrypted} }

// object returns the index of an object in the manifest.
func (b *builder) object(o Object, content string) int {
	i, ok := b.index[o.Name]
	if !ok {
		i = len(b.m.Objects)
		b.index[o.Name] = i
		b.m.Objects = append(b.m.Objects, o)
		if b.plain {
			b.m.Body.Plain = append(b.m.Body.Plain, content)
		}
	}
	return i
}

// plain returns the hash of an object's content, "" if it is not encrypted.
func (m *Manifest) plain(object int) string {
	if !m.Encrypted {
		return ""
	}
	return m.Body.Plain[object]
}

// hashOf returns the SHA-256 in hex.
func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// readPieces reads what an object holds into buf.
func readPieces(fs disk.FS, files []source, pieces []piece, buf []byte) ([]byte, error) {
	buf = buf[:0]
	for _, p := range pieces {
		from := files[p.file].from
		f, err := fs.Open(from)
		if err != nil {
			return nil, err
		}
		n := len(buf)
		buf = buf[:n+int(p.length)]
		_, err = io.ReadFull(io.NewSectionReader(f, p.offset, p.length), buf[n:])
		if err := errors.Join(err, f.Close()); err != nil {
			return nil, fmt.Errorf("read %s: %w", files[p.file].Path, err)
		}
	}
	return buf, nil
}
