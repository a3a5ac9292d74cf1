// Package hosts asks external services which repositories they have. The
// configuration of a service comes in; the sources that it names, or that the
// service answers with, go out. A configuration over the API could name any
// address. So a Guard judges every connection made for it, by this package or
// by git through its Proxy, once the address is known: at dial, and after every
// redirect.
package hosts
