package config

import (
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/oidc"
	"github.com/trawlsearch/trawl/store/identity"
)

// oidcKey is the key of the services that people sign in at, oidcKeys those below it.
const oidcKey = "oidc"

var oidcKeys = []string{
	"name", "title", "issuer", "client-id", "client-secret-file", "scopes", "groups-claim", "allow-domains", "allow-groups", "create-users", "link-by-email", "organizations",
}

// providerName is what a service may be called in paths and records.
var providerName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// providers reads the list of services.
func (f *File) providers(n *yaml.Node) error {
	all, err := f.list(oidcKey, n)
	if err != nil {
		return err
	}
	for _, entry := range all {
		p := oidc.Provider{Scopes: []string{"profile", "email"}, GroupsClaim: "groups", Policy: identity.ExternalPolicy{Create: true}}
		if err := f.mapping(entry, oidcKeys, func(key string, v *yaml.Node) error { return f.providerValue(&p, key, v) }); err != nil {
			return err
		}
		switch {
		case !providerName.MatchString(p.Name):
			return f.errorAt(entry.Line, "%s: name is missing, or has other characters than a-z, 0-9 and dashes", oidcKey)
		case slices.ContainsFunc(f.Providers, func(o oidc.Provider) bool { return o.Name == p.Name }):
			return f.errorAt(entry.Line, "%s: %s stands here twice", oidcKey, p.Name)
		case p.Issuer == "" || p.ClientID == "":
			return f.errorAt(entry.Line, "%s: %s needs issuer and client-id", oidcKey, p.Name)
		}
		if p.Title == "" {
			p.Title = p.Name
		}
		f.Providers = append(f.Providers, p)
	}
	return nil
}

func (f *File) providerValue(p *oidc.Provider, key string, v *yaml.Node) (err error) {
	switch key {
	case "scopes":
		p.Scopes, err = f.texts(key, v)
		return err
	case "allow-domains":
		p.Domains, err = f.texts(key, v)
		return err
	case "allow-groups":
		p.Groups, err = f.texts(key, v)
		return err
	case "organizations":
		p.Policy.Orgs, err = f.groupOrgs(v)
		return err
	}
	text, err := f.scalar(key, v)
	if err != nil {
		return err
	}
	switch key {
	case "name":
		p.Name = text
	case "title":
		p.Title = text
	case "client-id":
		p.ClientID = text
	case "groups-claim":
		p.GroupsClaim = text
	case "issuer":
		p.Issuer, err = checkIssuer(text)
	case "client-secret-file":
		p.ClientSecret, err = readSecret(f.relative(text))
	case "create-users":
		p.Policy.Create, err = strconv.ParseBool(text)
	case "link-by-email":
		p.Policy.Link, err = strconv.ParseBool(text)
	}
	if err != nil {
		return f.errorAt(v.Line, "%s: %s: %v", oidcKey, key, err)
	}
	return nil
}

// groupOrgs reads the organisations of groups.
func (f *File) groupOrgs(n *yaml.Node) (map[string]string, error) {
	if n.Kind != yaml.MappingNode {
		return nil, f.errorAt(n.Line, "organizations: expected groups with the names of organisations, such as kiln-team: lab")
	}
	out := map[string]string{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		org, err := f.scalar("organizations", resolve(n.Content[i+1]))
		if err != nil {
			return nil, err
		}
		if err := identity.CheckName(org); err != nil {
			return nil, f.errorAt(n.Content[i].Line, "organizations: %v", err)
		}
		out[resolve(n.Content[i]).Value] = org
	}
	return out, nil
}

// checkIssuer lets secrets and codes go over TLS only, or to this machine.
func checkIssuer(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Scheme != "https" && (u.Scheme != "http" || auth.Published(text)) {
		return "", errors.New("that is no address of a service: write https://login.example.org")
	}
	return text, nil
}

// checkSignIn refuses settings that let nobody in, or lead people elsewhere.
func (s *Settings) checkSignIn() error {
	switch {
	case len(s.Providers) > 0 && s.ExternalURL == "":
		return errors.New("oidc without external-url: say how browsers reach the server, since services send them back there")
	case s.UserHeader != "" && len(s.TrustedProxies) == 0:
		return errors.New("user-header without trusted-proxies: anybody could send it; name the addresses of the proxy that signs people in")
	case s.NoPasswords && len(s.Providers) == 0 && s.UserHeader == "":
		return errors.New("passwords: false without oidc and user-header: nobody could sign in; name a service to sign in at in the configuration file, or the header of a proxy")
	}
	return nil
}
