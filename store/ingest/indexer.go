package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"runtime"
	"time"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/ctags"
	"github.com/trawlsearch/trawl/store/git"
	"github.com/trawlsearch/trawl/store/redact"
	"github.com/trawlsearch/trawl/store/shard"
)

// Options say what is taken in. The zero value means the defaults.
type Options struct {
	// MaxIndexedBytes is the size of text up to which it is indexed by trigram;
	// larger text is scanned by every search. 0 is MaxTextBytes: blocks make
	// large files cost no more per byte than small ones, and on the Linux 6.1
	// tree a limit of 1 MiB makes an absent literal take 30 ms instead of 0.4.
	MaxIndexedBytes int64
	// MaxTextBytes is the size of a file up to which its text is taken in; a
	// larger one is found by its path only. 0 is 32 MiB. At most 128 MiB.
	MaxTextBytes int64
	// ShardBlocks is the most blocks of a shard; 0 is the format's limit.
	ShardBlocks int
	// MinFreeBytes is how much disk must be free for ingest to go on; 0 is
	// 512 MiB, negative is no limit.
	MinFreeBytes int64
	// Ctags reads symbols; nil leaves them unread.
	Ctags *ctags.Program
	// SymbolWorkers is how many ctags run side by side; 0 is one per processor.
	SymbolWorkers int
	// SymbolBudget is how long ctags may take for one document; 0 is that of
	// package ctags.
	SymbolBudget time.Duration
	// MaxSymbolBytes is the size of a text up to which its symbols are read; 0
	// is 4 MiB. Larger texts are generated.
	MaxSymbolBytes int64
	// HistoryCommits is of how many of its newest commits a repository keeps
	// message and changed paths, 0 is AllHistory; HistoryDiffs of how many the
	// diffs too, 0 is 10,000. Negative is none.
	HistoryCommits, HistoryDiffs int
	// Proxy returns the URL of the HTTP proxy through which guarded sources are
	// fetched; nil is none, and those cannot be fetched.
	Proxy func() (string, error)
	// Credentials, if set, returns by what git signs in at the host of a guarded
	// source that names no user itself; nil is nothing.
	Credentials func(r *store.Repository) *url.Userinfo
	// Git is what git's processes share with those that others start; nil is
	// nothing.
	Git *git.Budget
	// Turn, if set, is called by a sync that has fetched and is too large for a
	// group, and waits until it may change the store; end is called when it has.
	Turn func(ctx context.Context, report func(Progress)) (end func(), err error)
	// Mine, if set, reports whether the commits of a repository, by its ID, and the
	// symbols of a shard, by its number, are read here and not by another node.
	Mine func(number uint32) bool
	// Begin, if set, is called when a sync begins that may be part of a group; end
	// is called when it is over.
	Begin func() (end func())
	// Yield, if set, is called every millisecond or so by what reads files and writes
	// shards. It may wait up to a time while others need the machine, and returns how
	// long it did.
	Yield func(context.Context, time.Duration) time.Duration
	// Processors is how many goroutines compute at once that read files or write
	// shards, so that others find a processor free; 0 is no bound.
	Processors int
	// Readers is how many repositories are read side by side for groups; 0 is one for each
	// processor of Go's.
	Readers int
	// Followed, if set, is called for each repository when its commits, or symbols of its
	// documents, were read behind a sync, and when its commits could not be. It is called
	// from one goroutine for commits and one for symbols.
	Followed func(Followed)
	// Now returns the time; nil is time.Now.
	Now func() time.Time
}

// Followed is what was read of a repository behind a sync.
type Followed struct {
	Repository uint32
	// Phase is "symbols" or "history".
	Phase string
	// Count is how many symbols or commits there were.
	Count int
	// Took is how long it took: for symbols, with those of other repositories of the
	// shard.
	Took time.Duration
	// Err is why it was not done.
	Err error
}

const mostTextBytes = 128 << 20

func (o Options) withDefaults() Options {
	o.MaxTextBytes = cmp.Or(o.MaxTextBytes, 32<<20)
	o.MaxTextBytes = min(o.MaxTextBytes, mostTextBytes)
	o.MaxIndexedBytes = cmp.Or(o.MaxIndexedBytes, o.MaxTextBytes)
	o.ShardBlocks = cmp.Or(o.ShardBlocks, postings.MaxBlocks)
	o.MinFreeBytes = cmp.Or(o.MinFreeBytes, 512<<20)
	o.SymbolWorkers = cmp.Or(o.SymbolWorkers, runtime.GOMAXPROCS(0))
	o.Readers = cmp.Or(o.Readers, runtime.GOMAXPROCS(0))
	o.MaxSymbolBytes = cmp.Or(o.MaxSymbolBytes, 4<<20)
	o.HistoryCommits = cmp.Or(o.HistoryCommits, AllHistory)
	o.HistoryDiffs = cmp.Or(o.HistoryDiffs, usualDiffs)
	if o.Turn == nil {
		o.Turn = func(context.Context, func(Progress)) (func(), error) { return func() {}, nil }
	}
	if o.Mine == nil {
		o.Mine = func(uint32) bool { return true }
	}
	if o.Begin == nil {
		o.Begin = func() func() { return func() {} }
	}
	if o.Yield == nil {
		o.Yield = func(context.Context, time.Duration) time.Duration { return 0 }
	}
	if o.Followed == nil {
		o.Followed = func(Followed) {}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// usualDiffs is the default number of commits that keep their diffs.
const usualDiffs = 10_000

// historyDepth names how much of a history is kept; when it differs from that
// of a repository, all is read anew.
func (o Options) historyDepth() string {
	return fmt.Sprintf("%d/%d", max(o.HistoryCommits, 0), max(o.HistoryDiffs, 0))
}

// admission names the rules under which documents were taken in; when it
// differs from a repository's, everything is taken in anew.
func (o Options) admission() string {
	return fmt.Sprintf("%d/%d", o.MaxIndexedBytes, o.MaxTextBytes)
}

// Indexer brings the repositories of a store in and keeps them as their sources are.
// What else is done to a store is done by its parts. All are safe for concurrent use.
type Indexer struct {
	// Mirrors are the git repositories.
	Mirrors *Mirrors
	// Merger merges shards, and rewrites those of an older index.
	Merger *Merger
	// Histories are the commits.
	Histories *Histories
	// Symbols are the definitions in files.
	Symbols *Symbols
	// Room is what the disk keeps free.
	Room *Room

	store   *store.Store
	opts    Options
	sources *sources
	// changes orders what syncs, removals, merges and readings commit.
	changes *changes
	// holds are the repositories that one task has to itself.
	holds *holds
	// writers begins all shards.
	writers *writers
	// pace is that of reading files and writing shards.
	pace *pace
	// groups are the syncs that are written together.
	groups *groups
}

// New returns an indexer for s. That of a store that is shared has the mirrors ready
// that other nodes sync.
func New(s *store.Store, o Options) *Indexer {
	o = o.withDefaults()
	ix := &Indexer{
		store: s, opts: o, Room: &Room{s, o.MinFreeBytes}, sources: &sources{s, o},
		changes: &changes{store: s, now: o.Now, rewriting: make(chan struct{}, 1)},
		holds:   &holds{}, pace: newPace(o), groups: newGroups(o.Readers),
	}
	ix.writers = &writers{s, o.ShardBlocks, ix.holds, ix.pace}
	ix.Mirrors = newMirrors(s, o, ix.sources, ix.Room, ix.holds)
	ix.Merger = &Merger{s, ix.changes, ix.Room, ix.writers, ix.pace, o.ShardBlocks}
	ix.Histories = &Histories{s, o, ix.changes, ix.Room, ix.Mirrors, ix.writers, ix.groups, make(chan struct{}, 1)}
	ix.Symbols = &Symbols{s, o, ix.changes, ix.Room, ix.writers, make(chan struct{}, 1)}
	return ix
}

// Close ends what goes on in the background. The store is closed behind it.
func (ix *Indexer) Close() {
	ix.Mirrors.copies.close()
}

// Progress is the progress of a sync.
type Progress struct {
	// Phase is "wait", "fetch", "list", "index", "merge", "rebuild", "symbols",
	// "history" or "commit".
	Phase string
	// Note is what git says while it fetches.
	Note string
	// Done and Total count documents in the phases "index", "merge", "rebuild"
	// and "symbols", commits in the phase "history".
	Done, Total int
	// Bytes counts the bytes of files, or of messages and diffs, read.
	Bytes int64
}

// Add records a source as a repository to be synced. When a repository of that
// name and location is there already it is returned as it is; one of the same
// name from elsewhere is store.ErrExists. It does not wait for a sync at work.
func (ix *Indexer) Add(ctx context.Context, src Source) (*store.Repository, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	sn := ix.store.Snapshot()
	defer sn.Close()
	if r, err := sn.Repository(src.Name); err == nil {
		if r.Source != src.Location {
			return nil, fmt.Errorf("repository %q: %w, from %s; give this one another name: name=%s",
				src.Name, store.ErrExists, redact.URL(r.Source), redact.URL(src.Location))
		}
		return r, nil
	}
	next := store.Repository{
		Name: src.Name, Source: src.Location, Mirror: src.Remote, Guarded: src.Guarded, Named: src.Named, Created: ix.opts.Now().UTC(),
	}
	if src.Hidden {
		next.Readers = &store.Readers{}
	}
	return ix.store.Repositories().New(next)
}

// Remove forgets a repository, its documents and its mirror. A sync of it that
// is at work is ended first.
func (ix *Indexer) Remove(ctx context.Context, name string) error {
	id, err := ix.id(name)
	if err != nil {
		return err
	}
	leave, err := ix.holds.take(ctx, id, func(error) {}, func(other *hold) { other.end(errRemoved) })
	if err != nil {
		return fmt.Errorf("remove repository %q: %w", name, err)
	}
	defer leave()
	return ix.changes.heal(ctx, func() error { return ix.remove(ctx, id, name) })
}

// remove is Remove of a repository that is held.
func (ix *Indexer) remove(ctx context.Context, id uint32, name string) error {
	var r *store.Repository
	err := ix.changes.update(func(tx *store.Tx) error {
		sn := tx.Snapshot()
		if r = sn.RepositoryByID(id); r == nil {
			return store.ErrNotFound
		}
		live, err := liveDocuments(ctx, sn, r)
		if err != nil {
			return err
		}
		places := live.unkept()
		err = eachCommit(sn, r, func(v shard.View, t *shard.Commits, i int) error {
			for d := t.Message[i]; d < t.Message[i+1]; d++ {
				places = append(places, docRef{v.ID, uint16(d)})
			}
			return nil
		})
		tx.Change.Remove = []uint32{r.ID}
		tx.Change.Dead, tx.Change.Drop = bury(sn, nil, places)
		return err
	})
	switch {
	case r == nil && errors.Is(err, store.ErrNotFound):
		return fmt.Errorf("repository %q: %w", name, err)
	case err != nil:
		return fmt.Errorf("remove repository %q: %w", name, err)
	}
	if r.Mirror {
		if err := os.RemoveAll(ix.store.GitDirs().Dir(r)); err != nil {
			return fmt.Errorf("remove repository %q: it is gone, but not its mirror: %w", name, err)
		}
	}
	return nil
}
