// Package oauth is the OAuth 2 server. Requests of apps come in and tokens go
// out: an authorization code with PKCE for apps that can open a browser
// (RFC 6749, 7636, 8252), device codes for those that cannot (RFC 8628), client
// credentials for service accounts, refresh tokens that are good once, and
// revocation and introspection (RFC 7009, 7662). Users are asked on two pages,
// and discovery documents say where all that is (RFC 8414).
//
// The rules of the protocol are those of the library fosite, which decodes and
// judges requests; what it has no part for stands here: the device grant, as a
// handler of the library's, the pages, and what RFC 9700 asks for beyond. What
// has to be remembered is kept by store/oauth, behind the library's interfaces
// for storage (storage.go). For httpapi/auth the Server says whom a bearer
// token stands for.
//
// Nothing here is for session cookies except the two pages: a decision there
// takes a session, a request from our own page, and a signature over that
// session and exactly what the user was shown.
package oauth
