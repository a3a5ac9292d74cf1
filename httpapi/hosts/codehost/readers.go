package codehost

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// Reader is an account of a host that may read a repository.
type Reader struct {
	// ID is what the host calls the account for ever.
	ID string
	// Email is an address that the host has verified, or that Authorization trusts; "" if
	// there is none.
	Email string
}

// MostPages is how many pages of a list are read. A list that has more has no end.
const MostPages = 2000

// ErrEndless says that a list of a host has too many pages.
var ErrEndless = &AnswerError{Message: fmt.Sprintf("a list of the host has more than %d pages", MostPages)}

// ErrMoved says that a repository is not where the listing had it any more.
var ErrMoved = &AnswerError{Message: "another repository has its path now; the next listing will tell"}

// Permissions is a Host that says who may read its repositories.
type Permissions interface {
	// Readers returns the accounts that may read a repository which not all may. An error
	// says nothing about them.
	Readers(ctx context.Context, r *Repository) ([]Reader, error)
}

// Asked are the readers that one listing has asked a host for, by what they are readers or
// members of, so that it asks once.
type Asked map[string][]Reader

// Once returns what is known, or asks. An error is not kept.
func (a Asked) Once(of string, ask func() ([]Reader, error)) ([]Reader, error) {
	if all, ok := a[of]; ok {
		return all, nil
	}
	all, err := ask()
	if err == nil {
		a[of] = all
	}
	return all, err
}

// Authorization says how the readers of a host become those of its repositories here. What
// other servers have in it, such as who signs in, is known here by other settings, and
// passed over.
type Authorization struct {
	// TrustAddresses takes the addresses of accounts as verified at a host that does not
	// say whether they are.
	TrustAddresses bool `json:"trustAddresses"`
}

// UnmarshalJSON implements json.Unmarshaler. Unlike Decode, it takes unknown properties.
func (a *Authorization) UnmarshalJSON(b []byte) error {
	type plain Authorization
	err := json.Unmarshal(b, (*plain)(a))
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		kind.Field = "authorization"
		return kind
	}
	return err
}

// Trusted returns an address if those of the host are taken as verified.
func (a *Authorization) Trusted(email string) string {
	if a == nil || !a.TrustAddresses {
		return ""
	}
	return email
}
