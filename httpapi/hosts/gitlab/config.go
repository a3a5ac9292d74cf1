package gitlab

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	gitlab "gitlab.com/gitlab-org/api/client-go"

	"github.com/trawlsearch/trawl/httpapi/hosts/codehost"
)

// Kind is the kind of these services.
const Kind = "GITLAB"

// settings is the configuration of a service.
type settings struct {
	codehost.Common
	// Projects are named by a path or an ID; of Groups, with the groups in them, and of
	// Users all is listed.
	Projects []project `json:"projects"`
	Groups   []string  `json:"groups"`
	Users    []string  `json:"users"`
	// ProjectQuery are queries of the API such as "?membership=true" and
	// "groups/lab/projects?archived=false", or none.
	ProjectQuery []string `json:"projectQuery"`
	// NameTransformations change names, one after another.
	NameTransformations []transformation `json:"nameTransformations"`
	// MarkInternalReposAsPublic says that all users of this server are users of the host.
	MarkInternalReposAsPublic bool `json:"markInternalReposAsPublic"`

	rules   codehost.Rules
	queries []projectQuery
}

type project struct {
	Name string      `json:"name"`
	ID   codehost.ID `json:"id"`
}

type transformation struct {
	Regex       string `json:"regex"`
	Replacement string `json:"replacement"`
}

// mostTransformations bounds what is run for each project.
const mostTransformations = 20

// pathPlaceholder is the path of a project, as names have it at other servers.
const pathPlaceholder = "{pathWithNamespace}"

// Parse reads a configuration, plain JSON.
func Parse(plain []byte) (*codehost.Account, error) {
	var s settings
	if err := codehost.Decode(plain, &s); err != nil {
		return nil, err
	}
	s.RepositoryPathPattern = strings.ReplaceAll(s.RepositoryPathPattern, pathPlaceholder, "{nameWithOwner}")
	a, err := s.Account()
	if err != nil {
		return nil, err
	}
	s.rules = a.Rules
	if s.Token != "" {
		a.Git = url.UserPassword("oauth2", s.Token)
	}
	if len(s.Projects)+len(s.Groups)+len(s.Users)+len(s.ProjectQuery) == 0 {
		if s.Token == "" {
			return nil, errors.New("it names no repositories: give groups, users, projects or a projectQuery, or a token to list what its account is a member of")
		}
		s.ProjectQuery = []string{"?membership=true"}
	}
	for i, p := range s.Projects {
		if p.ID == "" && !codehost.PlainPath(p.Name) {
			return nil, fmt.Errorf("projects, entry %d: give a name such as lab/kiln, or an id", i+1)
		}
	}
	for _, group := range slices.Concat(s.Groups, s.Users) {
		if !codehost.PlainPath(group) {
			return nil, fmt.Errorf("groups and users: %q is no path of a group or user", group)
		}
	}
	for _, text := range s.ProjectQuery {
		q, err := parseQuery(text)
		if err != nil {
			return nil, fmt.Errorf("projectQuery: %q: %w", text, err)
		}
		if q != nil {
			s.queries = append(s.queries, *q)
		}
	}
	if a.Rename, err = s.renaming(); err != nil {
		return nil, err
	}
	a.ReadHook = ReadHook
	a.Connect = func(base *url.URL, client *http.Client) (codehost.Host, error) { return s.connect(base, client) }
	return a, nil
}

// renaming returns what NameTransformations do to a name.
func (s *settings) renaming() (func(string) string, error) {
	if len(s.NameTransformations) > mostTransformations {
		return nil, fmt.Errorf("nameTransformations: there are more than %d", mostTransformations)
	}
	var all []func(string) string
	for i, t := range s.NameTransformations {
		re, err := regexp.Compile(t.Regex)
		if err != nil || t.Regex == "" || len(t.Regex)+len(t.Replacement) > codehost.MostPatternBytes {
			return nil, fmt.Errorf("nameTransformations, entry %d: regex is no regular expression, or too long", i+1)
		}
		all = append(all, func(name string) string { return re.ReplaceAllString(name, t.Replacement) })
	}
	return func(name string) string {
		for _, change := range all {
			name = change(name)
		}
		return name
	}, nil
}

// unlimited leaves limits to the client of all hosts.
type unlimited struct{}

// Wait implements gitlab.RateLimiter.
func (unlimited) Wait(ctx context.Context) error { return ctx.Err() }

func (s *settings) connect(base *url.URL, client *http.Client) (codehost.Host, error) {
	var auth gitlab.AuthSource = gitlab.Unauthenticated{}
	if s.Token != "" {
		auth = gitlab.AccessTokenAuthSource{Token: s.Token}
	}
	c, err := gitlab.NewAuthSourceClient(auth, gitlab.WithURLWarningLogger(slog.New(slog.DiscardHandler)), gitlab.WithBaseURL(base.String()),
		gitlab.WithHTTPClient(client), gitlab.WithoutRetries(), gitlab.WithCustomLimiter(unlimited{}))
	if err != nil {
		return nil, errors.New("url: the address of the API does not parse")
	}
	h := &host{s, c}
	if s.Authorization != nil {
		return &readerHost{h, map[int64]string{}}, nil
	}
	return h, nil
}
