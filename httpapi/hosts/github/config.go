package github

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/google/go-github/v75/github"

	"github.com/trawlsearch/trawl/httpapi/hosts/codehost"
)

// Kind is the kind of these services.
const Kind = "GITHUB"

// settings is the configuration of a service.
type settings struct {
	codehost.Common
	// Repos are owner/name, Orgs organisations and Users users of whom all is listed.
	Repos []string `json:"repos"`
	Orgs  []string `json:"orgs"`
	Users []string `json:"users"`
	// RepositoryQuery are queries of GitHub's search, or the words affiliated, which
	// is all that the account of the token has to do with, public, which is all of a
	// GitHub Enterprise, and none.
	RepositoryQuery []string `json:"repositoryQuery"`

	rules codehost.Rules
}

const (
	queryAffiliated = "affiliated"
	queryPublic     = "public"
	queryNone       = "none"
)

// Parse reads a configuration, plain JSON.
func Parse(plain []byte) (*codehost.Account, error) {
	var s settings
	if err := codehost.Decode(plain, &s); err != nil {
		return nil, err
	}
	a, err := s.Account()
	if err != nil {
		return nil, err
	}
	s.rules = a.Rules
	if s.Token != "" {
		a.Git = url.UserPassword("x-access-token", s.Token)
	}
	if len(s.Repos)+len(s.Orgs)+len(s.Users)+len(s.RepositoryQuery) == 0 {
		if s.Token == "" {
			return nil, errors.New("it names no repositories: give orgs, users, repos or a repositoryQuery, or a token to list what its account has")
		}
		s.RepositoryQuery = []string{queryAffiliated}
	}
	for _, repo := range s.Repos {
		if owner, name, ok := strings.Cut(repo, "/"); !ok || !plainName(owner) || !plainName(name) {
			return nil, fmt.Errorf("repos: %q is no owner/name", repo)
		}
	}
	for _, owner := range slices.Concat(s.Orgs, s.Users) {
		if !plainName(owner) {
			return nil, fmt.Errorf("orgs and users: %q is no name of an organisation or user", owner)
		}
	}
	for _, q := range s.RepositoryQuery {
		switch {
		case strings.TrimSpace(q) == "":
			return nil, errors.New("repositoryQuery: one is empty")
		case q == queryAffiliated && s.Token == "":
			return nil, errors.New("repositoryQuery: affiliated needs a token: it is what the token's account has")
		case q == queryPublic && isGitHubCom(s.URL):
			return nil, errors.New("repositoryQuery: public is all of a GitHub Enterprise; github.com has too much")
		}
	}
	a.ReadHook = ReadHook
	a.Connect = func(base *url.URL, client *http.Client) (codehost.Host, error) { return s.connect(base, client) }
	return a, nil
}

// plainName reports whether text can be a part of a path at GitHub.
func plainName(text string) bool {
	return text != "" && text != "." && text != ".." && len(text) <= 100 && !strings.ContainsFunc(text, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_' && r != '.'
	})
}

func isGitHubCom(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (strings.EqualFold(u.Hostname(), "github.com") || strings.EqualFold(u.Hostname(), "www.github.com"))
}

// apiURL returns where the API of a host is.
func apiURL(base *url.URL) string {
	switch host := strings.ToLower(base.Host); {
	case isGitHubCom(base.String()):
		return "https://api.github.com/"
	case strings.HasSuffix(host, ".ghe.com"):
		return base.Scheme + "://api." + host + "/"
	}
	return (&url.URL{Scheme: base.Scheme, Host: base.Host}).JoinPath(base.Path, "api/v3/").String()
}

func (s *settings) connect(base *url.URL, client *http.Client) (codehost.Host, error) {
	c := github.NewClient(client)
	if s.Token != "" {
		c = c.WithAuthToken(s.Token)
	}
	var err error
	if c.BaseURL, err = url.Parse(apiURL(base)); err != nil {
		return nil, errors.New("url: it does not parse")
	}
	c.DisableRateLimitCheck = true // the client of all hosts waits, where this one would fail
	h := &host{s, c}
	if s.Authorization != nil {
		return &readerHost{h, map[string]string{}}, nil
	}
	return h, nil
}
