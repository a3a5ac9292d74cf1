// Package auth decides who a request is from. A request comes in; the
// credential it shows is read, looked up in the registry of store/identity
// and becomes an Actor in the request's context, or an error with the status
// and text that clients know. Handlers ask the Actor what it may see and do;
// httpapi calls Gate.Admit for every route.
//
// What a browser sends on its own, which is cookies, remembered Basic
// credentials, what a proxy adds to its requests and requests without any
// credential, counts only when no page of another origin can have caused it.
// ARCHITECTURE.md has the whole rule.
//
// The package writes no body and knows no route.
package auth
