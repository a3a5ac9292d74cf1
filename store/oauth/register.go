package oauth

import (
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/store/identity"
)

// Lifetimes of apps that registered themselves: until a user consents, and from the
// last time that tokens were given out.
const (
	registeredLasts = 24 * time.Hour
	registeredIdle  = 90 * 24 * time.Hour
	// registeredSlack is how much of registeredIdle passes before the record is
	// written again.
	registeredSlack = 24 * time.Hour
)

// Bounds of apps that registered themselves. Beyond mostRegistered the oldest that no
// user has consented to goes, if it has had its chance. An address can have
// mostAddressUnused without a user.
const (
	mostRegistered     = 1_000
	mostAddressUnused  = 20
	registeredAtLeast  = 10 * time.Minute
	mostRegisteredURIs = 5 // redirect URIs of one
)

// registeredID begins the client id of an app that registered itself.
const registeredID = "sgo_cid_dcr_"

// Register makes an app that nobody vouches for (RFC 7591): its only scopes are the one
// for agents and the one to stay signed in. It is deleted when no user consents to it in
// a day, or it has not been used for 90. The error is ErrFull when there are too many.
func (b Apps) Register(by identity.Author, n NewApp) (secret string, a *App, err error) {
	err = b.change(by, "register app", func(b *Book, tx *identity.Tx) (err error) {
		if a, err = b.Apps.newRegistered(n, tx.Now()); err != nil {
			return err
		}
		a.Address = by.Address
		if err := b.Apps.makeRoom(tx, by.Address); err != nil {
			return err
		}
		if a.Kind == Confidential {
			if secret, err = b.Apps.newSecret(a); err != nil {
				return err
			}
		}
		tx.Audit(ActionAppRegister, appTarget(a.ID), 0, fmt.Sprintf("%s, %s, redirects %v", a.Name, a.Kind, a.Redirects))
		return apps.Put(tx.Records(), a.ID, a)
	})
	if err != nil {
		return "", nil, err
	}
	return secret, a, nil
}

func (b Apps) newRegistered(n NewApp, now time.Time) (*App, error) {
	a := &App{
		Name: n.Name, Kind: n.Kind, Redirects: n.Redirects, Scopes: []string{identity.ScopeMCP, ScopeOffline},
		Created: now, Registered: true, Until: now.Add(registeredLasts),
	}
	if err := checkAppName(a.Name); err != nil {
		return nil, err
	}
	if len(a.Redirects) == 0 || len(a.Redirects) > mostRegisteredURIs {
		return nil, refuse("an app that registers itself has 1 to %d redirect URIs", mostRegisteredURIs)
	}
	if err := checkRedirects(a.Redirects); err != nil {
		return nil, err
	}
	random, err := b.random(16)
	a.ID = registeredID + hex.EncodeToString(random)
	return a, err
}

// makeRoom deletes the apps that registered themselves and are over, and the
// oldest without a user when there are too many.
func (b Apps) makeRoom(tx *identity.Tx, address string) error {
	n, here := 0, 0
	var oldest *App
	err := each(b.base, apps, []byte(registeredID), func(id string, a *App) error {
		switch {
		case a.over(tx.Now()):
			apps.Delete(tx.Records(), id)
			return nil
		case !a.Registered:
			return nil
		}
		n++
		if !a.unused() {
			return nil
		}
		if oldest == nil || a.Created.Before(oldest.Created) {
			oldest = a
		}
		if identity.AddressKey(a.Address) == identity.AddressKey(address) {
			here++
		}
		return nil
	})
	switch {
	case err == nil && here >= mostAddressUnused:
		return ErrFull
	case err != nil || n < mostRegistered:
		return err
	case oldest == nil || tx.Now().Sub(oldest.Created) < registeredAtLeast:
		return ErrFull
	}
	apps.Delete(tx.Records(), oldest.ID)
	return nil
}

// unused reports whether a registered app has never had a user.
func (a *App) unused() bool { return a.Registered && a.Until.Equal(a.Created.Add(registeredLasts)) }

// Over reports whether an app registered itself and has had its time.
func (b Apps) Over(a *App) bool { return a.over(b.now()) }

func (a *App) over(now time.Time) bool { return a.Registered && !now.Before(a.Until) }

// extend has a registered app last because a user consents or it is given
// tokens.
func (b Apps) extend(tx *identity.Tx, id string) error {
	if !strings.HasPrefix(id, registeredID) {
		return nil
	}
	a, err := b.Get(id)
	if err != nil || !a.Registered {
		return gone(err)
	}
	until := tx.Now().Add(registeredIdle)
	if until.Sub(a.Until) < registeredSlack {
		return nil
	}
	a.Until = until
	return apps.Put(tx.Records(), id, a)
}

// sweep deletes registered apps that have had their time. What they were
// granted is deleted by the sweep of grants.
func (b Apps) sweep(tx *identity.Tx) error {
	return each(b.base, apps, []byte(registeredID), func(id string, a *App) error {
		if a.over(tx.Now()) {
			apps.Delete(tx.Records(), id)
		}
		return nil
	})
}
