package hosts

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/trawlsearch/trawl/httpapi/hosts/bitbucket"
	"github.com/trawlsearch/trawl/httpapi/hosts/codehost"
	"github.com/trawlsearch/trawl/httpapi/hosts/gerrit"
	"github.com/trawlsearch/trawl/httpapi/hosts/gitea"
	"github.com/trawlsearch/trawl/httpapi/hosts/github"
	"github.com/trawlsearch/trawl/httpapi/hosts/gitlab"
	"github.com/trawlsearch/trawl/httpapi/jsonc"
	"github.com/trawlsearch/trawl/store/git"
	"github.com/trawlsearch/trawl/store/ingest"
	"github.com/trawlsearch/trawl/store/redact"
)

// KindOther is the kind of services that name plain git repositories.
const KindOther = "OTHER"

// kinds are those of services that are asked for what they have.
var kinds = map[string]func(plain []byte) (*codehost.Account, error){
	github.Kind: github.Parse, gitea.Kind: gitea.Parse, gitlab.Kind: gitlab.Parse,
	bitbucket.KindCloud: bitbucket.ParseCloud, bitbucket.KindServer: bitbucket.ParseServer, gerrit.Kind: gerrit.Parse,
}

// Kinds returns the kinds of services that there are.
func Kinds() []string { return slices.Sorted(maps.Keys(kinds)) }

// The limits of a configuration.
const (
	maxConfigBytes  = 200 << 10
	maxRepositories = codehost.MostRepositories
)

// Config is the configuration of a service.
type Config struct {
	Kind string
	// URL is what the repositories' addresses begin with; nil if they are whole.
	URL *url.URL
	// Repos are addresses, below URL if that is set.
	Repos []string
	// Asked says that the service is asked for its repositories instead.
	Asked bool
	// ReposURL is the address, and ReposFile the path, of a list of addresses; nil and ""
	// for none.
	ReposURL  *url.URL
	ReposFile string

	// account is that of a code host, nil for KindOther.
	account *codehost.Account
	// hookSecrets sign webhooks.
	hookSecrets []string
	// logins are those of Repos that have one of their own.
	logins map[service]*url.Userinfo
}

// serveWords stand in place of repositories for "ask the service".
var serveWords = map[string]bool{"src-serve": true, "src-serve-local": true}

// ReposFileKey is the property with the path of a list of addresses.
const ReposFileKey = "reposFile"

// ParseConfig reads a configuration that came over the API. It names no file of this
// machine.
func ParseConfig(kind, text string) (*Config, error) {
	c, err := ParseDeclared(kind, text)
	if err == nil && c.ReposFile != "" {
		return nil, errors.New("reposFile: only the configuration file of the server names files: put the list at an address, and write reposURL")
	}
	return c, err
}

// ParseDeclared reads a configuration, JSON with comments, that may be one of the
// configuration file. Its errors are meant for people; clients know that about a property
// that is not allowed.
func ParseDeclared(kind, text string) (*Config, error) {
	parse := kinds[kind]
	if kind != KindOther && parse == nil {
		return nil, fmt.Errorf("external services of kind %s are not supported: use %s with the URLs of git repositories, or %s", kind, KindOther, strings.Join(Kinds(), ", "))
	}
	if len(text) > maxConfigBytes {
		return nil, fmt.Errorf("the configuration is longer than %d KiB", maxConfigBytes>>10)
	}
	plain, err := jsonc.Standardize(text)
	if err != nil {
		return nil, fmt.Errorf("the configuration is no JSON: %w", err)
	}
	if parse != nil {
		return parseHost(kind, plain, parse)
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(plain, &members) != nil {
		return nil, errors.New(`the configuration is no JSON object such as {"url": "https://git.example.org", "repos": ["lab/kiln"]}`)
	}
	c := &Config{Kind: kind}
	base, list := "", ""
	for _, name := range slices.Sorted(maps.Keys(members)) {
		switch name {
		case "url":
			err = json.Unmarshal(members[name], &base)
		case "repos":
			err = json.Unmarshal(members[name], &c.Repos)
		case "reposURL":
			err = json.Unmarshal(members[name], &list)
		case ReposFileKey:
			err = json.Unmarshal(members[name], &c.ReposFile)
		case "webhooks":
			var all []codehost.Webhook
			if err = json.Unmarshal(members[name], &all); err == nil {
				if c.hookSecrets, err = codehost.HookSecrets(all); err != nil {
					return nil, err
				}
			}
		default:
			return nil, codehost.PropertyError(name)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: url is text, as are reposURL and reposFile, repos a list of texts, and webhooks a list with texts to sign by", name)
		}
	}
	if base != "" {
		if c.URL, err = parseURL(base); err != nil {
			return nil, err
		}
	}
	if list != "" {
		if c.ReposURL, err = parseURL(list); err != nil {
			return nil, fmt.Errorf("reposURL: %w", err)
		}
	}
	return c, c.check()
}

// parseHost reads the configuration of a code host.
func parseHost(kind string, plain []byte, parse func([]byte) (*codehost.Account, error)) (*Config, error) {
	account, err := parse(plain)
	if err != nil {
		return nil, err
	}
	u, err := parseURL(account.URL)
	if err != nil {
		return nil, err
	}
	if u.User != nil {
		return nil, errors.New("url: it has a user name or password: write the token as token")
	}
	return &Config{Kind: kind, URL: u, account: account, hookSecrets: account.HookSecrets}, nil
}

// TakesReaders reports whether who may read a private repository is asked of the host.
func (c *Config) TakesReaders() bool { return c.account != nil && c.account.TakesReaders }

// Git returns by what git signs in for a source: at the service's own address, and at
// no other.
func (c *Config) Git(source string) *url.Userinfo {
	u, err := url.Parse(source)
	if err != nil {
		return nil
	}
	if login := c.logins[serviceOf(u)]; login != nil {
		return login
	}
	if c.URL == nil {
		return nil
	}
	own, other := serviceOf(c.URL), serviceOf(u)
	if own.scheme != other.scheme || own.host != other.host || own.port != other.port {
		return nil
	}
	if c.account == nil {
		return c.URL.User
	}
	return c.account.Git
}

// withoutLogin takes the user and password out of a source that the configuration names:
// Git knows them, and no record has them. One that the answer of a service has stays, as
// nothing else knows it.
func (c *Config) withoutLogin(src ingest.Source) ingest.Source {
	u, err := url.Parse(src.Location)
	if err != nil || u.User == nil || c.Asked && (c.URL.User == nil || u.User.String() != c.URL.User.String()) {
		return src
	}
	if c.URL == nil || c.URL.User == nil || u.User.String() != c.URL.User.String() {
		if c.logins == nil {
			c.logins = map[service]*url.Userinfo{}
		}
		c.logins[serviceOf(u)] = u.User
	}
	u.User = nil
	src.Location = u.String()
	return src
}

func (c *Config) check() error {
	lists := 0
	for _, given := range []bool{len(c.Repos) > 0, c.ReposURL != nil, c.ReposFile != ""} {
		if given {
			lists++
		}
	}
	switch {
	case lists > 1:
		return errors.New("give one of repos, reposURL and reposFile")
	case lists == 1 && len(c.Repos) == 0:
		return nil
	case lists == 0:
		return errors.New(`repos names no repository: list some, or "src-serve" to ask the service`)
	case len(c.Repos) > maxRepositories:
		return fmt.Errorf("repos names more than %d repositories", maxRepositories)
	case len(c.Repos) == 1 && serveWords[c.Repos[0]]:
		c.Asked = true
		if c.URL == nil {
			return errors.New("url is missing: it says which service to ask")
		}
		return nil
	}
	for _, repo := range c.Repos {
		if _, err := c.source(repo, ""); err != nil {
			return err
		}
	}
	return nil
}

// parseURL reads an address that git may be sent to over HTTP; nothing else can
// be guarded. Errors do not show passwords.
func parseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, errors.New("an address cannot be used: it does not parse")
	case strings.HasPrefix(text, "-"), strings.Contains(text, "::"), u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("%q cannot be used: write an address that begins with https:// or http://", redact.URL(u.String()))
	case u.Hostname() == "" || strings.HasPrefix(u.Hostname(), "-"):
		return nil, fmt.Errorf("%q names no host", redact.URL(u.String()))
	case git.CheckURL(text) != nil:
		return nil, git.CheckURL(text)
	case u.RawQuery != "" || u.Fragment != "" || u.Opaque != "":
		return nil, fmt.Errorf("%q is more than an address: leave out what begins with ? or #", redact.URL(u.String()))
	}
	if u.Path == "" {
		u.Path = "/"
	}
	return u, nil
}

// source makes the source of a repository, named if the name is not empty.
func (c *Config) source(repo, name string) (ingest.Source, error) {
	var u *url.URL
	var err error
	switch {
	case strings.Contains(repo, "://") || c.URL == nil:
		u, err = parseURL(repo)
	case repo == "" || strings.HasPrefix(repo, "-") || strings.Contains(repo, "::") || strings.ContainsAny(repo, "?#\\"):
		err = fmt.Errorf("%q is no path of a repository", redact.URL(repo))
	default:
		u = c.URL.JoinPath(repo)
		if !strings.HasPrefix(u.Path+"/", strings.TrimSuffix(c.URL.Path, "/")+"/") {
			err = fmt.Errorf("%q leads out of the service", redact.URL(repo))
		}
	}
	if err != nil {
		return ingest.Source{}, err
	}
	src, err := namedSource(u, name)
	return c.withoutLogin(src), err
}

// namedSource makes the source of an address, named if the name is not empty.
func namedSource(u *url.URL, name string) (ingest.Source, error) {
	text := u.String()
	if name != "" {
		text = name + "=" + text
	}
	src, err := ingest.ParseSource(text)
	if err != nil || !src.Remote || name != "" && src.Name != name {
		return ingest.Source{}, fmt.Errorf("%q cannot be a repository: its name has characters that names do not", redact.URL(u.String()))
	}
	src.Guarded = true
	return src, nil
}
