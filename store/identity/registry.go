package identity

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/table"
)

// Options say how a registry behaves. The zero value has usable defaults.
type Options struct {
	// Tokens is the policy for access tokens.
	Tokens TokenPolicy
	// Names is the policy for names of users and organisations.
	Names NamePolicy
	// Cost is what password hashes cost.
	Cost Cost
	// SessionExpiry ends a session after so long, SessionIdle one that was not
	// used for so long; 0 is 90 days and 14 days.
	SessionExpiry, SessionIdle time.Duration
	// LockoutAfter is how many failures to sign in lock a user; 0 is 5, less is
	// never.
	LockoutAfter int
	// AuditAge is how long entries of the audit log are kept, AuditEntries how
	// many; 0 is a year and 100,000. auditShares says which of them go first.
	AuditAge     time.Duration
	AuditEntries int
	// Ended, if set, is called after every change of records by which credentials
	// that were good may be so no longer, or users may do less. It may call the
	// registry, and be called by several goroutines at once.
	Ended func()
	// Declared are the readers that the configuration file names, by repository.
	Declared map[string][]string
	// Pinned, if set, is called after a reader of the configuration file has come
	// to stand for an account. NotApplied, if set, is called when the readers of a
	// repository could not be set then. Both may call the registry.
	Pinned     func(Pin)
	NotApplied func(repository string, err error)
	// Hidden, if set, is called after every change of a repository's readers,
	// with its record before and after. It may call the registry.
	Hidden func(before, after *store.Repository)
	// Damaged, if set, is called for records that are damaged and done without,
	// once for each, from any goroutine.
	Damaged func(error)
	// Tried, if set, is called after every attempt to sign in with a password or at another
	// service.
	Tried func(SignInOutcome)
	// Now is the clock, nil is time.Now; Random makes secrets, nil is
	// crypto/rand.
	Now    func() time.Time
	Random io.Reader
}

const day = 24 * time.Hour

func (o Options) withDefaults() Options {
	orDefault(&o.SessionExpiry, 90*day)
	orDefault(&o.SessionIdle, 14*day)
	orDefault(&o.LockoutAfter, 5)
	orDefault(&o.AuditAge, 365*day)
	orDefault(&o.AuditEntries, 100_000)
	if o.Ended == nil {
		o.Ended = func() {}
	}
	if o.Hidden == nil {
		o.Hidden = func(_, _ *store.Repository) {}
	}
	if o.Pinned == nil {
		o.Pinned = func(Pin) {}
	}
	if o.NotApplied == nil {
		o.NotApplied = func(string, error) {}
	}
	if o.Damaged == nil {
		o.Damaged = func(error) {}
	}
	if o.Tried == nil {
		o.Tried = func(SignInOutcome) {}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Random == nil {
		o.Random = rand.Reader
	}
	o.Tokens, o.Names = o.Tokens.withDefaults(), o.Names.withDefaults()
	return o
}

func orDefault[T comparable](v *T, def T) {
	var zero T
	if *v == zero {
		*v = def
	}
}

// Registry is the users, organisations, tokens and sessions of a store. It is
// safe for concurrent use. It reads records from the store each time, so what
// was changed or revoked holds for the next request.
type Registry struct {
	*transactions
	hasher *hasher
}

// recordReader is what all reading of records shares.
type recordReader struct {
	st table.Reader
	// o is what the registry was opened with, as SetPolicy has changed it.
	o    *atomic.Pointer[Options]
	uses *uses
	// told has the damaged records that were reported to Options.Damaged.
	told *sync.Map
}

// accounts reads users, organisations, and the readers of repositories.
type accounts struct{ *recordReader }

// credentials judges tokens, sessions and passwords of accounts.
type credentials struct{ accounts }

// transactions make the changes of a registry one after the other.
type transactions struct {
	credentials
	store *store.Store
	// used says that there has ever been a user.
	used atomic.Bool

	// declared are the readers of the configuration file.
	declared declared

	// mu makes changes one after the other, for shares. The store is called while it
	// is held.
	mu sync.Mutex
	// shares are those of the audit log, nil until they are read.
	shares *auditShares
	// watch hears of changes of the store.
	watch watch
}

// Open returns the registry of a store.
func Open(st *store.Store, o Options) (*Registry, error) {
	o = o.withDefaults()
	reader := &recordReader{st: st, o: &atomic.Pointer[Options]{}, uses: &uses{}, told: &sync.Map{}}
	reader.o.Store(&o)
	r := &Registry{&transactions{credentials: credentials{accounts{reader}}, store: st}, newHasher(o.Cost)}
	if err := r.noteUsed(); err != nil {
		return nil, fmt.Errorf("open registry: %w", err)
	}
	r.declared.set(o.Declared)
	if err := r.tellDamagedLockouts(); err != nil {
		return nil, fmt.Errorf("open registry: %w", err)
	}
	st.Subscribe(r.applied)
	return r, nil
}

// Shared reports whether other nodes change the same records.
func (r *transactions) Shared() bool { return r.store.Node().Shares() }

// CatchUp has the registry know all that other nodes changed before the call. The
// error is store.ErrAway if that cannot be found out.
func (r *transactions) CatchUp(ctx context.Context) error { return r.store.Node().CatchUp(ctx) }

// Used reports whether there has ever been a user. Deleting all of them does
// not undo it: a service that asked who one is does not stop to.
func (r *transactions) Used() bool { return r.used.Load() }

func (r *recordReader) options() *Options { return r.o.Load() }

// SetPolicy puts the policies and limits of o into force: those for tokens, names,
// sessions, lockouts and the audit log. The rest of o is not looked at. What was
// created under another policy stays.
func (r *transactions) SetPolicy(o Options) {
	next := *r.options()
	next.Tokens, next.Names = o.Tokens, o.Names
	next.SessionExpiry, next.SessionIdle, next.LockoutAfter = o.SessionExpiry, o.SessionIdle, o.LockoutAfter
	next.AuditAge, next.AuditEntries = o.AuditAge, o.AuditEntries
	next = next.withDefaults()
	r.mu.Lock()
	defer r.mu.Unlock()
	if next.AuditEntries != r.options().AuditEntries {
		r.shares = nil // they are read again for as many
	}
	r.o.Store(&next)
}

func (r *recordReader) now() time.Time { return r.options().Now().UTC().Truncate(time.Millisecond) }

// counter returns the next number of a counter.
func (r *recordReader) counter(name string) (uint64, error) { return r.count(name, 1) }

// count returns the stored value of a counter, start if there is none.
func (r *recordReader) count(name string, start uint64) (uint64, error) {
	n, err := counters.Get(r.st, name)
	if isNotFound(err) {
		return start, nil
	}
	if err != nil {
		return 0, err
	}
	return *n, nil
}

// change is a running change. It reads the records as they were before it.
type change struct {
	credentials
	of      *transactions
	by      Author
	now     time.Time
	records *store.Records
	entries []Entry
	// counters are those taken from, with what they hand out next.
	counters map[string]uint64
	// newSecret is the secret of the site if the change makes it.
	newSecret []byte
	// pins are the readers that are pinned anew.
	pins []string
}

// change runs f and commits what it put, with its entries of the audit log,
// or nothing after an error. f is run again when another change of the store came
// between.
func (r *transactions) change(by Author, f func(c *change) error) error {
	var c *change
	err := r.update(func(tx *store.Tx) error {
		c = r.newChange(by, tx)
		if err := f(c); err != nil {
			return err
		}
		return c.finish()
	})
	if err == nil && len(c.pins) > 0 {
		r.pinsChanged(c.pins)
	}
	return err
}

func (r *transactions) newChange(by Author, tx *store.Tx) *change {
	reader := *r.recordReader
	reader.st = tx
	return &change{credentials: credentials{accounts{&reader}}, of: r, by: by, now: r.now(), counters: map[string]uint64{}, records: &tx.Records}
}

// update runs f as a transaction, one after the other. Then it does what follows
// from the changes of the store meanwhile, its own among them, before it returns.
func (r *transactions) update(f func(tx *store.Tx) error) (err error) {
	var heard []store.Applied
	defer func() {
		for _, a := range heard {
			r.notify(a)
		}
	}()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.watch.hold()
	defer func() { heard = r.watch.release() }()
	again := false
	err = r.store.Update(func(tx *store.Tx) error {
		if again {
			r.shares = nil // they count what was not committed
		}
		again = true
		return f(tx)
	})
	if err != nil {
		r.shares = nil
	}
	return err
}

// finish puts the audit log and the counters.
func (c *change) finish() error {
	if err := c.putEntries(); err != nil {
		return err
	}
	for name, next := range c.counters {
		if err := counters.Put(c.records, name, &next); err != nil {
			return err
		}
	}
	return nil
}

// take returns a number of a counter that it never returns again.
func (c *change) take(name string) (uint64, error) {
	n, ok := c.counters[name]
	if !ok {
		var err error
		if n, err = c.counter(name); err != nil {
			return 0, err
		}
	}
	c.counters[name] = n + 1
	return n, nil
}

// takeID is take for numbers of 32 bits.
func (c *change) takeID(name string) (uint32, error) {
	n, err := c.take(name)
	if err == nil && n > 1<<31-1 {
		err = errors.New("no " + name + " id is left")
	}
	return uint32(n), err
}

// sweepEvery is how often what has expired is deleted, useEvery how often what
// was used is written.
const (
	sweepEvery = time.Hour
	useEvery   = time.Minute
)

// Keep writes when tokens and users were last seen, and deletes what has
// expired, until ctx ends. Errors are reported, and the work is tried again.
func (r *Registry) Keep(ctx context.Context, tell func(error)) {
	sweep, use := time.NewTicker(sweepEvery), time.NewTicker(useEvery)
	defer sweep.Stop()
	defer use.Stop()
	note := func(err error) {
		if err != nil {
			tell(err)
		}
	}
	note(r.Sweep())
	for {
		select {
		case <-ctx.Done():
			note(r.WriteUses())
			return
		case <-use.C:
			note(r.WriteUses())
		case <-sweep.C:
			note(r.Sweep())
		}
	}
}
