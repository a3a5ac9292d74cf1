package store

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"golang.org/x/sync/errgroup"

	"github.com/trawlsearch/trawl/store/cluster"
	"github.com/trawlsearch/trawl/store/engine"
	"github.com/trawlsearch/trawl/store/object"
	"github.com/trawlsearch/trawl/store/shard"
)

// ImportTarget is where a store is imported to. Its log and its runs are those that
// nodes are opened with then.
type ImportTarget struct {
	Log  cluster.Log
	Runs ImportRuns
	// Report, if set, hears of how much text is stored, from one goroutine at a time.
	Report func(doneBytes, totalBytes int64)
}

// ImportRuns takes the runs of a store that is imported. Runs of package cluster/runs
// are some.
type ImportRuns interface {
	RunsOwner
	// Put stores a run, which survives a power failure then.
	Put(ctx context.Context, f shard.File, from io.ReaderAt) (name string, err error)
	// Stored returns a function that reports whether a run is there, and survives a
	// power failure.
	Stored(ctx context.Context) (func(shard.File) bool, error)
}

// Imported is what Import did.
type Imported struct {
	// Version is the version of the log that has all of the store.
	Version cluster.Version
	// Shards counts the shards whose runs are stored, Runs and Bytes what of them was
	// stored now, and not by an earlier call.
	Shards, Runs int
	Bytes        int64
	// Damaged are the shards that no run was stored of, as they are quarantined.
	Damaged []uint32
	// Already says that the log had all of it before.
	Already bool
}

// ErrOccupied is that of an import into a log that has records of something else.
var ErrOccupied = errors.New("the database has the records of a cluster already: import into an empty one")

// ErrImporting is that of a node that is opened while a directory is imported.
var ErrImporting = errors.New("a data directory is being imported into the cluster")

const (
	// importBytes is about how many bytes of records an entry of an import has, and so
	// how many a node reads at once.
	importBytes = 4 << 20
	// importTimeout is how long it may take to find out whether an entry was made.
	importTimeout = time.Minute
	// exportsAtOnce bounds the runs that are exported and stored side by side, each from
	// a file of its own.
	exportsAtOnce = 3
)

// Import makes the store in dir, which is a store of its own and not open, the first
// versions of an empty log. It has its runs stored and its records appended, and the
// numbers of its shards reserved. Nothing in dir changes, apart from what every
// opening does: the nodes of the cluster are filled from the log, the first like all
// others, so that there is no moment at which a crash leaves a directory that is both
// a node's and a store of its own.
//
// The first entry claims the log with a record that no node opens, and the last entry
// deletes it. So an import can be repeated after any interruption: it sends what is
// missing, and makes the records of the log those of dir, whatever they were. Of two
// imports at once one fails. A shard that is quarantined, or found to be damaged, is
// imported without its runs, and is quarantined on all nodes.
func Import(ctx context.Context, dir string, o Options, to ImportTarget) (out Imported, err error) {
	o = o.withDefaults()
	o.Log, o.Runs, o.ReadOnly = nil, nil, false
	v, err := knownFormat(o.FS, dir)
	if err == nil && v == 0 {
		err = fmt.Errorf("import %q: there is no store: %w", dir, ErrNotFound)
	}
	if err != nil {
		return out, err
	}
	s, err := Open(dir, o)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	im := &importing{s: s, ImportTarget: to, files: map[runKey]object.Content{}}
	if err := im.run(ctx); err != nil {
		return im.out, fmt.Errorf("import %q: %w", dir, err)
	}
	return im.out, nil
}

// importing is an Import at work. Its log has version out.Version.
type importing struct {
	ImportTarget
	s   *Store
	out Imported
	// headers are the records of shards, put and deleted the other records that the
	// directory has otherwise than the log, and that the log alone has.
	headers, put, deleted [][]byte
	// cluster is the name of the cluster.
	cluster []byte

	mu    sync.Mutex // guards files, done and, while runs are stored, out
	files map[runKey]object.Content
	done  int64
}

func (im *importing) run(ctx context.Context) error {
	if err := im.claim(ctx); err != nil || im.out.Already {
		return err
	}
	// An import that was interrupted behind its claim may have stored none.
	if err := im.Runs.Belong(ctx, im.cluster, true); err != nil {
		return err
	}
	if err := im.storeRuns(ctx); err != nil {
		return err
	}
	if err := im.reserve(ctx); err != nil {
		return fmt.Errorf("reserve numbers of shards: %w", err)
	}
	return im.appendRecords(ctx)
}

// claim makes the first entry of an empty log, and compares the records of any other
// with the directory.
func (im *importing) claim(ctx context.Context) error {
	head, err := im.Log.Head(ctx)
	if err != nil {
		return err
	}
	if head == 0 {
		// Another node or import may be first.
		err := im.append(ctx, []cluster.Write{newCluster(), {Key: keyImporting, Value: []byte(im.s.dir)}})
		if err != nil && !errors.Is(err, cluster.ErrBeaten) {
			return err
		}
	}
	claimed, same, err := im.compare(ctx)
	switch {
	case err != nil || claimed:
		return err
	case same:
		im.out.Already = true
		return nil
	}
	return ErrOccupied
}

// compare reports whether the log is claimed by an import, and whether its records are
// those of the directory, apart from what the headers say of runs.
func (im *importing) compare(ctx context.Context) (claimed, same bool, err error) {
	_, e := im.s.committer.current()
	it, err := e.DB.NewIter(&pebble.IterOptions{UpperBound: []byte{shard.Prefix}})
	if err != nil {
		return false, false, err
	}
	own := ownRecords{it: it}
	defer func() { err = errors.Join(err, it.Close()) }()
	same = true
	// behind takes the records before key, which the log does not have.
	behind := func(key []byte) {
		for ; own.more && (key == nil || bytes.Compare(it.Key(), key) < 0); own.next(it.Next()) {
			im.take(it.Key())
			same = false
		}
	}
	own.next(it.First())
	im.out.Version, err = im.Log.Records(ctx, func(key, value []byte) error {
		switch {
		case bytes.Equal(key, keyImporting):
			claimed = true
			return nil
		case bytes.Equal(key, keyCluster):
			im.cluster = bytes.Clone(value)
			return nil
		}
		if behind(key); !own.more || !bytes.Equal(it.Key(), key) {
			im.deleted = append(im.deleted, bytes.Clone(key))
			same = false
			return own.err
		}
		equal := bytes.Equal(withoutFiles(key, own.value), withoutFiles(key, value))
		if same = same && equal; !equal || key[0] == prefixHeader {
			im.take(key)
		}
		own.next(it.Next())
		return own.err
	})
	if err == nil {
		behind(nil)
		err = own.err
	}
	return claimed, same, err
}

// ownRecords goes through the records of a directory that are imported.
type ownRecords struct {
	it    *pebble.Iterator
	value []byte
	more  bool
	err   error
}

// next goes on from the record at which it is, if it is at one, to one that is imported.
func (r *ownRecords) next(more bool) {
	for r.more = more; r.more; r.more = r.it.Next() {
		if r.value, r.err = r.it.ValueAndErr(); r.err != nil || imported(r.it.Key(), r.value) {
			r.more = r.err == nil
			return
		}
	}
	r.err = r.it.Error()
}

// take notes a record of the directory.
func (im *importing) take(key []byte) {
	if key = bytes.Clone(key); key[0] == prefixHeader {
		im.headers = append(im.headers, key)
	} else {
		im.put = append(im.put, key)
	}
}

// imported reports whether a record of a directory is put into the log. A header that
// cannot be read is not: the shard is quarantined without it, as it is with it.
func imported(key, value []byte) bool {
	if key[0] == prefixHeader {
		id, err := recordID(key, prefixHeader)
		if err == nil {
			_, err = decodeHeader(id, value)
		}
		return err == nil
	}
	return isShared(key) && !bytes.Equal(key, keyCluster) && !bytes.Equal(key, keyImporting)
}

// withoutFiles returns the value of a record without what it says of runs, if it is
// that of a header.
func withoutFiles(key, value []byte) []byte {
	h := shard.Header{}
	if key[0] != prefixHeader || json.Unmarshal(value, &h) != nil {
		return value
	}
	h.TextFile, h.SymbolFile = nil, nil
	out, err := json.Marshal(h)
	if err != nil {
		return value
	}
	return out
}

// storeRuns stores the runs of all shards but those that are quarantined.
func (im *importing) storeRuns(ctx context.Context) error {
	stored, err := im.Runs.Stored(ctx)
	if err != nil {
		return err
	}
	var shards []*shard.Shard
	total := int64(0)
	c, _ := im.s.committer.current()
	c.byNumber.Scan(func(id uint32, sh *shard.Shard) bool {
		if c.inService(id) {
			shards = append(shards, sh)
			total += sh.Header.TextBytes
		} else {
			im.out.Damaged = append(im.out.Damaged, id)
		}
		return true
	})
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(cmp.Or(im.s.options.exports, exportsAtOnce))
	for _, sh := range shards {
		group.Go(func() error {
			err := im.storeShard(inner, &sh.Header, stored)
			if err != nil {
				return err
			}
			im.mu.Lock()
			defer im.mu.Unlock()
			im.done += sh.Header.TextBytes
			if im.Report != nil {
				im.Report(im.done, total)
			}
			return nil
		})
	}
	err = group.Wait()
	slices.Sort(im.out.Damaged)
	return err
}

// storeShard stores the runs of a shard, or quarantines it.
func (im *importing) storeShard(ctx context.Context, h *shard.Header, stored func(shard.File) bool) error {
	parts := []shard.Part{shard.PartText}
	if h.Symbols != nil {
		parts = append(parts, shard.PartSymbols)
	}
	for _, part := range parts {
		err := im.storeRun(ctx, h.ID, part, stored)
		if engine.IsDamage(err) {
			im.mu.Lock()
			im.out.Damaged = append(im.out.Damaged, h.ID)
			im.mu.Unlock()
			_, err = im.s.SetAside(h.ID, err, time.Now())
			return err
		}
		if err != nil {
			return err
		}
	}
	im.mu.Lock()
	defer im.mu.Unlock()
	im.out.Shards++
	return nil
}

// storeRun exports a run and stores it, if it is not there. The same run is exported
// as the same bytes, so that an import that is repeated finds what it has stored.
func (im *importing) storeRun(ctx context.Context, id uint32, part shard.Part, stored func(shard.File) bool) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	e := im.s.committer.versions.enter() // which SetAside may replace for another shard
	defer im.s.committer.versions.leave(e)
	f, err := im.s.destination.Export(ctx, e.DB, id, part)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, im.s.fs.Remove(f.Path)) }()
	there := stored(f.File)
	if !there {
		if err := im.send(ctx, f); err != nil {
			return fmt.Errorf("store the %v of shard %d: %w", part, id, err)
		}
	}
	im.mu.Lock()
	defer im.mu.Unlock()
	im.files[runKey{id, part}] = f.Content
	if !there {
		im.out.Runs++
		im.out.Bytes += f.Size
	}
	return nil
}

func (im *importing) send(ctx context.Context, f shard.LocalFile) (err error) {
	in, err := im.s.fs.Open(f.Path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	_, err = im.Runs.Put(ctx, f.File, in)
	return err
}

// reserve has the log give out no number of a shard that the directory has used.
func (im *importing) reserve(ctx context.Context) error {
	first, err := im.Log.Reserve(ctx, 1)
	if next := im.s.nextShard.Load(); err == nil && next > first+1 {
		_, err = im.Log.Reserve(ctx, next-first-1)
	}
	return err
}

// appendRecords makes the records of the log those of the directory. The last entry
// ends the claim.
func (im *importing) appendRecords(ctx context.Context) error {
	var writes []cluster.Write
	size, most := 0, cmp.Or(im.s.options.importBytes, importBytes)
	add := func(w cluster.Write) error {
		if n := len(w.Key) + len(w.Value); len(writes) > 0 && size+n > most {
			if err := im.append(ctx, writes); err != nil {
				return err
			}
			writes, size = nil, 0
		}
		writes, size = append(writes, w), size+len(w.Key)+len(w.Value)
		return nil
	}
	for _, key := range im.deleted {
		if err := add(cluster.Write{Key: key}); err != nil {
			return err
		}
	}
	for _, key := range slices.Concat(im.put, im.headers) {
		value, err := im.value(key)
		if err != nil {
			return err
		}
		if err := add(cluster.Write{Key: key, Value: value}); err != nil {
			return err
		}
	}
	return im.append(ctx, append(writes, cluster.Write{Key: keyImporting}))
}

// value returns the value that a record has in the log.
func (im *importing) value(key []byte) ([]byte, error) {
	value := []byte{} // nil would delete it
	c, e := im.s.committer.current()
	found, err := engine.Get(e.DB, key, func(v []byte) error {
		value = append(value, v...)
		return nil
	})
	if err == nil && !found {
		err = fmt.Errorf("%w: it is gone", ErrCorrupt)
	}
	if err != nil {
		return nil, fmt.Errorf("record %x: %w", key, err)
	}
	if key[0] != prefixHeader {
		return value, nil
	}
	h := shard.Header{}
	if err := json.Unmarshal(value, &h); err != nil {
		return nil, err
	}
	h.TextFile, h.SymbolFile = nil, nil
	if c.inService(h.ID) {
		h.TextFile, h.SymbolFile = im.file(h.ID, shard.PartText), im.file(h.ID, shard.PartSymbols)
	}
	return json.Marshal(h)
}

// file returns what a run is, nil if there is none.
func (im *importing) file(id uint32, part shard.Part) *object.Content {
	c, found := im.files[runKey{id, part}]
	if !found {
		return nil
	}
	return &c
}

// append makes the next version of the log. It fails with cluster.ErrBeaten when
// another process made it.
func (im *importing) append(ctx context.Context, writes []cluster.Write) error {
	var id cluster.ID
	_, _ = rand.Read(id[:]) // which never fails
	ctx, cancel := context.WithTimeout(ctx, importTimeout)
	defer cancel()
	for {
		err := im.Log.Append(ctx, im.out.Version, id, writes)
		if err == nil {
			im.out.Version++
		}
		if !errors.Is(err, cluster.ErrUnknown) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(appendRetry):
		}
	}
}
