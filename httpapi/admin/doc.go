// Package admin is how the operator changes what a running server has open: the
// commands of trawl, and programs on the same machine that know the token of the
// gate. A request comes in and becomes a call of httpapi/manage, which the answer
// tells of as JSON. Each route is an Operation, which names its method, path, body
// and answer once for the server and for its client, cmd/trawl/remote.
package admin
