package codehost

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// Part is something whose repositories are listed, such as an organisation.
type Part struct {
	// Name says what it is, for people.
	Name string
	// Read reads it into a Reading.
	Read func(ctx context.Context, r *Reading) error
}

// Reading is a listing that is being read. It is used by one goroutine.
type Reading struct {
	Listing
	seen map[string]bool
}

// Take adds repositories.
func (r *Reading) Take(all ...Repository) error {
	for _, repo := range all {
		r.Listing.Take(repo, r.seen)
	}
	if len(r.Repositories) > MostRepositories {
		return ErrTooMany
	}
	return nil
}

// Missing notes a repository that was named and is not there.
func (r *Reading) Missing(path string) {
	r.Left = append(r.Left, fmt.Sprintf("repository %s is not there, or the token may not see it", path))
}

// ReadParts reads all parts. One that fails is in the listing; an error that is not of
// one part, such as ErrCredentials, ends it.
func ReadParts(ctx context.Context, parts []Part) (*Reading, error) {
	r := &Reading{seen: map[string]bool{}}
	for _, part := range parts {
		err := part.Read(ctx, r)
		switch {
		case err == nil:
		case Fatal(ctx, err):
			return r, err
		default:
			r.Failed = append(r.Failed, part.Name+": "+err.Error())
		}
	}
	return r, nil
}

// AnswerError is an answer of a host that is no success, or less than was asked for.
type AnswerError struct {
	// Status is 0 for an answer that is too little.
	Status  int
	Message string
}

// mostMessageBytes is how much of a host's message is shown.
const mostMessageBytes = 200

func (e *AnswerError) Error() string {
	switch e.Status {
	case 0:
		return e.Message
	case http.StatusNotFound:
		return "it is not there, or the token may not see it"
	}
	return strings.TrimSpace(fmt.Sprintf("the host answered %d %.*s", e.Status, mostMessageBytes, strings.TrimSpace(e.Message)))
}

// Answered returns the error of an answer with a status and a message.
func Answered(status int, message string) error {
	if status == http.StatusUnauthorized {
		return ErrCredentials
	}
	return &AnswerError{status, message}
}

// NotThere reports whether an error says that a host has no such thing.
func NotThere(err error) bool {
	var answer *AnswerError
	return errors.As(err, &answer) && (answer.Status == http.StatusNotFound || answer.Status == http.StatusGone || answer.Status == http.StatusUnavailableForLegalReasons)
}

// Fatal reports whether an error is one of the host, and not of one part of it.
func Fatal(ctx context.Context, err error) bool {
	var answer *AnswerError
	return ctx.Err() != nil || !errors.As(err, &answer)
}
