package backup

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"filippo.io/age"
)

// Keys are the keys by which a destination is encrypted and read; the zero
// value does neither. Recipients are enough to make backups but not to read
// them; Identities read those. A passphrase does both.
type Keys struct {
	// Recipients are public keys as age writes them, one a line.
	Recipients string
	// Identities are private keys as age writes them, one a line.
	Identities string
	// Passphrase is for people.
	Passphrase string
}

// Encrypts reports whether the keys can encrypt.
func (k Keys) Encrypts() bool { return k.Recipients != "" || k.Passphrase != "" }

// Errors about keys.
var (
	// ErrNoKey: the backup is encrypted and no key was given.
	ErrNoKey = errors.New("the backup is encrypted: give the identity or the passphrase that it was made with")
	// ErrWrongKey: an identity or a passphrase was given that does not fit.
	ErrWrongKey = errors.New("the identity or passphrase given is not that of this backup")
)

// maxRecipients bounds what the keys add to each object.
const maxRecipients = 32

// scryptWork is the logarithm of what guessing a passphrase takes; reading
// refuses more than scryptMost, which a hostile file would ask for.
const (
	scryptWork = 18
	scryptMost = 20
)

// sealer encrypts and decrypts; the zero value does neither and says so.
type sealer struct {
	recipients []age.Recipient
	identities []age.Identity
}

func parseRecipients(text string) ([]age.Recipient, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	all, err := age.ParseRecipients(strings.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("read recipients: %w", err)
	}
	if len(all) > maxRecipients {
		return nil, fmt.Errorf("read recipients: there are %d, and %d can be", len(all), maxRecipients)
	}
	return all, nil
}

func parseIdentities(text string) ([]age.Identity, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	all, err := age.ParseIdentities(strings.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("read identities: %w", err)
	}
	return all, nil
}

// encrypt appends the encrypted data to dst.
func (s sealer) encrypt(dst, data []byte) ([]byte, error) {
	out := bytes.NewBuffer(dst)
	w, err := age.Encrypt(out, s.recipients...)
	if err == nil {
		_, err = w.Write(data)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("encrypt: %w", err)
	}
	return out.Bytes(), nil
}

// decrypt returns the content of what is stored under name, at most limit
// bytes of it.
func (s sealer) decrypt(name string, data []byte, limit int64) ([]byte, error) {
	if len(s.identities) == 0 {
		return nil, ErrNoKey
	}
	return decryptWith(name, data, limit, s.identities)
}

func decryptWith(name string, data []byte, limit int64, identities []age.Identity) ([]byte, error) {
	r, err := age.Decrypt(bytes.NewReader(data), identities...)
	if errors.As(err, new(*age.NoIdentityMatchError)) {
		return nil, fmt.Errorf("%s: %w", name, ErrWrongKey)
	}
	if err != nil {
		return nil, damaged(name, "%v", err)
	}
	out := bytes.NewBuffer(make([]byte, 0, min(int64(len(data)), limit)+bytes.MinRead))
	if _, err := io.Copy(out, io.LimitReader(r, limit+1)); err != nil {
		return nil, damaged(name, "%v", err)
	}
	if int64(out.Len()) > limit {
		return nil, damaged(name, "it holds more than %d bytes", limit)
	}
	return out.Bytes(), nil
}

// newKey makes a key and encrypts it with a passphrase.
func newKey(passphrase string, work int) (*age.X25519Identity, []byte, error) {
	id, err := age.GenerateX25519Identity()
	if err != nil {
		return nil, nil, fmt.Errorf("make a key: %w", err)
	}
	r, err := age.NewScryptRecipient(passphrase)
	if err != nil {
		return nil, nil, fmt.Errorf("make a key: %w", err)
	}
	r.SetWorkFactor(work)
	sealed, err := sealer{recipients: []age.Recipient{r}}.encrypt(nil, []byte(id.String()+"\n"))
	return id, sealed, err
}

// maxKeyBytes bounds a key as it is stored.
const maxKeyBytes = 4 << 10

// openKey decrypts a key that is stored under name.
func openKey(name, passphrase string, data []byte) (*age.X25519Identity, error) {
	scrypt, err := age.NewScryptIdentity(passphrase)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	scrypt.SetMaxWorkFactor(scryptMost)
	text, err := decryptWith(name, data, maxKeyBytes, []age.Identity{scrypt})
	if err != nil {
		return nil, err
	}
	id, err := age.ParseX25519Identity(strings.TrimSpace(string(text)))
	if err != nil {
		return nil, damaged(name, "it holds no key")
	}
	return id, nil
}
