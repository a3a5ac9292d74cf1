// Package oidc signs people in at other services, by OpenID Connect. The answer of a
// service comes in; a session of its user, or a page that says why there is none, goes
// out. The library go-oidc reads the keys of a service and judges its tokens;
// golang.org/x/oauth2 speaks to it. Here are the routes, what a sign-in remembers between
// its two halves, and the rules about who may come in. store/identity has those about
// whose account it is.
//
// The server keeps nothing of a sign-in that has begun: state, nonce and the verifier of
// PKCE are in a cookie of the browser that began it, so that any node can end it, and no
// other browser. A code is good once, which is for the service to see to.
package oidc
