// Package hosts asks external services which repositories they have. The
// configuration of a service comes in; the sources that it names, or that the
// service answers with, go out. What people configure over the API could name
// any address, so every connection made for it, by this package or by git
// through its Proxy, is judged by a Guard once the address is known: at dial,
// and after every redirect.
package hosts
