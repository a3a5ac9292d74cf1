package oauth

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
	"github.com/trawlsearch/trawl/store/table"
)

// The errors that callers distinguish, beside store.ErrNotFound and
// *identity.RuleError.
var (
	// ErrNoGrant: the code or token is unknown, expired, revoked, of another
	// app, or of a user or an app that is gone or switched off.
	ErrNoGrant = errors.New("no such grant")
	// ErrReused: the code or refresh token has been used before. The grant is
	// revoked by then.
	ErrReused = errors.New("used a second time")
	// ErrFull: there are as many pending device codes, or apps that registered
	// themselves, as there may be.
	ErrFull = errors.New("too many programs wait for an answer: try again later")
)

// Lifetimes of what is given out.
const (
	AccessLasts = time.Hour
	CodeLasts   = 2 * time.Minute
	DeviceLasts = 30 * time.Minute
)

// Bounds of what is kept. Beyond them the oldest goes first, but for devices,
// where the newest is refused.
const (
	mostAccess        = 8     // access tokens of one grant
	mostGrants        = 25    // of one user to one app
	mostServiceGrants = 1_000 // of a service account, each with one access token
	mostDevices       = 2_000
	mostAddressPend   = 20 // devices that wait at one address
	mostApps          = 1_000
)

// Options say how a book behaves. The zero value has usable defaults.
type Options struct {
	// RefreshLasts ends a refresh token that was not used for so long; 0 is 90
	// days.
	RefreshLasts time.Duration
	// Now is the clock, nil is time.Now; Random makes secrets, nil is
	// crypto/rand.
	Now    func() time.Time
	Random io.Reader
}

// Book is the apps, devices and grants of a store. It is safe for concurrent use. It
// reads records from the store each time, so what was changed or revoked holds
// for the next request.
type Book struct {
	Apps    Apps
	Devices Devices
	Grants  Grants
	*base
}

// base is what the parts of a book have in common.
type base struct {
	o   Options
	reg *identity.Registry
	st  table.Reader
	// user returns the user with an ID.
	user func(id uint32) (*identity.User, error)
}

// Open returns the book of a store and its registry.
func Open(st *store.Store, reg *identity.Registry, o Options) *Book {
	if o.RefreshLasts == 0 {
		o.RefreshLasts = 90 * 24 * time.Hour
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Random == nil {
		o.Random = rand.Reader
	}
	return newBook(&base{o, reg, st, reg.User})
}

func newBook(b *base) *Book { return &Book{Apps{b}, Devices{b}, Grants{b}, b} }

// update runs f as a change of the registry, with a book that reads what the change
// depends on. f may be run again. Its book is called b, as the receiver is: what reads
// outside the transaction is shadowed.
func (b *base) update(by identity.Author, f func(b *Book, tx *identity.Tx) error) error {
	return b.reg.Update(by, func(tx *identity.Tx) error {
		return f(newBook(&base{b.o, b.reg, tx.Reader(), tx.User}), tx)
	})
}

// change is update with an error that says what was being done.
func (b *base) change(by identity.Author, what string, f func(b *Book, tx *identity.Tx) error) error {
	if err := b.update(by, f); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// each calls f with the records of a table whose ids begin with prefix, but for damaged
// ones.
func each[K comparable, T any](b *base, t *table.Table[K, T], prefix []byte, f func(key K, v *T) error) error {
	return t.Each(b.st, store.RecordRange{Prefix: prefix}, b.reg.TellDamaged, func(key K, v *T) (bool, error) {
		return true, f(key, v)
	})
}

// CatchUp is that of the registry.
func (b *Book) CatchUp(ctx context.Context) error { return b.reg.CatchUp(ctx) }

func (b *base) now() time.Time { return b.o.Now().UTC().Truncate(time.Millisecond) }

func refuse(format string, args ...any) error {
	return &identity.RuleError{Text: fmt.Sprintf(format, args...)}
}

// The actions of the audit log.
const (
	ActionAppCreate   = "app.create"
	ActionAppRegister = "app.register"
	ActionAppUpdate   = "app.update"
	ActionAppSecret   = "app.rotate-secret"
	ActionAppDelete   = "app.delete"
	ActionGrant       = "grant.create"
	ActionGrantRevoke = "grant.revoke"
)

func appTarget(id string) string { return "app:" + id }

// sweepEvery is how often what has expired is deleted.
const sweepEvery = time.Hour

// Keep deletes what has expired until ctx ends. Errors are reported, and the
// work is tried again.
func (b *Book) Keep(ctx context.Context, tell func(error)) {
	t := time.NewTicker(sweepEvery)
	defer t.Stop()
	for {
		if err := b.Sweep(); err != nil {
			tell(err)
		}
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
	}
}

// Sweep deletes grants and devices that are good for nothing any more.
func (b *Book) Sweep() error {
	return b.change(identity.Author{}, "delete grants that have ended", func(b *Book, tx *identity.Tx) error {
		return errors.Join(b.Apps.sweep(tx), b.Grants.sweep(tx), b.Devices.sweep(tx))
	})
}
