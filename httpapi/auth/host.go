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

// CheckHost refuses a request whose Host header is no name of this server, with
// a *Denied. A page whose owner points its name here makes the browser take it
// for ours; only the Host header shows it. The names are the host of
// ExternalURL and those of Origins; a request from this machine may also use a
// loopback name. Ports are not compared, since a proxy may leave them out.
// Without ExternalURL the names are not known and every request passes.
func (re *Reach) CheckHost(r *http.Request) error {
	if re.ExternalURL == "" {
		return nil
	}
	host := hostName(r.Host)
	if host != "" && (re.isNamed(host) || isLoopback(host) && fromLoopback(r)) {
		return nil
	}
	return errMisdirected(r.Host)
}

// isNamed reports whether the settings name the host.
func (re *Reach) isNamed(host string) bool {
	return host == hostOfURL(re.ExternalURL) || slices.ContainsFunc(re.Origins, func(origin string) bool {
		return origin != AnyOrigin && host == hostOfURL(origin)
	})
}

// hostName returns the host of a Host header in the form in which hosts are
// compared: lower case, without port, brackets and the dot that may end a name.
// Addresses are written in their shortest form.
func hostName(header string) string {
	host := header
	if h, _, err := net.SplitHostPort(header); err == nil {
		host = h
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.Unmap().String()
	}
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

// hostOfURL is hostName for the host of a URL, "" without one.
func hostOfURL(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return hostName(u.Hostname())
}

// isLoopback reports whether a host always means the machine that uses it.
func isLoopback(host string) bool {
	host = strings.ToLower(host)
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// FromThisMachine reports whether a request came over loopback. An address of
// this machine that others reach does not count, although only this machine has
// it: address translation gives it to containers and guests of the machine, too.
func FromThisMachine(r *http.Request) bool {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// fromLoopback reports whether a program of this machine made the request
// itself: it came over loopback, and no header says that it was passed on.
func fromLoopback(r *http.Request) bool { return FromThisMachine(r) && !Forwarded(r) }

func errMisdirected(host string) *Denied {
	return &Denied{
		Status: http.StatusMisdirectedRequest,
		Message: fmt.Sprintf("The host %.100q is no name of this server. The setting external-url names it, trusted-origins names others; "+
			"a proxy in front has to pass on the Host header.", host),
	}
}
