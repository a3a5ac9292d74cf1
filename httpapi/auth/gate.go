package auth

import (
	"context"
	"crypto/subtle"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trawlsearch/trawl/store/identity"
)

// CookieName is that of the session cookie, OperatorHeader that of the header
// by which programs on the same machine show that they may read the data
// directory.
const (
	CookieName     = "sgs"
	OperatorHeader = "X-Trawl-Admin-Token"
)

// Bearers knows the bearer tokens of an OAuth server.
type Bearers interface {
	// Bearer returns whom a token stands for. An error that is
	// identity.ErrNoCredential says that it is not good, any other that this
	// could not be found out.
	Bearer(ctx context.Context, token string) (Bearer, error)
}

// Bearer is the identity of a valid bearer token.
type Bearer struct {
	// User is the ID of the user it acts for.
	User    uint32
	Client  string
	Scopes  []string
	Expires time.Time
}

// AnonymousMode says which clients may search without a credential.
type AnonymousMode int

// The modes. With AnonymousAuto clients on the same machine may search, until
// there is the first user.
const (
	AnonymousAuto AnonymousMode = iota
	AnonymousYes
	AnonymousNo
)

// Gate lets requests in. Its fields are set before the first and not changed
// afterwards.
type Gate struct {
	// Registry returns the users, nil while they cannot be looked up yet. A nil
	// function is a service without users.
	Registry func() *identity.Registry
	// Bearers may be nil: then no bearer token is good.
	Bearers Bearers
	// OperatorToken is the value that OperatorHeader must hold; with "" no
	// request is the operator's.
	OperatorToken string
	Anonymous     AnonymousMode
	Reach
	// UserRate and AddressRate are how many requests a minute a user, with all
	// credentials together, and an address without a user may make; 0 is no limit.
	UserRate, AddressRate int
	// Nodes returns how many nodes are alive and divide the rates; nil is one.
	Nodes func() int
	// Current reports whether this node is known to have what all others have changed;
	// nil is always. While it is not, no credential is judged and nobody but the operator
	// gets in, since a credential may have been revoked and a repository hidden.
	Current func() bool
	// Now is the clock; nil is time.Now.
	Now func() time.Time

	prepareOnce         sync.Once
	perUser, perAddress *Limiter
	// anonymous is what SetPolicy has put in the place of Anonymous, nil before.
	anonymous atomic.Pointer[AnonymousMode]
	running   running
}

func (g *Gate) prepare() {
	g.prepareOnce.Do(func() {
		if g.Now == nil {
			g.Now = time.Now
		}
		g.perUser, g.perAddress = NewLimiter(g.UserRate, g.Nodes), NewLimiter(g.AddressRate, g.Nodes)
	})
}

// Policy is what may change while requests are let in; see the fields of Gate.
type Policy struct {
	Anonymous             AnonymousMode
	UserRate, AddressRate int
}

// SetPolicy puts p in the place of what the fields of g say, for requests to come and
// for those that are being answered.
func (g *Gate) SetPolicy(p Policy) {
	g.prepare()
	g.perUser.SetRate(p.UserRate)
	g.perAddress.SetRate(p.AddressRate)
	g.anonymous.Store(&p.Anonymous)
	g.Recheck()
}

// anonymousMode is who may search without a credential now.
func (g *Gate) anonymousMode() AnonymousMode {
	if mode := g.anonymous.Load(); mode != nil {
		return *mode
	}
	return g.Anonymous
}

// Access says whom a route answers.
type Access int

// The kinds of access, from the narrowest. ForSearch is for users and, if the
// settings allow it, for anonymous requests. ForAnyone judges credentials too,
// but asks for none. ForPublic is the same for what shows nothing of the store beside
// the name of the user, and judges nothing else: while the node is not current, such
// requests are anonymous and go on. ForClients is for programs that show credentials of
// another kind, which the route judges: it counts requests only. ForProbes does
// not even that. ForAgents is ForSearch, and lets in tokens that are for the Model
// Context Protocol only.
const (
	ForSearch Access = iota
	ForAgents
	ForUsers
	ForSiteAdmins
	ForAnyone
	ForPublic
	ForClients
	ForProbes
)

// errOpening is the answer while users cannot be looked up yet.
var errOpening = &Denied{
	Status: http.StatusServiceUnavailable, Message: "opening data directory", Header: http.Header{"Retry-After": {"1"}},
}

// Admit decides whether a request gets in and sets the headers that its answer
// has in any case. The request it returns has an Actor, and no token in its URL;
// its context ends soon after its credential does, or has rights taken away.
// The caller calls release
// when the request is over. An error is a *Denied.
func (g *Gate) Admit(w http.ResponseWriter, r *http.Request, access Access) (in *http.Request, release func(), err error) {
	if access == ForProbes {
		return r, func() {}, nil
	}
	if err := g.CheckHost(r); err != nil {
		return nil, nil, err
	}
	g.prepare()
	if !g.IsCurrent() && !g.isOperator(r) {
		return g.admitUnconfirmed(w, r, access)
	}
	if access == ForClients {
		actor := &Actor{Address: g.address(r)}
		return r.WithContext(WithActor(r.Context(), actor)), func() {}, g.limit(actor)
	}
	w.Header().Add("Vary", "Authorization, Cookie, X-Requested-With, Origin")
	crossOrigin(w.Header(), r)
	since := g.running.now()
	in, cred, err := g.credentialOf(r)
	address := g.address(r)
	var actor *Actor
	if err == nil {
		actor, err = g.identify(in, cred)
	}
	if g.maySoonBeKnown(cred, actor, err) {
		if wait := g.perAddress.Wait(identity.AddressKey(address), g.Now()); wait > 0 {
			return nil, nil, errTooMany(wait)
		}
		if actor, err = g.lookAgain(in, cred); err != nil {
			return nil, nil, err
		}
	}
	if err != nil {
		// Guessing costs what asking does.
		if wait := g.perAddress.Wait(identity.AddressKey(address), g.Now()); wait > 0 {
			err = errTooMany(wait)
		}
		return nil, nil, err
	}
	actor.Address = address
	if err := g.limit(actor); err != nil {
		return nil, nil, err
	}
	if err := g.allow(in, actor, access); err != nil {
		return nil, nil, err
	}
	ctx, release := g.running.begin(in.Context(), since, actor, g.rechecks(cred, actor))
	return in.WithContext(ctx), release, nil
}

// IsCurrent is Current, true without one.
func (g *Gate) IsCurrent() bool { return g.Current == nil || g.Current() }

// admitUnconfirmed is Admit while the node is not current. It looks at no credential
// and counts requests of the address only.
func (g *Gate) admitUnconfirmed(w http.ResponseWriter, r *http.Request, access Access) (in *http.Request, release func(), err error) {
	w.Header().Add("Vary", "Authorization, Cookie, X-Requested-With, Origin")
	crossOrigin(w.Header(), r)
	if access != ForPublic {
		return nil, nil, errNotCurrent
	}
	if g.Registry != nil && g.Registry() == nil {
		return nil, nil, errOpening
	}
	actor := &Actor{Address: g.address(r)}
	if err := g.limit(actor); err != nil {
		return nil, nil, err
	}
	in, _ = withoutToken(r)
	return in.WithContext(WithActor(in.Context(), actor)), func() {}, nil
}

// maySoonBeKnown reports whether a credential that this node does not know may be one
// that another node has just made.
func (g *Gate) maySoonBeKnown(cred credential, a *Actor, err error) bool {
	unknown := false
	switch cred.kind {
	case accessToken, bearerToken:
		unknown = err != nil
	case sessionCookie:
		unknown = err == nil && a.User == nil
	}
	return unknown && g.Registry != nil && g.Registry() != nil && g.Registry().Shared()
}

// lookAgain judges a credential by what all nodes have changed.
func (g *Gate) lookAgain(r *http.Request, cred credential) (*Actor, error) {
	if err := g.Registry().CatchUp(r.Context()); err != nil {
		return nil, errAway(err)
	}
	return g.identify(r, cred)
}

// credentialOf reads the first credential of a request, in the order in which
// clients expect it, and takes a token out of the URL.
func (g *Gate) credentialOf(r *http.Request) (*http.Request, credential, error) {
	r, token := withoutToken(r)
	if token != "" {
		return r, credential{kind: accessToken, secret: token}, nil
	}
	if header := r.Header.Get("Authorization"); header != "" {
		cred, err := parseAuthorization(header)
		if err != nil {
			return r, cred, errHeader
		}
		// A browser that has once been given a token as user name sends it to
		// us for any page that asks.
		if cred.ambient && g.Foreign(r) && r.Header.Get("X-Requested-With") == "" {
			cred = credential{}
		}
		if cred.kind != noCredential {
			return r, cred, nil
		}
	}
	if name := g.vouchedFor(r); name != "" && g.cookieCounts(r) {
		return r, credential{kind: vouchedUser, secret: name}, nil
	}
	if cookie, err := r.Cookie(CookieName); err == nil && cookie.Value != "" && g.cookieCounts(r) {
		return r, credential{kind: sessionCookie, secret: cookie.Value}, nil
	}
	return r, credential{}, nil
}

// withoutToken returns the token parameter of a request's URL, and the request
// without it, so that neither logs, traces nor handlers see it.
func withoutToken(r *http.Request) (*http.Request, string) {
	if !mayHave(r.URL.RawQuery, "token") {
		return r, ""
	}
	values := r.URL.Query()
	if !values.Has("token") {
		return r, ""
	}
	token := values.Get("token")
	values.Del("token")
	out := r.Clone(r.Context())
	out.URL.RawQuery = values.Encode()
	out.RequestURI = out.URL.RequestURI()
	return out, token
}

// mayHave reports whether a query string may have a parameter of a name. It
// reads no values: few requests have the parameter, and all are asked.
func mayHave(query, name string) bool {
	for part := range strings.SplitSeq(query, "&") {
		key, _, _ := strings.Cut(part, "=")
		if strings.ContainsAny(key, "%+") {
			key, _ = url.QueryUnescape(key) // what cannot be read is no parameter either
		}
		if key == name {
			return true
		}
	}
	return false
}

// identify returns the actor of a credential. An invalid access or bearer token
// is an error; a request with an invalid session is anonymous. Until there is a first
// user, who administers the server, proxies sign nobody in.
func (g *Gate) identify(r *http.Request, cred credential) (*Actor, error) {
	if g.isOperator(r) {
		return OperatorActor(), nil
	}
	if g.Registry == nil {
		return &Actor{alone: true}, nil
	}
	reg := g.Registry()
	if reg == nil {
		return nil, errOpening
	}
	users := accounts{reg, g.Bearers}
	switch {
	case cred.kind == accessToken, cred.kind == bearerToken:
		return users.byText(r.Context(), cred)
	case cred.kind == sessionCookie:
		return users.bySession(cred)
	case cred.kind == vouchedUser && reg.Used():
		return users.byVouched(r.Context(), identity.Author{Address: g.address(r)}, cred)
	}
	return &Actor{alone: !reg.Used() && g.isAlone(r)}, nil
}

// isOperator reports whether the request shows the operator's token and comes
// from this machine.
func (g *Gate) isOperator(r *http.Request) bool {
	given := r.Header.Get(OperatorHeader)
	return g.OperatorToken != "" && FromThisMachine(r) && subtle.ConstantTimeCompare([]byte(given), []byte(g.OperatorToken)) == 1
}

// limit refuses a user, or an address without one, that asks too often.
func (g *Gate) limit(a *Actor) error {
	if a.operator {
		return nil
	}
	var wait time.Duration
	switch {
	case a.User != nil:
		wait = g.perUser.Wait(a.Payer(), g.Now())
	default:
		wait = g.perAddress.Wait(identity.AddressKey(a.Address), g.Now())
	}
	if wait > 0 {
		return errTooMany(wait)
	}
	return nil
}

// allow decides whether the actor gets in.
func (g *Gate) allow(r *http.Request, a *Actor, access Access) error {
	if access != ForAgents && a.Token != nil && a.Token.Has(identity.ScopeMCP) && !a.Token.Has(identity.ScopeAll) {
		return errInvalidToken
	}
	switch access {
	case ForAnyone, ForPublic:
		return nil
	case ForSiteAdmins:
		if !a.Anonymous() && !a.SiteAdmin() {
			return errSiteAdmin
		}
	case ForSearch, ForAgents:
		if a.Anonymous() && g.anonymousMay(r, a) {
			return nil
		}
	}
	if a.Anonymous() {
		return errPrivate
	}
	// A bearer token may stand for less than its user.
	switch {
	case a.Has(identity.ScopeAll):
		return nil
	case access != ForAgents:
		return errScope
	case !a.Has(identity.ScopeMCP):
		return errAgentScope
	}
	return nil
}

// anonymousMay reports whether an anonymous request may search.
func (g *Gate) anonymousMay(r *http.Request, a *Actor) bool {
	mode := g.anonymousMode()
	switch {
	case mode == AnonymousNo, mode == AnonymousAuto && !a.alone:
		return false
	case g.Local && !g.ownHost(r):
		return false
	}
	return slices.Contains(g.Origins, AnyOrigin) || !g.Foreign(r)
}
