package gitea

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"code.gitea.io/sdk/gitea"

	"github.com/trawlsearch/trawl/httpapi/hosts/codehost"
)

// Kind is the kind of these services.
const Kind = "GITEA"

// settings is the configuration of a service, in the form of one of GitHub.
type settings struct {
	codehost.Common
	// Repos are owner/name, Orgs organisations and Users users of whom all is listed.
	Repos []string `json:"repos"`
	Orgs  []string `json:"orgs"`
	Users []string `json:"users"`
	// RepositoryQuery are words to look for in names, topic:clay for one of a topic,
	// or the words affiliated, which is all that the account of the token has to do
	// with, all, which is all that it may see, and none.
	RepositoryQuery []string `json:"repositoryQuery"`
}

const (
	queryAffiliated = "affiliated"
	queryAll        = "all"
	queryNone       = "none"
	topicPrefix     = "topic:"
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
		if !codehost.OwnerAndName(repo) {
			return nil, fmt.Errorf("repos: %q is no owner/name", repo)
		}
	}
	for _, owner := range slices.Concat(s.Orgs, s.Users) {
		if !codehost.PlainName(owner) {
			return nil, fmt.Errorf("orgs and users: %q is no name of an organisation or user", owner)
		}
	}
	for _, q := range s.RepositoryQuery {
		switch {
		case strings.TrimSpace(strings.TrimPrefix(q, topicPrefix)) == "":
			return nil, errors.New("repositoryQuery: one is empty")
		case q == queryAffiliated && s.Token == "":
			return nil, errors.New("repositoryQuery: affiliated needs a token: it is what the token's account has")
		}
	}
	a.ReadHook = ReadHook
	a.Connect = func(base *url.URL, client *http.Client) (codehost.Host, error) {
		return &host{settings: &s, base: base.String(), client: client, teams: codehost.Asked{}}, nil
	}
	return a, nil
}

// connect returns a client of the library, whose requests belong to a context.
func (h *host) connect(ctx context.Context) (*gitea.Client, error) {
	// Without a version the library asks for none.
	options := []gitea.ClientOption{gitea.SetHTTPClient(h.client), gitea.SetContext(ctx), gitea.SetGiteaVersion("")}
	if h.Token != "" {
		options = append(options, gitea.SetToken(h.Token))
	}
	return gitea.NewClient(h.base, options...)
}
