package saved

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// KeyFileName is the file of the data directory with the key that seals the secrets of
// records, if no other is set. No backup has it.
const KeyFileName = "secrets.key"

// ErrSealed says that the secrets of a record were sealed with another key.
var ErrSealed = errors.New("its secrets were sealed with another key: put that file back, or write the secrets again")

const keyBytes = 32

// Key seals the secrets of records with AES-256-GCM, a nonce of 12 random bytes before
// each. The file of the key is read, or made, when it is first needed. A nil Key seals
// nothing.
type Key struct {
	path string
	// make says that a file that is missing may be made: that of one machine.
	make bool

	mu   sync.Mutex // guards aead
	aead cipher.AEAD
}

// NewKey returns the key in a file, which holds 64 hexadecimal digits. make says that
// the file is made if it is missing.
func NewKey(path string, make bool) *Key { return &Key{path: path, make: make} }

func (k *Key) open() (cipher.AEAD, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.aead != nil {
		return k.aead, nil
	}
	if k.path == "" {
		return nil, errors.New("nodes that share a store need a key for secrets in common: make a file of 64 hexadecimal digits, and name it on each node with secrets-key-file")
	}
	text, err := os.ReadFile(k.path)
	if errors.Is(err, fs.ErrNotExist) && k.make {
		text, err = makeKey(k.path)
	}
	if err != nil {
		return nil, fmt.Errorf("key for secrets: %w", err)
	}
	secret, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(secret) != keyBytes {
		return nil, fmt.Errorf("key for secrets: %s does not hold %d hexadecimal digits", k.path, 2*keyBytes)
	}
	block, err := aes.NewCipher(secret)
	if err != nil {
		return nil, err
	}
	k.aead, err = cipher.NewGCMWithRandomNonce(block)
	return k.aead, err
}

// makeKey writes a new key, which another process may have made meanwhile.
func makeKey(path string) ([]byte, error) {
	secret := make([]byte, keyBytes)
	if _, err := rand.Read(secret); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return nil, err
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(hex.EncodeToString(secret) + "\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return nil, err
	}
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return os.ReadFile(path)
}

// purpose is bound to what is sealed, so that it opens as nothing else.
type purpose string

const (
	sealedService purpose = "trawl: configuration of an external service"
	sealedTarget  purpose = "trawl: target of a monitor"
)

// seal returns what a record keeps of a text with secrets: shown, which is what remains
// of it without them, and the whole of it sealed. A text without secrets, or without a
// key, is kept as it is.
func (k *Key) seal(p purpose, text, shown string) (kept string, sealed []byte, err error) {
	if k == nil || text == shown {
		return text, nil, nil
	}
	aead, err := k.open()
	if err != nil {
		return "", nil, err
	}
	return shown, aead.Seal(nil, nil, []byte(text), []byte(p)), nil
}

// unseal returns the text of which a record keeps what seal returned.
func (k *Key) unseal(p purpose, kept string, sealed []byte) (string, error) {
	if len(sealed) == 0 {
		return kept, nil
	}
	if k == nil {
		return "", ErrSealed
	}
	aead, err := k.open()
	if err != nil {
		return "", err
	}
	text, err := aead.Open(nil, nil, sealed, []byte(p))
	if err != nil {
		return "", ErrSealed
	}
	return string(text), nil
}
