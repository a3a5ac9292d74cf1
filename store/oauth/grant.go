package oauth

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
	"github.com/trawlsearch/trawl/store/table"
)

// Grant is a user's consent to an app.
type Grant struct {
	ID  GrantID `json:"-"`
	App string  `json:"app"`
	// Scopes are those the user agreed to.
	Scopes  []string  `json:"scopes"`
	Created time.Time `json:"created"`
	// Used is when tokens were last given out for it.
	Used time.Time `json:"used,omitzero"`
	// Code is the authorization code it began with, nil without one.
	Code *Code `json:"code,omitempty"`
	// Refresh is the newest refresh token, nil without one.
	Refresh *Refresh `json:"refresh,omitempty"`
	// Access are the access tokens, the newest last.
	Access []Access `json:"access,omitempty"`
}

// Code is an authorization code, without its secret.
type Code struct {
	Hash []byte `json:"hash"`
	// Redirect is the redirect URI as the request had it, "" if it had none;
	// Challenge is that of PKCE, S256, "" if there was none.
	Redirect  string    `json:"redirect,omitempty"`
	Challenge string    `json:"challenge,omitempty"`
	Expires   time.Time `json:"expires"`
	Used      bool      `json:"used,omitempty"`
}

// Refresh is a refresh token, without its secret.
type Refresh struct {
	Family  []byte    `json:"family"`
	Hash    []byte    `json:"hash"`
	Expires time.Time `json:"expires"`
}

// Access is an access token, without its secret.
type Access struct {
	Hash    []byte    `json:"hash"`
	Scopes  []string  `json:"scopes"`
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires"`
}

// live reports whether the grant is good for anything, or will be needed to
// know a code or token that comes again.
func (g *Grant) live(now time.Time) bool {
	return g.Code != nil && !g.Code.Used && now.Before(g.Code.Expires) ||
		g.Refresh != nil && now.Before(g.Refresh.Expires) ||
		slices.ContainsFunc(g.Access, func(a Access) bool { return now.Before(a.Expires) })
}

// Active reports whether tokens were given out for the grant.
func (g *Grant) Active() bool { return !g.Used.IsZero() }

// Grants are what users let apps do, and what was given out for that.
type Grants struct{ *base }

// Get returns a grant of an app and a user who may use it, or an error that
// is ErrNoGrant.
func (b Grants) Get(id GrantID) (*Grant, error) {
	g, err := grants.Get(b.st, id)
	if err != nil {
		return nil, gone(err)
	}
	if err := b.usable(id.User(), g.App); err != nil {
		return nil, fmt.Errorf("grant %s: %w", id, err)
	}
	return g, nil
}

// gone makes of an error about a record that is not there one about the grant.
func gone(err error) error {
	if isNotFound(err) {
		return ErrNoGrant
	}
	return err
}

// usable fails with ErrNoGrant unless both the user and the app are there and
// neither is switched off.
func (b *base) usable(user uint32, app string) error {
	a, err := b.app(app)
	if err != nil {
		return gone(err)
	}
	u, err := b.user(user)
	if err != nil {
		return gone(err)
	}
	if a.Disabled || a.over(b.now()) || u.Locked || a.Kind == Service && a.Account != user {
		return ErrNoGrant
	}
	return nil
}

// ByAccess returns the access token with a key and its grant, or an error that
// is ErrNoGrant.
func (b Grants) ByAccess(k Key) (*Grant, *Access, error) {
	g, err := b.Get(k.Grant)
	if err != nil {
		return nil, nil, err
	}
	now := b.now()
	for i := range g.Access {
		if a := &g.Access[i]; k.Hash.is(a.Hash) && now.Before(a.Expires) {
			return g, a, nil
		}
	}
	return nil, nil, ErrNoGrant
}

// ByCode returns the grant that began with a code. The error is ErrNoGrant for
// a code that is not good, and ErrReused, with the grant, for one that has been
// used.
func (b Grants) ByCode(k Key) (*Grant, error) {
	g, err := b.Get(k.Grant)
	if err != nil {
		return nil, err
	}
	return g, g.checkCode(k, b.now())
}

func (g *Grant) checkCode(k Key, now time.Time) error {
	switch {
	case g.Code == nil || !k.Hash.is(g.Code.Hash):
		return ErrNoGrant
	case g.Code.Used:
		return ErrReused
	case !now.Before(g.Code.Expires):
		return ErrNoGrant
	}
	return nil
}

// ByRefresh returns the grant of a refresh token. The error is ErrNoGrant for a
// token that is not good, and ErrReused, with the grant, for one that has been
// used.
func (b Grants) ByRefresh(k Key) (*Grant, error) {
	g, err := b.Get(k.Grant)
	if err != nil {
		return nil, err
	}
	return g, g.checkRefresh(k, b.now())
}

func (g *Grant) checkRefresh(k Key, now time.Time) error {
	switch {
	case g.Refresh == nil || !k.Family.is(g.Refresh.Family):
		return ErrNoGrant
	case !k.Hash.is(g.Refresh.Hash):
		return ErrReused
	case !now.Before(g.Refresh.Expires):
		return ErrNoGrant
	}
	return nil
}

// Ask is the request of an app that a user agreed to.
type Ask struct {
	App                 string
	Scopes              []string
	Redirect, Challenge string
}

// Agree begins a grant with the code k, whose grant ID was made for the user.
func (b Grants) Agree(by identity.Author, k Key, ask Ask) error {
	return b.change(by, "agree", func(b *Book, tx *identity.Tx) error {
		if err := by.MayCreateCredentials(); err != nil {
			return err
		}
		if err := b.usable(k.Grant.User(), ask.App); err != nil {
			return err
		}
		g := &Grant{ID: k.Grant, App: ask.App, Scopes: ask.Scopes, Created: tx.Now(), Code: &Code{
			Hash: k.Hash[:], Redirect: ask.Redirect, Challenge: ask.Challenge, Expires: tx.Now().Add(CodeLasts),
		}}
		if err := b.Grants.makeRoom(tx, g, mostGrants); err != nil {
			return err
		}
		if err := b.Apps.extend(tx, ask.App); err != nil {
			return err
		}
		tx.Audit(ActionGrant, appTarget(ask.App), k.Grant.User(), "scopes "+strings.Join(ask.Scopes, " "))
		return grants.Put(tx.Records(), g.ID, g)
	})
}

// makeRoom deletes the grants of the same user and app that are used no more,
// and the oldest while there are too many for another one.
func (b Grants) makeRoom(tx *identity.Tx, n *Grant, most int) error {
	var same []*Grant
	err := each(b.base, grants, table.ID(n.ID.User()), func(_ GrantID, g *Grant) error {
		switch {
		case g.App != n.App:
		case !g.live(tx.Now()):
			grants.Delete(tx.Records(), g.ID)
		default:
			same = append(same, g)
		}
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortFunc(same, func(a, b *Grant) int { return cmp.Or(a.Created.Compare(b.Created), bytes.Compare(a.ID[:], b.ID[:])) })
	for len(same) >= most {
		grants.Delete(tx.Records(), same[0].ID)
		same = same[1:]
	}
	return nil
}

// Tokens are the tokens issued to a client.
type Tokens struct {
	Access Key
	// Refresh is nil if it is given none.
	Refresh *Key
	// Scopes are those of the access token.
	Scopes []string
}

// add gives the grant the keys of tokens. The oldest access tokens may have to go
// for that.
func (g *Grant) add(t Tokens, now time.Time, refreshLasts time.Duration) {
	g.Used = now
	g.Access = slices.DeleteFunc(g.Access, func(a Access) bool { return !now.Before(a.Expires) })
	g.Access = append(g.Access, Access{Hash: t.Access.Hash[:], Scopes: t.Scopes, Created: now, Expires: now.Add(AccessLasts)})
	if over := len(g.Access) - mostAccess; over > 0 {
		g.Access = g.Access[over:]
	}
	if t.Refresh != nil {
		g.Refresh = &Refresh{Family: t.Refresh.Family[:], Hash: t.Refresh.Hash[:], Expires: now.Add(refreshLasts)}
	}
}

// Redeem gives out tokens for a code, which is used by that. The grant of one
// that has been used before is revoked, and the error is ErrReused.
func (b Grants) Redeem(by identity.Author, code Key, t Tokens) error {
	return b.renew(by, code.Grant, "a code was used a second time", t, func(g *Grant, now time.Time) error {
		if err := g.checkCode(code, now); err != nil {
			return err
		}
		g.Code.Used = true
		return nil
	})
}

// Rotate gives out tokens for a refresh token, which is used by that, as
// Redeem does for a code.
func (b Grants) Rotate(by identity.Author, old Key, t Tokens) error {
	return b.renew(by, old.Grant, "a refresh token was used a second time", t, func(g *Grant, now time.Time) error {
		return g.checkRefresh(old, now)
	})
}

func (b Grants) renew(by identity.Author, id GrantID, reused string, t Tokens, use func(g *Grant, now time.Time) error) error {
	err := b.update(by, func(b *Book, tx *identity.Tx) error {
		g, err := b.Grants.Get(id)
		if err != nil {
			return err
		}
		if err := use(g, tx.Now()); err != nil {
			return err
		}
		g.add(t, tx.Now(), b.o.RefreshLasts)
		return errors.Join(b.Apps.extend(tx, g.App), grants.Put(tx.Records(), g.ID, g))
	})
	if errors.Is(err, ErrReused) {
		err = errors.Join(err, b.Revoke(by, id, reused))
	}
	return err
}

// GiveService gives a Service app an access token, with a grant of its own.
func (b Grants) GiveService(by identity.Author, app string, t Tokens) error {
	return b.update(by, func(b *Book, tx *identity.Tx) error {
		a, err := b.app(app)
		if err != nil {
			return gone(err)
		}
		if err := b.usable(t.Access.Grant.User(), app); err != nil || a.Kind != Service {
			return errors.Join(err, ErrNoGrant)
		}
		return b.Grants.begin(tx, app, t.Scopes, t, mostServiceGrants)
	})
}

// begin makes a grant that begins with tokens, beside less than most of the same user
// and app.
func (b Grants) begin(tx *identity.Tx, app string, scopes []string, t Tokens, most int) error {
	g := &Grant{ID: t.Access.Grant, App: app, Scopes: scopes, Created: tx.Now()}
	if err := b.makeRoom(tx, g, most); err != nil {
		return err
	}
	g.add(t, tx.Now(), b.o.RefreshLasts)
	return grants.Put(tx.Records(), g.ID, g)
}

// Revoke ends a grant with all its tokens, for good. Why is for the audit log.
// One that is gone already is no error.
func (b Grants) Revoke(by identity.Author, id GrantID, why string) error {
	return b.change(by, "revoke grant", func(b *Book, tx *identity.Tx) error {
		g, err := grants.Get(b.st, id)
		if isNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		grants.Delete(tx.Records(), id)
		tx.Audit(ActionGrantRevoke, appTarget(g.App), id.User(), why)
		return nil
	})
}

// RevokeApp ends all grants of a user to an app; the error is
// store.ErrNotFound if there are none.
func (b Grants) RevokeApp(by identity.Author, user uint32, app string) error {
	return b.change(by, fmt.Sprintf("revoke what %.200q may do", app), func(b *Book, tx *identity.Tx) error {
		n := 0
		err := each(b.base, grants, table.ID(user), func(_ GrantID, g *Grant) error {
			if g.App == app {
				grants.Delete(tx.Records(), g.ID)
				n++
			}
			return nil
		})
		if err == nil && n == 0 {
			err = store.ErrNotFound
		}
		if err != nil {
			return err
		}
		tx.Audit(ActionGrantRevoke, appTarget(app), user, fmt.Sprintf("all, %d of them", n))
		return nil
	})
}

// sweep deletes the grants that are good for nothing any more.
func (b Grants) sweep(tx *identity.Tx) error {
	owners := map[uint32]bool{}
	known := map[string]bool{}
	return each(b.base, grants, nil, func(id GrantID, g *Grant) error {
		user := id.User()
		if _, asked := owners[user]; !asked {
			_, err := b.user(user)
			if err != nil && !isNotFound(err) {
				return err
			}
			owners[user] = err == nil
		}
		if _, asked := known[g.App]; !asked {
			_, err := b.app(g.App)
			if err != nil && !isNotFound(err) {
				return err
			}
			known[g.App] = err == nil
		}
		if !owners[user] || !known[g.App] || !g.live(tx.Now()) {
			grants.Delete(tx.Records(), id)
		}
		return nil
	})
}

// Authorised is an app that a user let act for them.
type Authorised struct {
	App *App
	// Scopes are those of all its grants together; Grants is how many there
	// are, such as one for each machine where the user has signed in.
	Scopes []string
	Grants int
	// Since is when the first was made, Used when tokens were last given out.
	Since, Used time.Time
}

// Authorised returns the apps that hold or can get tokens for a user, by name.
func (b Grants) Authorised(user uint32) ([]*Authorised, error) {
	apps := map[string]*Authorised{}
	now := b.now()
	err := each(b.base, grants, table.ID(user), func(_ GrantID, g *Grant) error {
		if !g.Active() || !g.live(now) {
			return nil
		}
		a := apps[g.App]
		if a == nil {
			app, err := b.app(g.App)
			if isNotFound(err) {
				return nil // it is being deleted
			}
			if err != nil {
				return err
			}
			a = &Authorised{App: app, Since: g.Created}
			apps[g.App] = a
		}
		a.add(g)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list apps of a user: %w", err)
	}
	var out []*Authorised
	for _, a := range apps {
		out = append(out, a)
	}
	slices.SortFunc(out, func(a, b *Authorised) int {
		return cmp.Or(cmp.Compare(a.App.Name, b.App.Name), cmp.Compare(a.App.ID, b.App.ID))
	})
	return out, nil
}

func (a *Authorised) add(g *Grant) {
	a.Grants++
	if g.Created.Before(a.Since) {
		a.Since = g.Created
	}
	if g.Used.After(a.Used) {
		a.Used = g.Used
	}
	for _, s := range g.Scopes {
		if !slices.Contains(a.Scopes, s) {
			a.Scopes = append(a.Scopes, s)
		}
	}
}
