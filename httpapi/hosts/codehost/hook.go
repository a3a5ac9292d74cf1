package codehost

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"
)

// Hook is what a host says in a webhook.
type Hook struct {
	// Repositories are those that have changed, as the host calls them for ever. Names
	// are the same by the names that they have here.
	Repositories, Names []string
	// Listing says that the host may list other repositories than before, or other
	// facts about them.
	Listing bool
}

// Errors of webhooks.
var (
	ErrSignature = errors.New("the signature is missing, or none of the service's secrets has made it")
	ErrHook      = errors.New("the body is none that the documentation describes, or not of this time")
)

// SignedBy reports whether a signature, such as sha256=… in hexadecimal, is that of a
// body by one of some secrets. It takes as long for each of them.
func SignedBy(secrets []string, signature string, body []byte) bool {
	given, err := hex.DecodeString(strings.TrimPrefix(signature, "sha256="))
	if err != nil || len(given) != sha256.Size {
		return false
	}
	found := 0
	for _, secret := range secrets {
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write(body)
		found |= subtle.ConstantTimeCompare(mac.Sum(nil), given)
	}
	return found == 1
}

// Holds reports whether a header has one of some secrets. It takes as long for each of
// them.
func Holds(secrets []string, given string) bool {
	found := 0
	sum := sha256.Sum256([]byte(given))
	for _, secret := range secrets {
		other := sha256.Sum256([]byte(secret))
		found |= subtle.ConstantTimeCompare(other[:], sum[:])
	}
	return found == 1
}

// GenericSignature is the header with the signature of a webhook of trawl's own form,
// which any program can send: the HMAC of the body with SHA-256, in hexadecimal.
const GenericSignature = "X-Trawl-Signature-256"

const (
	// mostNames is how many repositories a webhook of that form names.
	mostNames = 100
	// mostSkew is how far its time may be from that of this machine. It makes two pushes
	// two bodies, and an old body worthless.
	mostSkew = 5 * time.Minute
)

// ReadGeneric reads the body of such a webhook, {"repositories": ["name"], "time":
// "2026-05-04T03:02:01.123456789Z"}.
func ReadGeneric(secrets []string, header http.Header, body []byte, now time.Time) (Hook, error) {
	if !SignedBy(secrets, header.Get(GenericSignature), body) {
		return Hook{}, ErrSignature
	}
	var said struct {
		Repositories []string  `json:"repositories"`
		Listing      bool      `json:"listing"`
		Time         time.Time `json:"time"`
	}
	if json.Unmarshal(body, &said) != nil || now.Sub(said.Time).Abs() > mostSkew || len(said.Repositories) > mostNames || len(said.Repositories) == 0 && !said.Listing {
		return Hook{}, ErrHook
	}
	return Hook{Names: said.Repositories, Listing: said.Listing}, nil
}
