package identity

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"fmt"
	"slices"

	"github.com/trawlsearch/trawl/store"
)

// siteSecret is the key of the secret of the site: random bytes that all nodes know. No
// credential of a user follows from it.
const siteSecret = "site"

// secret returns the secret of the site. The error is store.ErrNotFound if there is none
// yet.
func (r *recordReader) secret() ([]byte, error) {
	secret, err := secrets.Get(r.st, siteSecret)
	if err != nil {
		return nil, err
	}
	return *secret, nil
}

// secretOrNew is secret, and makes one if there is none or it is damaged.
func (c *change) secretOrNew() ([]byte, error) {
	if c.newSecret != nil {
		return c.newSecret, nil
	}
	secret, err := c.secret()
	if err == nil || !isNotFound(err) && !isCorrupt(err) {
		return secret, err
	}
	secret = make([]byte, sha256.Size)
	if err := read(c.options().Random, secret); err != nil {
		return nil, err
	}
	c.newSecret = secret
	stored := slices.Clone(secret)
	return secret, secrets.Put(c.records, siteSecret, &stored)
}

// SetupSecret returns the secret by which the first user of a store that several nodes
// share is created, on any of them. It fails with ErrSetUp when there has been a user.
func (r *Registry) SetupSecret(ctx context.Context) (text string, err error) {
	if err := r.CatchUp(ctx); err != nil {
		return "", fmt.Errorf("make the setup secret: %w", err)
	}
	err = r.change(Author{}, func(c *change) error {
		if c.used() {
			return ErrSetUp
		}
		secret, err := c.secretOrNew()
		text = setupSecret(secret)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("make the setup secret: %w", err)
	}
	return text, nil
}

// IsSetupSecret reports whether a text is the one that SetupSecret returned on this node
// or another. What cannot be read has none.
func (r *Registry) IsSetupSecret(text string) bool {
	secret, err := r.secret()
	return err == nil && r.Shared() && subtle.ConstantTimeCompare([]byte(text), []byte(setupSecret(secret))) == 1
}

// setupSecret has 130 bits of what is derived from the secret of the site.
func setupSecret(secret []byte) string {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte("setup secret"))
	return base32.StdEncoding.EncodeToString(mac.Sum(nil))[:26]
}

func checkSecret(_ string, secret *[]byte) error {
	if len(*secret) != sha256.Size {
		return fmt.Errorf("it has %d bytes, want %d: %w", len(*secret), sha256.Size, store.ErrCorrupt)
	}
	return nil
}
