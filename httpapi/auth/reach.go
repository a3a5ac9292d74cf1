package auth

import (
	"net/http"
	"net/netip"
)

// Reach is how clients reach the server, and which pages and proxies it trusts. A request
// is judged by its headers and its connection; no user is looked up.
type Reach struct {
	// Local says that only the same machine is served: what is listened on is
	// LoopbackOnly and the external URL not Published.
	Local bool
	// ExternalURL is how clients reach the server, "" if that is not known.
	ExternalURL string
	// Origins are trusted as our own; see AnyOrigin for "*".
	Origins []string
	// Proxies may say in X-Forwarded-For where a request came from.
	Proxies []netip.Prefix
	// UserHeader is the header in which Proxies say whom they have signed in; see
	// ParseUserHeader. With "" they sign nobody in.
	UserHeader string
}

// isAlone reports whether a request was made on this machine, to a server that
// only this machine reaches, by a name that no other page can have. Until there
// is a user, such a request sees everything.
func (re *Reach) isAlone(r *http.Request) bool {
	return re.Local && fromLoopback(r) && isLoopback(hostName(r.Host))
}
