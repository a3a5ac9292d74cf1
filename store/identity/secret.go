package identity

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"regexp"
)

// A token is shown as tokenPrefix and 40 hex digits, the form by which clients
// and scanners for leaked secrets know it. They know others too, which stand
// for the same 20 bytes.
const (
	tokenPrefix = "sgp_local_"
	tokenBytes  = 20
)

var tokenForm = regexp.MustCompile(`^(?:sgp_|sgph_)?(?:[a-fA-F0-9]{16}_|local_)?([a-fA-F0-9]{40})$`)

// hash is the stored hash of a secret.
type hash [sha256.Size]byte

// parseToken returns the hash of a token's text; ok is false for what is no
// token, which then need not be looked up.
func parseToken(text string) (h hash, ok bool) {
	m := tokenForm.FindStringSubmatch(text)
	if m == nil {
		return h, false
	}
	secret, err := hex.DecodeString(m[1])
	return sha256.Sum256(secret), err == nil
}

// newToken makes the text of a token and its hash.
func newToken(random io.Reader) (text string, h hash, err error) {
	var secret [tokenBytes]byte
	if err := read(random, secret[:]); err != nil {
		return "", h, err
	}
	return tokenPrefix + hex.EncodeToString(secret[:]), sha256.Sum256(secret[:]), nil
}

// sessionBytes is the size of session ids and reset codes before they are
// written in base64.
const sessionBytes = 32

// newCode makes the text of a session or a reset code and its hash.
func newCode(random io.Reader) (text string, h hash, err error) {
	var secret [sessionBytes]byte
	if err := read(random, secret[:]); err != nil {
		return "", h, err
	}
	return base64.RawURLEncoding.EncodeToString(secret[:]), sha256.Sum256(secret[:]), nil
}

// parseCode is parseToken for sessions and reset codes.
func parseCode(text string) (h hash, ok bool) {
	if len(text) != base64.RawURLEncoding.EncodedLen(sessionBytes) {
		return h, false
	}
	secret, err := base64.RawURLEncoding.Strict().DecodeString(text)
	return sha256.Sum256(secret), err == nil
}

func read(random io.Reader, p []byte) error {
	if _, err := io.ReadFull(random, p); err != nil {
		return fmt.Errorf("make a secret: %w", err)
	}
	return nil
}
