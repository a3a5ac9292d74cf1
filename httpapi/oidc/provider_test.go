package oidc_test

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v3"
	"github.com/ory/fosite"
	"github.com/ory/fosite/compose"
	"github.com/ory/fosite/handler/openid"
	"github.com/ory/fosite/storage"
	"github.com/ory/fosite/token/jwt"
)

const (
	clientID     = "trawl"
	clientSecret = "the secret of trawl"
)

// corp is a service that people sign in at, made of the library fosite. Its user has been
// signed in there and agrees to all.
type corp struct {
	*httptest.Server
	key *rsa.PrivateKey
	// subject and claims are of the user; set changes the claims of the library.
	subject string
	claims  map[string]any
	set     func(*jwt.IDTokenClaims)
	// forge changes the ID token that was made.
	forge func(token string) string
	// asked is the last request of a browser.
	asked url.Values
}

var (
	shared     *rsa.PrivateKey
	sharedOnce sync.Once
)

// corpKey is the key of all services of the tests: making one takes long.
func corpKey(t *testing.T) *rsa.PrivateKey {
	sharedOnce.Do(func() { shared = newKey(t) })
	return shared
}

func newKey(t *testing.T) *rsa.PrivateKey {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func newCorp(t *testing.T) *corp {
	t.Helper()
	key := corpKey(t)
	c := &corp{key: key, subject: "42", claims: map[string]any{"preferred_username": "ann", "name": "Ann", "email": "ann@corp.example", "email_verified": true}}
	mux := http.NewServeMux()
	c.Server = httptest.NewServer(mux)
	t.Cleanup(c.Close)
	store := storage.NewMemoryStore()
	config := &fosite.Config{
		GlobalSecret: []byte(strings.Repeat("x", 32)), IDTokenIssuer: c.URL, EnforcePKCE: true, HashCost: 4, SendDebugMessagesToClients: true,
		AccessTokenLifespan: time.Hour, IDTokenLifespan: time.Hour,
	}
	hashed, err := (&fosite.BCrypt{Config: config}).Hash(t.Context(), []byte(clientSecret))
	if err != nil {
		t.Fatal(err)
	}
	store.Clients[clientID] = &fosite.DefaultClient{
		ID: clientID, Secret: hashed, RedirectURIs: []string{site + "/sign-in/corp/callback"}, ResponseTypes: []string{"code"},
		GrantTypes: []string{"authorization_code"}, Scopes: []string{"openid", "profile", "email"},
	}
	library := compose.ComposeAllEnabled(config, store, key)
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{
			"issuer": c.URL, "authorization_endpoint": c.URL + "/auth", "token_endpoint": c.URL + "/token", "jwks_uri": c.URL + "/keys",
			"id_token_signing_alg_values_supported": []string{"RS256"},
		})
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), Algorithm: "RS256", Use: "sig"}}})
	})
	mux.HandleFunc("/auth", func(w http.ResponseWriter, r *http.Request) {
		c.asked = r.URL.Query()
		ask, err := library.NewAuthorizeRequest(r.Context(), r)
		if err == nil {
			for _, s := range ask.GetRequestedScopes() {
				ask.GrantScope(s)
			}
			var resp fosite.AuthorizeResponder
			if resp, err = library.NewAuthorizeResponse(r.Context(), ask, c.session()); err == nil {
				library.WriteAuthorizeResponse(r.Context(), w, ask, resp)
				return
			}
		}
		library.WriteAuthorizeError(r.Context(), w, ask, err)
	})
	mux.HandleFunc("/token", func(w http.ResponseWriter, r *http.Request) {
		ask, err := library.NewAccessRequest(r.Context(), r, openid.NewDefaultSession())
		if err == nil {
			var resp fosite.AccessResponder
			if resp, err = library.NewAccessResponse(r.Context(), ask); err == nil {
				if text, ok := resp.GetExtra("id_token").(string); ok && c.forge != nil {
					resp.SetExtra("id_token", c.forge(text))
				}
				library.WriteAccessResponse(r.Context(), w, ask, resp)
				return
			}
		}
		library.WriteAccessError(r.Context(), w, ask, err)
	})
	return c
}

func (c *corp) session() *openid.DefaultSession {
	s := openid.NewDefaultSession()
	s.Subject = c.subject
	now := time.Now()
	s.Claims = &jwt.IDTokenClaims{Subject: c.subject, Extra: c.claims, RequestedAt: now, AuthTime: now}
	if c.set != nil {
		c.set(s.Claims)
	}
	return s
}

// resign signs changed claims with a key of the service, or with another.
func (c *corp) resign(t *testing.T, token string, key *rsa.PrivateKey, change func(map[string]any)) string {
	t.Helper()
	payload, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[1])
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]any
	if err := json.Unmarshal(payload, &all); err != nil {
		t.Fatal(err)
	}
	change(all)
	if payload, err = json.Marshal(all); err != nil {
		t.Fatal(err)
	}
	if key == nil { // unsigned
		return base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none"}`)) + "." + base64.RawURLEncoding.EncodeToString(payload) + "."
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: key}, nil)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		t.Fatal(err)
	}
	text, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return text
}
