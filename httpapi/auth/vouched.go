package auth

import (
	"errors"
	"fmt"
	"net/http"
	"net/textproto"
	"regexp"
	"slices"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
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
func (g *Gate) vouchedFor(r *http.Request) string {
	if g.UserHeader == "" {
		return ""
	}
	values := r.Header.Values(g.UserHeader)
	if len(values) != 1 {
		return ""
	}
	if ip, ok := peer(r); !ok || !g.trustedProxy(ip) {
		return ""
	}
	return values[0]
}

// byVouched returns the actor of a user whom a proxy has signed in, whose account it makes
// if there is none. Until there is a first user, who administers the server, nobody is
// signed in.
func (g *Gate) byVouched(r *http.Request, reg *identity.Registry, cred credential) (*Actor, error) {
	if !reg.Used() {
		return &Actor{alone: g.isAlone(r)}, nil
	}
	u, err := reg.AdmitVouched(r.Context(), identity.Author{Address: g.address(r)}, cred.secret)
	return g.vouchedActor(reg, u, err)
}

// byKnownVouched is byVouched that makes no account.
func (g *Gate) byKnownVouched(reg *identity.Registry, cred credential) (*Actor, error) {
	u, err := reg.VouchedUser(cred.secret)
	if errors.Is(err, store.ErrNotFound) {
		return &Actor{}, nil
	}
	return g.vouchedActor(reg, u, err)
}

func (g *Gate) vouchedActor(reg *identity.Registry, u *identity.User, err error) (*Actor, error) {
	var rule *identity.RuleError
	if errors.As(err, &rule) {
		return nil, &Denied{Status: http.StatusForbidden, Message: rule.Text}
	}
	if err != nil {
		return nil, errInternal(err)
	}
	a := &Actor{User: u, Session: true}
	return a, g.complete(reg, a)
}
