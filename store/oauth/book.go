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

// Book is the apps and grants of a store. It is safe for concurrent use. It
// reads records from the store each time, so what was changed or revoked holds
// for the next request.
type Book struct {
	st  table.Reader
	reg *identity.Registry
	// user returns the user with an ID.
	user func(id uint32) (*identity.User, error)
	o    Options
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
	return &Book{st: st, reg: reg, user: reg.User, o: o}
}

// update runs f as a change of the registry, with a book that reads what the change
// depends on. f may be run again.
func (b *Book) update(by identity.Author, f func(b *Book, tx *identity.Tx) error) error {
	return b.reg.Update(by, func(tx *identity.Tx) error {
		return f(&Book{st: tx.Reader(), reg: b.reg, user: tx.User, o: b.o}, tx)
	})
}

// CatchUp is that of the registry.
func (b *Book) CatchUp(ctx context.Context) error { return b.reg.CatchUp(ctx) }

func (b *Book) now() time.Time { return b.o.Now().UTC().Truncate(time.Millisecond) }

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
	err := b.update(identity.Author{}, func(b *Book, tx *identity.Tx) error {
		if err := errors.Join(b.sweepRegistered(tx), b.sweepGrants(tx)); err != nil {
			return err
		}
		return devices.Each(b.st, store.RecordRange{}, b.reg.TellDamaged, func(code Hash, d *Device) (bool, error) {
			if !tx.Now().Before(d.Expires) {
				d.delete(tx, code)
			}
			return true, nil
		})
	})
	if err != nil {
		return fmt.Errorf("delete grants that have ended: %w", err)
	}
	return nil
}

func (b *Book) sweepGrants(tx *identity.Tx) error {
	owners := map[uint32]bool{}
	known := map[string]bool{}
	return grants.Each(b.st, store.RecordRange{}, b.reg.TellDamaged, func(id GrantID, g *Grant) (bool, error) {
		user := id.User()
		if _, asked := owners[user]; !asked {
			_, err := b.user(user)
			if err != nil && !isNotFound(err) {
				return false, err
			}
			owners[user] = err == nil
		}
		if _, asked := known[g.App]; !asked {
			_, err := b.App(g.App)
			if err != nil && !isNotFound(err) {
				return false, err
			}
			known[g.App] = err == nil
		}
		if !owners[user] || !known[g.App] || !g.live(tx.Now()) {
			grants.Delete(tx.Records(), id)
		}
		return true, nil
	})
}
