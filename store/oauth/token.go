package oauth

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Kind is the kind of a text. The text begins with it, so that people and
// scanners for leaked secrets recognise it.
type Kind string

// The kinds of texts that are given out for a grant.
const (
	CodeText    Kind = "sgo_ac_"
	AccessText  Kind = "sgo_at_"
	RefreshText Kind = "sgo_rt_"
)

// The kinds of texts that belong to no grant.
const (
	deviceText = "sgo_dc_"
	secretText = "sgo_cs_"
)

const (
	grantIDBytes = 12
	familyBytes  = 16
	secretBytes  = 32
)

// A text is its kind and, in base64 for URLs,
//
//	grant(12) secret(32)              of codes and access tokens
//	grant(12) family(16) secret(32)   of refresh tokens
//
// The family is the same in all refresh tokens of a grant. A token with the
// family but not the newest secret was valid once and has been used already. So
// the client that shows it, or the one that showed it first, stole it.

// GrantID names a grant. It is no secret.
type GrantID [grantIDBytes]byte

// User is the ID of the user whose grant it is.
func (id GrantID) User() uint32 { return binary.BigEndian.Uint32(id[:]) }

// String is the ID in hex.
func (id GrantID) String() string { return hex.EncodeToString(id[:]) }

// ParseGrantID reads what String wrote.
func ParseGrantID(text string) (id GrantID, ok bool) {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != grantIDBytes {
		return id, false
	}
	return GrantID(b), true
}

// Hash is SHA-256 of a secret.
type Hash [sha256.Size]byte

func (h Hash) is(stored []byte) bool { return subtle.ConstantTimeCompare(h[:], stored) == 1 }

// Key is the part of a code or token that may be stored.
type Key struct {
	Grant GrantID
	// Family is the hash of a refresh token's family; zero for others.
	Family Hash
	Hash   Hash
}

// String is the key on one line, for ParseKey.
func (k Key) String() string {
	return hex.EncodeToString(k.Grant[:]) + hex.EncodeToString(k.Family[:]) + hex.EncodeToString(k.Hash[:])
}

// ParseKey reads what Key.String wrote.
func ParseKey(text string) (k Key, ok bool) {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != grantIDBytes+2*sha256.Size {
		return k, false
	}
	return Key{GrantID(b), Hash(b[grantIDBytes:]), Hash(b[grantIDBytes+sha256.Size:])}, true
}

// ParseText returns the key of a code or token; ok is false for what is none
// of that kind, which then need not be looked up.
func ParseText(kind Kind, text string) (k Key, ok bool) {
	b, ok := unwrap(kind, text)
	if !ok {
		return k, false
	}
	k = Key{Grant: GrantID(b), Hash: sha256.Sum256(b)}
	if kind == RefreshText {
		k.Family = sha256.Sum256(b[:grantIDBytes+familyBytes])
	}
	return k, true
}

// unwrap returns the bytes that a text stands for.
func unwrap(kind Kind, text string) ([]byte, bool) {
	size := grantIDBytes + secretBytes
	if kind == RefreshText {
		size += familyBytes
	}
	rest, ok := strings.CutPrefix(text, string(kind))
	if !ok || len(rest) != base64.RawURLEncoding.EncodedLen(size) {
		return nil, false
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(rest)
	return b, err == nil
}

// NewText makes a code or access token for a grant, or its first refresh token.
func (b Grants) NewText(kind Kind, grant GrantID) (string, error) {
	size := secretBytes
	if kind == RefreshText {
		size += familyBytes
	}
	random, err := b.random(size)
	if err != nil {
		return "", err
	}
	return wrap(kind, grant[:], random), nil
}

// NextRefresh makes the refresh token that follows another.
func (b Grants) NextRefresh(text string) (string, error) {
	old, ok := unwrap(RefreshText, text)
	if !ok {
		return "", ErrNoGrant
	}
	secret, err := b.random(secretBytes)
	if err != nil {
		return "", err
	}
	return wrap(RefreshText, old[:grantIDBytes+familyBytes], secret), nil
}

func wrap(kind Kind, parts ...[]byte) string {
	return string(kind) + base64.RawURLEncoding.EncodeToString(slices.Concat(parts...))
}

// NewID makes the ID of a grant of a user.
func (b Grants) NewID(user uint32) (id GrantID, err error) {
	random, err := b.random(grantIDBytes - 4)
	binary.BigEndian.PutUint32(id[:], user)
	copy(id[4:], random)
	return id, err
}

// random returns so many random bytes.
func (b *base) random(size int) ([]byte, error) {
	random := make([]byte, size)
	if _, err := io.ReadFull(b.o.Random, random); err != nil {
		return nil, fmt.Errorf("make a secret: %w", err)
	}
	return random, nil
}
