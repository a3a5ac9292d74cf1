// Package oauth is the OAuth 2 server. Requests of apps come in and tokens go
// out: an authorization code with PKCE for apps that can open a browser (RFC
// 6749, 7636, 8252), device codes for those that cannot (RFC 8628), client
// credentials for service accounts, and refresh tokens that are good once.
// Tokens can be revoked and introspected (RFC 7009, 7662). Users are asked on
// two pages, and discovery documents say where all that is (RFC 8414).
//
// The rules of the protocol are those of the library fosite, which decodes and
// judges requests. The parts it lacks are here: the device grant, as a handler
// of the library's, the pages, and the further demands of RFC 9700. store/oauth
// keeps the records, behind the library's interfaces for storage (storage.go).
// For httpapi/auth the Server finds the user of a bearer token.
//
// Nothing here is for session cookies except the two pages: a decision there
// takes a session, a request from our own page, and a signature over that
// session and exactly what the user was shown.
package oauth
