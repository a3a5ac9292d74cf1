package oauth

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"

	"github.com/ory/fosite"

	kept "github.com/trawlsearch/trawl/store/oauth"
)

// The grant types, as clients name them.
const (
	grantCode    = "authorization_code"
	grantRefresh = "refresh_token"
	grantService = "client_credentials"
	grantDevice  = "urn:ietf:params:oauth:grant-type:device_code"
)

var grantTypes = []string{grantCode, grantRefresh, grantDevice, grantService}

// client is an app as the library sees it.
type client struct{ app *kept.App }

func (c client) GetID() string               { return c.app.ID }
func (c client) GetHashedSecret() []byte     { return c.app.Secret }
func (c client) GetRedirectURIs() []string   { return c.app.Redirects }
func (c client) GetScopes() fosite.Arguments { return c.app.Scopes }
func (c client) IsPublic() bool              { return c.app.Kind == kept.Public }

// GetAudience returns none: all tokens are for this server.
func (c client) GetAudience() fosite.Arguments { return nil }

func (c client) GetGrantTypes() fosite.Arguments {
	switch {
	case c.app.Registered:
		return fosite.Arguments{grantCode, grantRefresh}
	case c.app.Kind == kept.Public:
		return fosite.Arguments{grantCode, grantRefresh, grantDevice}
	case c.app.Kind == kept.Confidential:
		return fosite.Arguments{grantCode, grantRefresh}
	}
	return fosite.Arguments{grantService}
}

func (c client) GetResponseTypes() fosite.Arguments {
	if c.app.Kind == kept.Service {
		return fosite.Arguments{}
	}
	return fosite.Arguments{"code"}
}

// hasher compares secrets, which are long and random, in constant time.
type hasher struct{}

func (hasher) Hash(_ context.Context, data []byte) ([]byte, error) {
	sum := sha256.Sum256(data)
	return sum[:], nil
}

var errSecret = errors.New("wrong client secret")

func (hasher) Compare(_ context.Context, hash, data []byte) error {
	sum := sha256.Sum256(data)
	if subtle.ConstantTimeCompare(hash, sum[:]) != 1 {
		return errSecret
	}
	return nil
}
