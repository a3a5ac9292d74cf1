// Package identity keeps the users of a data directory and their credentials.
// Users, organisations, access tokens, sessions and passwords come in from
// administrators and are committed as records of the store, each change
// together with its line of the audit log. A credential comes in and its user
// goes out. httpapi/auth calls it for every request, and the admin routes for
// what people change.
//
// No secret is kept: of tokens, sessions and reset codes only SHA-256 hashes,
// by which they are looked up, and of passwords argon2id hashes. A secret is
// therefore never compared with another byte by byte, and the time of a look-up
// does not depend on how close a guess was.
//
// The package knows no HTTP, and does not judge whether a user may do what they
// ask for: callers do, by the Actor of the request. It keeps the rules that
// hold for everybody, such as what a name may look like, and those about who
// may create tokens, which are a policy.
package identity
