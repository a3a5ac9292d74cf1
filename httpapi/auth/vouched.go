package auth

import (
	"fmt"
	"net/http"
	"net/textproto"
	"regexp"
	"slices"
)

var headerName = regexp.MustCompile(`^[A-Za-z0-9]+(-[A-Za-z0-9]+)*$`)

// ParseUserHeader checks the name of a header in which a proxy may say whom it has signed
// in. Headers that clients, browsers or other proxies send for another reason cannot be it.
func ParseUserHeader(name string) (string, error) {
	if !headerName.MatchString(name) {
		return "", fmt.Errorf("%q is no name of a header: write X-Forwarded-User", name)
	}
	name = textproto.CanonicalMIMEHeaderKey(name)
	if slices.Contains([]string{"Accept", "Authorization", "Connection", "Content-Length", "Content-Type", "Cookie", "Forwarded", "Host", "Origin", "Referer",
		"User-Agent", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip", "X-Requested-With", OperatorHeader}, name) {
		return "", fmt.Errorf("%s means something else: write X-Forwarded-User", name)
	}
	return name, nil
}

// vouchedFor returns whom a trusted proxy says that the request is from, "" for nobody. It
// is the proxy's own word only where the proxy holds the connection. A request with two
// of the headers has one that its client has sent, and nobody can say which.
func (re *Reach) vouchedFor(r *http.Request) string {
	if re.UserHeader == "" {
		return ""
	}
	values := r.Header.Values(re.UserHeader)
	if len(values) != 1 {
		return ""
	}
	if ip, ok := peer(r); !ok || !re.trustedProxy(ip) {
		return ""
	}
	return values[0]
}
