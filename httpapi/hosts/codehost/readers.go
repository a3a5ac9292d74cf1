package codehost

import "context"

// Reader is an account of a host that may read a repository.
type Reader struct {
	// ID is what the host calls the account for ever.
	ID string
	// Email is an address that the host has verified, "" if it says none.
	Email string
}

// Permissions is a Host that says who may read its repositories.
type Permissions interface {
	// Readers returns the accounts that may read a repository which not all may. An error
	// says nothing about them.
	Readers(ctx context.Context, r *Repository) ([]Reader, error)
}
