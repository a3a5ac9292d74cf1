// Package manage is what users, site admins and the operator change on a server:
// users, access tokens, organisations, OAuth apps and repositories, and the searches that
// people keep. The actor of a request and what to change come in, decoded; the operation checks whether the
// actor may, has the store make the change with its line of the audit log, and
// what is there afterwards goes out. GraphQL, the pages of the settings and the
// routes of the operator all call it.
//
// It knows no requests, forms and pages. It stands above the stores since they do
// not judge who may do what: that follows from the Actor of httpapi/auth.
package manage
