package oauth

import (
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

const (
	mostRedirects     = 20
	mostRedirectBytes = 1024
)

// hostForm is what a host may look like, so that it can stand in a header as
// it is; schemeForm is a name of the app's own, a domain backwards (RFC 8252,
// section 7.1).
var (
	hostForm   = regexp.MustCompile(`^([A-Za-z0-9.-]+|\[[0-9a-f:]+\])(:[0-9]+)?$`)
	schemeForm = regexp.MustCompile(`^[a-z][a-z0-9+-]*(\.[a-z0-9+-]+)+$`)
	// editorSchemes are names without a dot that editors have for themselves.
	editorSchemes = []string{"cursor", "jetbrains", "vscode", "vscode-insiders", "vscodium", "windsurf", "zed"}
)

func checkRedirects(all []string) error {
	if len(all) > mostRedirects {
		return refuse("an app has at most %d redirect URIs", mostRedirects)
	}
	for i, text := range all {
		if why := refusedRedirect(text); why != "" {
			return refuse("the redirect URI %.200q %s", text, why)
		}
		if slices.Contains(all[:i], text) {
			return refuse("the redirect URI %q stands there twice", text)
		}
	}
	return nil
}

// refusedRedirect says why a code is not sent to a URI, or "".
func refusedRedirect(text string) string {
	u, err := url.Parse(text)
	switch {
	case err != nil || len(text) > mostRedirectBytes || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"<>\^`+"`{|}", r) }):
		return "is no URI"
	case u.User != nil || strings.ContainsAny(text, "#*"):
		return "holds a user, a fragment or a wildcard, which it may not"
	case u.Scheme == "https":
		if !hostForm.MatchString(u.Host) {
			return "has no host"
		}
	case u.Scheme == "http":
		if !hostForm.MatchString(u.Host) || u.Hostname() != "localhost" && !isLoopback(u.Hostname()) {
			return "must be https, unless its host is 127.0.0.1, [::1] or localhost"
		}
	case !schemeForm.MatchString(u.Scheme) && !slices.Contains(editorSchemes, u.Scheme):
		return "needs the scheme https or a name of its own with a dot in it, such as org.example.app"
	case u.Opaque != "" || u.Host == "" && u.Path == "" || u.Host != "" && !hostForm.MatchString(u.Host):
		return "needs a path, as in org.example.app:/done"
	}
	return ""
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback() && ip.Zone() == ""
}

// Allows reports whether a code may be sent to uri: to one of the app's, each
// byte the same (RFC 9700, section 2.1). Only the port may differ, and only
// where one of them names this machine by http and address, since a program
// there takes the port that is free (RFC 8252, section 7.3).
func (a *App) Allows(uri string) bool {
	return slices.ContainsFunc(a.Redirects, func(known string) bool {
		return known == uri || sameButPort(known, uri)
	})
}

func sameButPort(known, uri string) bool {
	k, ok := withoutPort(known)
	if !ok {
		return false
	}
	u, ok := withoutPort(uri)
	return ok && k == u
}

// loopbackForm is a URI of this machine, in parts before and behind the port.
var loopbackForm = regexp.MustCompile(`^(http://(?:127\.0\.0\.1|\[::1\]))(?::[1-9][0-9]{0,4})?((?:[/?][^#]*)?)$`)

func withoutPort(uri string) (string, bool) {
	m := loopbackForm.FindStringSubmatch(uri)
	if m == nil || refusedRedirect(uri) != "" {
		return "", false
	}
	return m[1] + m[2], true
}
