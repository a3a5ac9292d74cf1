package check

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
	"github.com/trawlsearch/trawl/store/oauth"
	"github.com/trawlsearch/trawl/store/saved"
	"github.com/trawlsearch/trawl/store/shard"
)

// Finding is one thing that is wrong.
type Finding struct {
	// Where is "table", "record", "reference", "mirror", or within a shard
	// "header", "documents", "text", "lists", "symbols", "commits" or "aside".
	Where string
	// Shard is the one that it is in, 0 for none; Repositories are the names of
	// those that have something there.
	Shard        uint32
	Repositories []string
	// Problem says in words what is wrong.
	Problem string
	// Repair says what Prepare, and indexing its repositories after that, does
	// about it.
	Repair Repair

	record store.FaultyRecord
	// recovered is what takes the place of a lost repository.
	recovered store.Repository
}

// Repair is what can be done about a finding.
type Repair string

// The repairs.
const (
	// Rebuild: the shard is quarantined, and its repositories are indexed
	// again.
	Rebuild Repair = "rebuild"
	// Fetch: the mirror is made anew from its source.
	Fetch Repair = "fetch"
	// Drop: it has no owner, and is deleted.
	Drop Repair = "drop"
	// Nothing: it is harmless, or comes right when something else does.
	Nothing Repair = "none"
	// Restore: only a backup has it.
	Restore Repair = "restore"
)

// Options say how much is verified. The zero value verifies everything.
type Options struct {
	// Quick leaves out making posting lists anew to compare them; what can be
	// read and decoded, and all text and hashes, is verified all the same.
	Quick bool
	// Pause is called every megabyte or so, to let others go first; nil does
	// nothing.
	Pause func(context.Context) error
	// Source returns from where a repository can be fetched whose record cannot be
	// read, and what it is to be called; nil knows of none.
	Source func(store.LostRepository) (r store.Repository, ok bool)
	// Mirror verifies the mirror of a repository, and calls fault for what is wrong
	// with it; nil leaves mirrors out. The error says why it could not.
	Mirror func(ctx context.Context, r *store.Repository, fault func(problem string)) error
	// Report hears how far the work is, in bytes; nil does nothing.
	Report func(done, total int64)
}

func (o Options) withDefaults() Options {
	if o.Pause == nil {
		o.Pause = func(context.Context) error { return nil }
	}
	if o.Source == nil {
		o.Source = func(store.LostRepository) (store.Repository, bool) { return store.Repository{}, false }
	}
	if o.Mirror == nil {
		o.Mirror = func(context.Context, *store.Repository, func(string)) error { return nil }
	}
	if o.Report == nil {
		o.Report = func(int64, int64) {}
	}
	return o
}

// Store verifies a snapshot of a store, and calls found for every fault. Later
// writes are not looked at. The error says why it could not go on to the end.
func Store(ctx context.Context, st *store.Store, o Options, found func(Finding)) error {
	c := &checking{st: st, o: o.withDefaults(), found: found}
	if err := c.run(ctx); err != nil {
		return fmt.Errorf("check: %w", err)
	}
	return nil
}

// checking is one run of Store.
type checking struct {
	st          *store.Store
	sn          *store.Snapshot
	o           Options
	found       func(Finding)
	done, total int64
	// builder is for one shard after the other, nil for a quick check.
	builder *postings.Builder
}

func (c *checking) run(ctx context.Context) (err error) {
	c.sn = c.st.Snapshot()
	defer func() { err = errors.Join(err, c.sn.Close()) }()
	shards := c.sn.Shards()
	c.total = c.st.TableBytes()
	if !c.o.Quick {
		c.builder = c.st.Budget().NewBuilder()
		defer c.builder.Release()
	}
	for _, v := range shards {
		c.total += v.Header.TextBytes
	}
	err = c.st.VerifyTables(ctx, c.read, c.o.Pause, func(file, problem string) {
		c.found(Finding{Where: "table", Problem: fmt.Sprintf("file index/%s: %s", file, problem), Repair: Nothing})
	})
	if err != nil {
		return err
	}
	if err := c.records(ctx); err != nil {
		return err
	}
	c.references(shards)
	for _, v := range shards {
		if err := c.shard(ctx, v); err != nil {
			return err
		}
	}
	return c.mirrors(ctx)
}

// mirrors verifies what was fetched. One that cannot be read now, as when git is
// busy, keeps no other from being verified.
func (c *checking) mirrors(ctx context.Context) error {
	for _, r := range c.sn.Repositories() {
		if !r.Mirror {
			continue
		}
		tell := func(problem string, repair Repair) {
			c.found(Finding{Where: "mirror", Repositories: []string{r.Name}, Problem: problem, Repair: repair})
		}
		err := c.o.Mirror(ctx, r, func(problem string) { tell(problem, Fetch) })
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			tell("not verified: "+err.Error(), Nothing)
		}
	}
	return nil
}

func (c *checking) read(bytes int64) {
	c.done += bytes
	c.o.Report(min(c.done, c.total), c.total)
}

// records verifies what is neither text nor lists.
func (c *checking) records(ctx context.Context) error {
	err := c.sn.VerifyRecords(ctx, func(f store.FaultyRecord) {
		repair := Restore
		switch {
		case f.Stray:
			repair = Drop
		case f.Repository != 0:
			repair = Rebuild
		}
		out := Finding{Where: "record", Problem: f.Problem, Repair: repair, record: f}
		if r := c.sn.RepositoryByID(f.Repository); r != nil {
			out.Repositories = []string{r.Name}
		}
		if f.Lost != nil {
			c.lost(&out)
		}
		c.found(out)
	})
	if err != nil {
		return err
	}
	tell := func(f store.FaultyRecord) {
		repair := Restore
		if f.Stray {
			repair = Drop
		}
		c.found(Finding{Where: "record", Problem: f.Problem, Repair: repair, record: f})
	}
	for _, verify := range []func(*store.Store, func(store.FaultyRecord)) error{identity.Verify, oauth.Verify, saved.Verify} {
		if err := verify(c.st, tell); err != nil {
			tell(store.FaultyRecord{Problem: err.Error()})
		}
	}
	return ctx.Err()
}

// lost says what can be done about a repository whose record cannot be read.
func (c *checking) lost(f *Finding) {
	r, ok := c.o.Source(*f.record.Lost)
	if !ok {
		return
	}
	if _, err := c.sn.Repository(r.Name); err == nil { // it was added again
		f.Repair = Drop
		f.Problem += fmt.Sprintf("; %q is there again", r.Name)
		return
	}
	f.Repair, f.Repositories, f.recovered = Rebuild, []string{r.Name}, r
	f.Problem += fmt.Sprintf("; it is indexed again as %q, which only site admins see until its readers are set", r.Name)
}

// references holds the records of repositories against shards.
func (c *checking) references(shards []shard.View) {
	for _, r := range c.sn.Repositories() {
		for i, ids := range [][]uint32{r.Shards, r.History.Shards} {
			for _, id := range ids {
				v, ok := c.sn.Shard(id)
				if ok && v.Quarantine == nil && v.Header.IsHistory() != (i == 1) {
					c.in(v, "header", "the repository takes it for one of another kind", Rebuild)
				}
			}
		}
	}
	for _, v := range shards {
		if len(c.owners(v.ID)) == 0 {
			c.in(v, "reference", "no repository refers to it", Drop)
		}
	}
}

// shard verifies one shard, and that the records of its repositories refer to
// it.
func (c *checking) shard(ctx context.Context, v shard.View) error {
	if v.Quarantine != nil { // all there is to know of it is that it is lost
		c.in(v, "aside", "set aside: "+v.Quarantine.Reason, Rebuild)
		c.read(v.Header.TextBytes)
		return ctx.Err()
	}
	from := c.done
	err := v.Verify(ctx, shard.Verifying{
		Quick: c.o.Quick, Builder: c.builder, Pause: c.o.Pause,
		Read: func(bytes int) { c.o.Report(min(c.done+int64(bytes), c.total), c.total) },
		Fault: func(where, problem string) {
			c.in(v, where, problem, Rebuild)
		},
	})
	c.done = from + v.Header.TextBytes
	c.o.Report(min(c.done, c.total), c.total)
	if err == nil {
		c.documents(v)
	}
	return err
}

// documents holds the live documents of a shard against their repositories.
func (c *checking) documents(v shard.View) {
	docs, err := v.Documents()
	if err != nil {
		return // Verify reported it
	}
	owners := c.owners(v.ID)
	told := map[uint32]bool{}
	for i := range docs.Len() {
		id := docs.Repository[i]
		if told[id] || v.Dead != nil && v.Dead.Contains(uint16(i)) {
			continue
		}
		r := c.sn.RepositoryByID(id)
		if r != nil && slices.Contains(owners, r) {
			if sets := v.Away(id); len(sets) > len(r.Branches) {
				told[id] = true
				c.in(v, "reference", fmt.Sprintf("it tells of %d branches of %q, which has %d", len(sets), r.Name, len(r.Branches)), Rebuild)
			}
			continue
		}
		told[id] = true
		if r == nil {
			c.in(v, "reference", fmt.Sprintf("document %d, %q, is of repository %d, which there is not", i, docs.Path(i), id), Nothing)
			continue
		}
		c.in(v, "reference", fmt.Sprintf("document %d, %q, is of repository %q, which does not refer to the shard", i, docs.Path(i), r.Name), Nothing)
	}
}

// owners returns the repositories that refer to a shard.
func (c *checking) owners(shard uint32) []*store.Repository {
	return slices.DeleteFunc(c.sn.Repositories(), func(r *store.Repository) bool {
		return !slices.Contains(r.Shards, shard) && !slices.Contains(r.History.Shards, shard)
	})
}

func (c *checking) in(v shard.View, where, problem string, repair Repair) {
	f := Finding{Where: where, Shard: v.ID, Problem: problem, Repair: repair}
	for _, r := range c.owners(v.ID) {
		f.Repositories = append(f.Repositories, r.Name)
	}
	if len(f.Repositories) == 0 && repair == Rebuild {
		f.Repair = Drop
	}
	c.found(f)
}
