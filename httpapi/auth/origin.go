package auth

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// AnyOrigin among the trusted origins lets pages of any origin read the answers
// to anonymous requests. It makes none of them trusted.
const AnyOrigin = "*"

// ParseOrigins reads origins such as https://example.org, separated by spaces
// or commas.
func ParseOrigins(text string) ([]string, error) {
	var out []string
	for _, o := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' }) {
		if o != AnyOrigin && o != originOf(o) {
			return nil, fmt.Errorf("%q is no origin: write https://example.org, without a path", o)
		}
		out = append(out, o)
	}
	return out, nil
}

// originOf returns the origin of a URL, "" for what is none.
func originOf(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Scheme == "" || u.Host == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// BaseURL returns how the client of a request reaches the server, without a
// slash at the end: external or, if that is empty, what the request says.
func BaseURL(external string, r *http.Request) string {
	switch {
	case external != "":
		return strings.TrimSuffix(external, "/")
	case r.TLS != nil:
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// LoopbackOnly reports whether only programs of the same machine can reach
// what listens on host:port.
func LoopbackOnly(listen string) bool {
	host, _, err := net.SplitHostPort(listen)
	return err == nil && isLoopback(host)
}

// Published reports whether a URL leads others than the same machine here.
func Published(externalURL string) bool {
	u, err := url.Parse(externalURL)
	return externalURL != "" && (err != nil || !isLoopback(u.Hostname()))
}

// TrustedOrigin reports whether the request comes from a page of ours, or of
// an origin that the settings trust like ours.
func (re *Reach) TrustedOrigin(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" || origin == "null" || origin == AnyOrigin {
		return false
	}
	if slices.Contains(re.Origins, origin) || origin == originOf(re.ExternalURL) {
		return true
	}
	// The scheme is not compared: something in front may speak TLS for us.
	u, err := url.Parse(origin)
	return err == nil && u.Host != "" && u.Host == r.Host && (u.Scheme == "http" || u.Scheme == "https")
}

// Foreign reports whether a page of another origin may have caused the request,
// other than by leading a person here. Browsers say so in Sec-Fetch-Site, and
// in Origin unless the request is a plain GET; programs send neither.
func (re *Reach) Foreign(r *http.Request) bool {
	if r.Header.Get("Origin") != "" {
		return !re.TrustedOrigin(r)
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
		return false
	}
	safe := r.Method == http.MethodGet || r.Method == http.MethodHead
	return !safe || r.Header.Get("Sec-Fetch-Mode") != "navigate" || r.Header.Get("Sec-Fetch-Dest") != "document"
}

// ownHost reports whether the Host header is a name by which the machine
// itself reaches a server on loopback. Another name may be that of a page
// whose owner has let it lead here; an address cannot, since its pages are
// ours.
func (re *Reach) ownHost(r *http.Request) bool {
	host := hostName(r.Host)
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	return host != "" && (isLoopback(host) || host == hostOfURL(re.ExternalURL))
}

// FromOurs reports whether the request comes from its user's own intent: no
// page of another origin caused it, and on loopback no name of a stranger led
// here.
func (re *Reach) FromOurs(r *http.Request) bool {
	return !re.Foreign(r) && (!re.Local || re.ownHost(r))
}

// cookieCounts reports whether the session cookie is the request's own. Below
// /.api/ it takes a header that other origins cannot send, or a trusted
// origin.
func (re *Reach) cookieCounts(r *http.Request) bool {
	if !strings.HasPrefix(r.URL.Path, apiPrefix) {
		return !re.Foreign(r)
	}
	return r.Header.Get("X-Requested-With") != "" || re.TrustedOrigin(r) || r.Header.Get("Sec-Fetch-Site") == "same-origin"
}

// apiPrefix begins the paths of programs, agentPrefix those of agents among them.
const (
	apiPrefix   = "/.api/"
	agentPrefix = "/.api/mcp"
)

// crossOrigin sets the headers that let pages of other origins read the answer
// to a request below /.api/. The origin is sent back whatever it is: a page
// gets an answer only by a secret that it knows.
func crossOrigin(h http.Header, r *http.Request) {
	if !strings.HasPrefix(r.URL.Path, apiPrefix) {
		return
	}
	h.Set("Access-Control-Allow-Credentials", "true")
	h.Set("Access-Control-Allow-Origin", r.Header.Get("Origin"))
	if strings.HasPrefix(r.URL.Path, agentPrefix) {
		h.Set("Access-Control-Expose-Headers", "Mcp-Session-Id, Www-Authenticate")
	}
}

// Preflight answers OPTIONS below /.api/.
func (re *Reach) Preflight(w http.ResponseWriter, r *http.Request) {
	allowed := "Content-Type, Authorization, X-Sourcegraph-Should-Trace"
	if re.TrustedOrigin(r) {
		allowed = "X-Requested-With, X-Sourcegraph-Client, " + allowed
	}
	methods := "GET, POST, OPTIONS"
	if strings.HasPrefix(r.URL.Path, agentPrefix) && re.TrustedOrigin(r) {
		methods, allowed = methods+", DELETE", allowed+", Mcp-Protocol-Version, Mcp-Session-Id, Last-Event-Id"
	}
	h := w.Header()
	crossOrigin(h, r)
	h.Add("Vary", "Origin")
	h.Set("Access-Control-Allow-Methods", methods)
	h.Set("Access-Control-Allow-Headers", allowed)
	w.WriteHeader(http.StatusOK)
}
