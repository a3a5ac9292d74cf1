package oauth

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ory/fosite"

	"github.com/trawlsearch/trawl/httpapi/auth"
	kept "github.com/trawlsearch/trawl/store/oauth"
)

// pollEvery is how often a device may ask, and how much more it has to wait each
// time that it asks too soon (RFC 8628, section 3.5).
const pollEvery = 5 * time.Second

// The errors of RFC 8628.
var (
	errPending  = deviceError("authorization_pending", "The user has not decided yet.")
	errSlowDown = deviceError("slow_down", "This is too often: wait 5 seconds more each time from now on.")
	errExpired  = deviceError("expired_token", "The user did not decide in time: begin again.")
)

func deviceError(code, text string) *fosite.RFC6749Error {
	return &fosite.RFC6749Error{ErrorField: code, DescriptionField: text, CodeField: http.StatusBadRequest}
}

// deviceAnswer is the answer to a device that begins.
type deviceAnswer struct {
	DeviceCode string `json:"device_code"`
	UserCode   string `json:"user_code"`
	URI        string `json:"verification_uri"`
	Complete   string `json:"verification_uri_complete"`
	ExpiresIn  int    `json:"expires_in"`
	Interval   int    `json:"interval"`
}

// serveDeviceCode has a device begin to wait for a user.
func (s *Server) serveDeviceCode(r *http.Request) (any, error) {
	c, err := s.provider.AuthenticateClient(r.Context(), r, r.PostForm)
	if err != nil {
		return nil, err
	}
	if !c.GetGrantTypes().Has(grantDevice) {
		return nil, fosite.ErrUnauthorizedClient.WithHint("Only a public app can sign in by a device code.")
	}
	scopes := strings.Fields(r.PostForm.Get("scope"))
	for i, scope := range scopes {
		if !c.GetScopes().Has(scope) || slices.Contains(scopes[:i], scope) {
			return nil, fosite.ErrInvalidScope.WithHint("The app may not have one of these scopes, or names one twice.")
		}
	}
	if len(scopes) == 0 {
		return nil, fosite.ErrInvalidScope.WithHint("Name the scopes to ask for.")
	}
	device, user, err := s.Book().Devices.Add(c.GetID(), scopes, auth.From(r.Context()).Address)
	if err != nil {
		return nil, err
	}
	uri := s.base(r) + DevicePath
	return deviceAnswer{
		DeviceCode: device, UserCode: user, URI: uri, Complete: uri + "?user_code=" + url.QueryEscape(user),
		ExpiresIn: int(kept.DeviceLasts.Seconds()), Interval: int(pollEvery.Seconds()),
	}, nil
}

// deviceGrant gives tokens to a device that a user has let in, as a handler of
// the library's.
type deviceGrant struct{ *Server }

func (deviceGrant) CanHandleTokenEndpointRequest(_ context.Context, r fosite.AccessRequester) bool {
	return r.GetGrantTypes().ExactOne(grantDevice)
}

func (deviceGrant) CanSkipClientAuth(context.Context, fosite.AccessRequester) bool { return false }

// HandleTokenEndpointRequest judges whether a device gets tokens.
func (d deviceGrant) HandleTokenEndpointRequest(_ context.Context, r fosite.AccessRequester) error {
	if !r.GetClient().GetGrantTypes().Has(grantDevice) {
		return fosite.ErrUnauthorizedClient.WithHint("Only a public app can sign in by a device code.")
	}
	text := r.GetRequestForm().Get("device_code")
	if text == "" {
		return fosite.ErrInvalidRequest.WithHint("The parameter device_code is missing.")
	}
	code, ok := kept.ParseDeviceCode(text)
	if !ok {
		return fosite.ErrInvalidGrant
	}
	dev, err := d.Book().Devices.Get(code)
	if err != nil {
		return err
	}
	switch {
	case dev.App != r.GetClient().GetID():
		return fosite.ErrInvalidGrant
	case dev.Decision == kept.Denied:
		return fosite.ErrAccessDenied.WithHint("The user said no.")
	case d.Book().Devices.Expired(dev):
		return errExpired
	case dev.Decision == kept.Pending:
		if d.polls.tooSoon(code, d.Now()) {
			return errSlowDown
		}
		return errPending
	}
	id, err := d.Book().Grants.NewID(dev.User)
	if err != nil {
		return err
	}
	r.SetID(id.String())
	for _, scope := range dev.Scopes {
		r.GrantScope(scope)
	}
	return nil
}

// PopulateTokenEndpointResponse gives the tokens out.
func (d deviceGrant) PopulateTokenEndpointResponse(ctx context.Context, r fosite.AccessRequester, resp fosite.AccessResponder) error {
	if !d.CanHandleTokenEndpointRequest(ctx, r) {
		return fosite.ErrUnknownRequest
	}
	texts := strategy(d)
	access, signature, err := texts.GenerateAccessToken(ctx, r)
	if err != nil {
		return err
	}
	k, _ := kept.ParseKey(signature)
	t := kept.Tokens{Access: k, Scopes: r.GetGrantedScopes()}
	if narrowed, ok := ctx.Value(narrowedKey{}).([]string); ok {
		t.Scopes = narrowed
	}
	if r.GetGrantedScopes().Has(kept.ScopeOffline) {
		refresh, signature, err := texts.GenerateRefreshToken(ctx, r)
		if err != nil {
			return err
		}
		k, _ := kept.ParseKey(signature)
		t.Refresh = &k
		resp.SetExtra("refresh_token", refresh)
	}
	code, _ := kept.ParseDeviceCode(r.GetRequestForm().Get("device_code"))
	resp.SetAccessToken(access)
	resp.SetTokenType("Bearer")
	return d.Book().Devices.Give(author(ctx), code, t)
}

// polls are when devices asked last. There is an entry for each that waits; a
// restart forgives.
type polls struct {
	mu  sync.Mutex // guards all below
	all map[kept.Hash]*poll
}

type poll struct {
	last  time.Time
	every time.Duration
}

// tooSoon notes that a device asks and reports whether it should have waited,
// in which case it has to wait longer from then on.
func (p *polls) tooSoon(code kept.Hash, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all == nil {
		p.all = map[kept.Hash]*poll{}
	}
	for other, q := range p.all {
		if now.Sub(q.last) > kept.DeviceLasts {
			delete(p.all, other)
		}
	}
	q := p.all[code]
	if q == nil {
		p.all[code] = &poll{last: now, every: pollEvery}
		return false
	}
	// Clocks and networks are not exact to the second.
	early := now.Sub(q.last) < q.every-time.Second
	q.last = now
	if early {
		q.every += pollEvery
	}
	return early
}

// A user may be wrong so often about user codes before they are locked, and an address,
// which stands for many, three times that.
const (
	mostGuesses    = 10
	addressGuesses = 3 * mostGuesses
)
