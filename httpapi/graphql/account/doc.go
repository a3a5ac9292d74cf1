// Package account resolves the types of the schema that are about people and the
// site: users, organizations, tokens, settings, saved searches, external services
// and the state of repositories. A Session comes in, made for one request; the
// types User, Org and others go out, and Root has their queries and mutations. It
// knows no git object and no search; a rule about who may do what is one of
// packages auth and manage.
package account
