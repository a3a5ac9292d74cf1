package oidc

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/trawlsearch/trawl/store/identity"
)

// Provider is a service that people sign in at.
type Provider struct {
	// Name is in paths and in records, and must stay; it has letters, digits and dashes.
	// Title is what people read.
	Name, Title string
	// Issuer is the address below which the service describes itself.
	Issuer       string
	ClientID     string
	ClientSecret string
	// Scopes are asked for beside openid.
	Scopes []string
	// GroupsClaim is the claim that lists the groups of a user.
	GroupsClaim string
	// Domains and Groups, if there are any, let only users in with a verified address in
	// one of the domains, and in one of the groups.
	Domains, Groups []string
	// Policy says what users get here.
	Policy identity.ExternalPolicy
}

// timeout bounds what is asked of a service for one sign-in, mostAnswerBytes an answer.
const (
	timeout         = 15 * time.Second
	mostAnswerBytes = 1 << 20
)

// service is a provider whose description is read when it is first asked, and again after
// that failed.
type service struct {
	Provider
	http *http.Client
	// now is the clock that tokens are judged by.
	now func() time.Time

	mu    sync.Mutex // guards found
	found *oidc.Provider
}

// context is that of a request to the service.
func (s *service) context(ctx context.Context) context.Context {
	return oidc.ClientContext(ctx, s.http)
}

// discover reads where the service's endpoints and keys are.
func (s *service) discover(ctx context.Context) (*oidc.Provider, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.found != nil {
		return s.found, nil
	}
	// The library reads keys later by the same context.
	found, err := oidc.NewProvider(s.context(context.WithoutCancel(ctx)), s.Issuer)
	if err != nil {
		return nil, fmt.Errorf("read the description of %s: %w", s.Name, err)
	}
	s.found = found
	return found, nil
}

// config is how the service is asked. The redirect URI is ours.
func (s *service) config(p *oidc.Provider, redirect string) *oauth2.Config {
	return &oauth2.Config{
		ClientID: s.ClientID, ClientSecret: s.ClientSecret, Endpoint: p.Endpoint(), RedirectURL: redirect,
		Scopes: append([]string{oidc.ScopeOpenID}, s.Scopes...),
	}
}

// claims are what a token says of its user.
type claims struct {
	Subject  string
	Name     string `json:"name"`
	Username string `json:"preferred_username"`
	Email    string `json:"email"`
	// Verified is a boolean; some services write it as text.
	Verified any `json:"email_verified"`
	groups   []string
}

// The errors about a token that the library does not look for.
var (
	errNoToken  = errors.New("the answer has no ID token")
	errNonce    = errors.New("the ID token is not of this sign-in")
	errParty    = errors.New("the ID token was issued for another party")
	errAnswer   = errors.New("the answer is too long")
	errInFuture = errors.New("the ID token is of the future")
)

// skew is how far clocks may be apart.
const skew = 5 * time.Minute

// redeem changes a code for what the service says of its user. Issuer, audience,
// signature and expiry are judged by the library; an unsigned token, or one signed with a
// key that is not the service's, is refused by it.
func (s *service) redeem(ctx context.Context, redirect, code string, k kept) (*claims, error) {
	p, err := s.discover(ctx)
	if err != nil {
		return nil, err
	}
	token, err := s.config(p, redirect).Exchange(s.context(ctx), code, oauth2.VerifierOption(k.Verifier))
	if err != nil {
		return nil, fmt.Errorf("redeem a code at %s: %w", s.Name, err)
	}
	text, ok := token.Extra("id_token").(string)
	if !ok {
		return nil, errNoToken
	}
	id, err := p.VerifierContext(s.context(ctx), &oidc.Config{ClientID: s.ClientID, Now: s.now}).Verify(s.context(ctx), text)
	if err != nil {
		return nil, fmt.Errorf("verify the ID token of %s: %w", s.Name, err)
	}
	if id.Nonce != k.Nonce {
		return nil, errNonce
	}
	if id.IssuedAt.After(s.now().Add(skew)) {
		return nil, errInFuture
	}
	return s.claims(id)
}

// claims reads those of a token that is good.
func (s *service) claims(id *oidc.IDToken) (*claims, error) {
	c := &claims{}
	var all map[string]any
	if err := errors.Join(id.Claims(c), id.Claims(&all)); err != nil {
		return nil, fmt.Errorf("read the ID token of %s: %w", s.Name, err)
	}
	c.Subject = id.Subject
	if azp, ok := all["azp"].(string); len(id.Audience) > 1 && !ok || ok && azp != s.ClientID {
		return nil, errParty
	}
	if s.GroupsClaim != "" {
		groups, _ := all[s.GroupsClaim].([]any)
		for _, g := range groups {
			if name, ok := g.(string); ok {
				c.groups = append(c.groups, name)
			}
		}
	}
	return c, nil
}

// external is the user as package identity has them. An address that the service has not
// verified is none.
func (s *service) external(c *claims) identity.External {
	x := identity.External{Provider: s.Name, Subject: c.Subject, Name: c.Username, DisplayName: c.Name, Groups: c.groups}
	if c.Verified == true || c.Verified == "true" {
		x.Email = c.Email
	}
	if x.Name == "" {
		x.Name = x.Email
	}
	return x
}

// refusal says why a user may not come in, "" for one who may.
func (s *service) refusal(x identity.External) string {
	_, domain, _ := strings.Cut(x.Email, "@")
	isOwn := func(d string) bool { return strings.EqualFold(d, domain) }
	switch {
	case len(s.Domains) > 0 && (domain == "" || strings.Contains(domain, "@") || !slices.ContainsFunc(s.Domains, isOwn)):
		return "Only users with a verified address of certain domains may sign in here."
	case len(s.Groups) > 0 && !slices.ContainsFunc(s.Groups, func(g string) bool { return slices.Contains(x.Groups, g) }):
		return "Only users of certain groups may sign in here."
	}
	return ""
}

// bounded is a transport that cuts answers off.
type bounded struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := b.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if resp.ContentLength > mostAnswerBytes {
		_ = resp.Body.Close()
		return nil, errAnswer
	}
	resp.Body = http.MaxBytesReader(nil, resp.Body, mostAnswerBytes)
	return resp, nil
}
