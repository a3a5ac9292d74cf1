// Package oauth keeps the records of an OAuth 2 server. Apps come in from
// administrators, the consent of users and the codes of devices from the
// server's pages; a token that a client shows comes in, and its grant goes out.
// All is committed as records of the store, through the registry of
// store/identity, each change with its line of the audit log. A Book has one
// part each for apps, devices and grants. httpapi/oauth and httpapi/manage call it.
//
// A grant is what a user let an app do, once. It is one record, which holds the
// hashes of all that was given out for it: the authorization code, the access
// tokens and the newest refresh token. Each of these texts begins with the
// grant's ID, by which it is found. So revoking is deleting one record, a code
// or refresh token that comes a second time is known however old it is, and
// nothing has to be kept for each token that ever was.
//
// No secret is kept, only SHA-256 of 32 random bytes or more, compared in
// constant time. The package knows no HTTP and no OAuth messages, and does not
// judge who may manage apps: callers do.
package oauth
