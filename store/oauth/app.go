package oauth

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
)

// AppKind says what an app can keep secret, and whom it acts for.
type AppKind string

// The kinds of apps: programs on people's machines, which keep no secret;
// servers, which do; and servers that act as a service account of their own.
const (
	Public       AppKind = "public"
	Confidential AppKind = "confidential"
	Service      AppKind = "service"
)

// The scopes that an app may be given.
const (
	ScopeOpenID  = "openid"
	ScopeProfile = "profile"
	ScopeEmail   = "email"
	// ScopeOffline asks for a refresh token.
	ScopeOffline = "offline_access"
)

// Scopes returns all scopes there are.
func Scopes() []string {
	return []string{ScopeOpenID, ScopeProfile, ScopeEmail, ScopeOffline, identity.ScopeAll, identity.ScopeMCP}
}

// App is a program that may ask users to act for them.
type App struct {
	// ID is the client id, known to everybody.
	ID   string  `json:"id"`
	Name string  `json:"name"`
	Kind AppKind `json:"kind"`
	// Redirects are where an authorization code may be sent to.
	Redirects []string `json:"redirects,omitempty"`
	// Scopes are all that it may ask for.
	Scopes []string `json:"scopes"`
	// Account is the ID of the service account of a Service app.
	Account uint32 `json:"account,omitempty"`
	// Secret is SHA-256 of its secret, nil for a public app.
	Secret []byte `json:"secret,omitempty"`
	// Creator is the ID of who made it, 0 for the operator.
	Creator uint32    `json:"creator,omitempty"`
	Created time.Time `json:"created"`
	// Disabled takes effect on all its tokens at once and can be undone.
	Disabled bool `json:"disabled,omitempty"`
	// BuiltIn says that it came with the program.
	BuiltIn bool `json:"builtIn,omitempty"`
	// Registered says that it registered itself, from Address, and is deleted after
	// Until.
	Registered bool      `json:"registered,omitempty"`
	Address    string    `json:"address,omitempty"`
	Until      time.Time `json:"until,omitzero"`
}

// CommandLine is the client id of the app that came with the program: the
// command line client src, which signs in by the device flow.
const CommandLine = "sgo_cid_sourcegraph-cli"

func builtIn(id string) *App {
	if id != CommandLine {
		return nil
	}
	return &App{
		ID: id, Name: "src, on the command line", Kind: Public, BuiltIn: true, Scopes: Scopes(),
		Created: time.Unix(0, 0).UTC(),
	}
}

// SecretIs reports whether text is the app's secret.
func (a *App) SecretIs(text string) bool {
	return len(a.Secret) > 0 && Hash(sha256.Sum256([]byte(text))).is(a.Secret)
}

// NewApp is an app to create.
type NewApp struct {
	// ID may be empty, and then is made.
	ID, Name  string
	Kind      AppKind
	Redirects []string
	// Scopes may be empty: then all, or for a Service app user:all.
	Scopes []string
	// Account is the ID of the service account of a Service app.
	Account uint32
}

// Apps are the programs that may ask users to act for them.
type Apps struct{ *base }

// Get returns the app with a client id, also one that is switched off, or an
// error that is store.ErrNotFound.
func (b Apps) Get(id string) (*App, error) { return b.app(id) }

func (b *base) app(id string) (*App, error) {
	a, err := apps.Get(b.st, id)
	if isNotFound(err) {
		if a := builtIn(id); a != nil {
			return a, nil
		}
	}
	return a, err
}

// All returns all apps by name.
func (b Apps) All() ([]*App, error) {
	out, err := apps.All(b.st, store.RecordRange{}, b.reg.TellDamaged)
	if err != nil {
		return nil, fmt.Errorf("list apps: %w", err)
	}
	if !slices.ContainsFunc(out, func(a *App) bool { return a.ID == CommandLine }) {
		out = append(out, builtIn(CommandLine))
	}
	slices.SortFunc(out, func(a, b *App) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID)) })
	return out, nil
}

// Create makes an app and returns its secret, which is kept nowhere; a
// public app has none.
func (b Apps) Create(by identity.Author, n NewApp) (secret string, a *App, err error) {
	err = b.change(by, "create app", func(b *Book, tx *identity.Tx) (err error) {
		if err := by.MayCreateCredentials(); err != nil {
			return err
		}
		if a, err = b.Apps.newApp(n); err != nil {
			return err
		}
		a.Creator, a.Created = by.UserID, tx.Now()
		if a.Kind != Public {
			if secret, err = b.Apps.newSecret(a); err != nil {
				return err
			}
		}
		tx.Audit(ActionAppCreate, appTarget(a.ID), a.Account, fmt.Sprintf("%s, %s, scopes %v, redirects %v", a.Name, a.Kind, a.Scopes, a.Redirects))
		return apps.Put(tx.Records(), a.ID, a)
	})
	if err != nil {
		return "", nil, err
	}
	return secret, a, nil
}

// newApp checks what an app is to be.
func (b Apps) newApp(n NewApp) (*App, error) {
	a := &App{ID: n.ID, Name: n.Name, Kind: n.Kind, Redirects: n.Redirects, Scopes: n.Scopes, Account: n.Account}
	if err := b.checkNewID(a); err != nil {
		return nil, err
	}
	if err := checkAppName(a.Name); err != nil {
		return nil, err
	}
	if err := b.checkKind(a); err != nil {
		return nil, err
	}
	if len(a.Scopes) == 0 {
		a.Scopes = Scopes()
		if a.Kind == Service {
			a.Scopes = []string{identity.ScopeAll}
		}
	}
	if err := checkScopes(a.Scopes); err != nil {
		return nil, err
	}
	return a, checkRedirects(a.Redirects)
}

func (b Apps) checkNewID(a *App) error {
	all, err := b.All()
	if err != nil {
		return err
	}
	made := slices.DeleteFunc(slices.Clone(all), func(a *App) bool { return a.Registered })
	if len(made) >= mostApps {
		return refuse("there are %d apps, which is the most there may be: delete one first", len(made))
	}
	if a.ID == "" {
		random, err := b.random(10)
		if err != nil {
			return err
		}
		a.ID = "sgo_cid_" + hex.EncodeToString(random)
	}
	if len(a.ID) > 128 || strings.Trim(a.ID, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") != "" {
		return refuse("%.200q cannot be a client id: use letters, digits, dots, _ and -, at most 128", a.ID)
	}
	if _, err := b.Get(a.ID); err == nil {
		return fmt.Errorf("the client id %q: %w", a.ID, store.ErrExists)
	} else if !isNotFound(err) {
		return err
	}
	return nil
}

// checkAppName refuses names that the page for consent could not show as they
// are.
func checkAppName(name string) error {
	unseen := func(r rune) bool {
		return r < ' ' || r >= 0x7f && r < 0xa0 || r == 0xfffd || r >= 0x200b && r <= 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2060 && r <= 0x206f || r == 0xfeff
	}
	switch {
	case strings.TrimSpace(name) == "":
		return refuse("an app needs a name: users see it when they are asked")
	case len(name) > 100 || strings.ContainsFunc(name, unseen):
		return refuse("%.200q cannot be the name of an app: take at most 100 bytes, all of which can be seen", name)
	}
	return nil
}

func (b Apps) checkKind(a *App) error {
	switch a.Kind {
	case Public:
	case Confidential:
		if len(a.Redirects) == 0 {
			return refuse("a confidential app needs a redirect URI, where users are sent back to")
		}
	case Service:
		u, err := b.user(a.Account)
		if err != nil {
			return err
		}
		if !u.Service {
			return refuse("%s is no service account: only those can have an app of their own", u.Name)
		}
		if len(a.Redirects) > 0 || slices.ContainsFunc(a.Scopes, func(s string) bool { return s != identity.ScopeAll && s != identity.ScopeMCP }) {
			return refuse("an app of a service account has the scopes %s and %s only, and no redirect URI", identity.ScopeAll, identity.ScopeMCP)
		}
	default:
		return refuse("%q is no kind of app: %s, %s and %s are", a.Kind, Public, Confidential, Service)
	}
	if a.Kind != Service && a.Account != 0 {
		return refuse("only an app of the kind %s has a service account", Service)
	}
	return nil
}

func checkScopes(scopes []string) error {
	for i, s := range scopes {
		if !slices.Contains(Scopes(), s) {
			return refuse("unknown scope %.100q: an app may have %s", s, strings.Join(Scopes(), ", "))
		}
		if slices.Contains(scopes[:i], s) {
			return refuse("the scope %s stands there twice", s)
		}
	}
	return nil
}

// newSecret gives an app a secret.
func (b Apps) newSecret(a *App) (string, error) {
	random, err := b.random(secretBytes)
	if err != nil {
		return "", err
	}
	text := wrap(secretText, random)
	sum := sha256.Sum256([]byte(text))
	a.Secret = sum[:]
	return text, nil
}

// RotateSecret gives an app another secret. The old one is no good from then
// on; tokens stay.
func (b Apps) RotateSecret(by identity.Author, id string) (secret string, err error) {
	err = b.change(by, "change the secret of an app", func(b *Book, tx *identity.Tx) error {
		if err := by.MayCreateCredentials(); err != nil {
			return err
		}
		a, err := b.app(id)
		if err != nil {
			return err
		}
		if a.Kind == Public {
			return refuse("a public app has no secret")
		}
		if secret, err = b.Apps.newSecret(a); err != nil {
			return err
		}
		tx.Audit(ActionAppSecret, appTarget(id), a.Account, a.Name)
		return apps.Put(tx.Records(), id, a)
	})
	if err != nil {
		return "", err
	}
	return secret, nil
}

// SetDisabled switches an app off, with all its tokens, or on again.
func (b Apps) SetDisabled(by identity.Author, id string, off bool) error {
	return b.change(by, "change app", func(b *Book, tx *identity.Tx) error {
		a, err := b.app(id)
		if err != nil || a.Disabled == off {
			return err
		}
		if err := by.MayCreateCredentials(); err != nil && !off {
			return err
		}
		a.Disabled = off
		tx.Audit(ActionAppUpdate, appTarget(id), a.Account, fmt.Sprintf("%s, disabled: %t", a.Name, off))
		return apps.Put(tx.Records(), id, a)
	})
}

// Delete deletes an app with all that it was granted.
func (b Apps) Delete(by identity.Author, id string) error {
	return b.change(by, "delete app", func(b *Book, tx *identity.Tx) error {
		a, err := b.app(id)
		if err != nil {
			return err
		}
		if a.BuiltIn {
			return refuse("%s came with trawl and cannot be deleted: switch it off instead", a.Name)
		}
		tx.Audit(ActionAppDelete, appTarget(id), a.Account, a.Name)
		apps.Delete(tx.Records(), id)
		err = each(b.base, devices, nil, func(code Hash, d *Device) error {
			if d.App == id {
				d.delete(tx, code)
			}
			return nil
		})
		if err != nil {
			return err
		}
		return each(b.base, grants, nil, func(_ GrantID, g *Grant) error {
			if g.App == id {
				grants.Delete(tx.Records(), g.ID)
			}
			return nil
		})
	})
}
