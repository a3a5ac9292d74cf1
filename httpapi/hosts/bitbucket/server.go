package bitbucket

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/trawlsearch/trawl/httpapi/hosts/codehost"
)

// KindServer is the kind of services of Bitbucket Server and Data Center.
const KindServer = "BITBUCKETSERVER"

// serverSettings is the configuration of a service of Bitbucket Server.
type serverSettings struct {
	codehost.Common
	// Username and Password sign in; Token alone, or in the place of the password.
	Username string `json:"username"`
	Password string `json:"password"`
	// ProjectKeys are projects of which all is listed, Repos are KEY/name.
	ProjectKeys []string `json:"projectKeys"`
	Repos       []string `json:"repos"`
	// RepositoryQuery are queries of the API such as "?name=kiln&projectname=Lab", or
	// the words all and none.
	RepositoryQuery []string `json:"repositoryQuery"`
	// ExcludePersonalRepositories leaves out those of users.
	ExcludePersonalRepositories bool `json:"excludePersonalRepositories"`

	queries []serverQuery
}

type serverQuery struct {
	text   string
	values url.Values
}

const (
	queryAll  = "all"
	queryNone = "none"
	// serverPage is how many repositories a page has.
	serverPage = 100
	// slugPlaceholders are the path of a repository, as names have it at other servers.
	slugPlaceholders = "{projectKey}/{repositorySlug}"
)

// serverParameters are those of queries that the API has.
var serverParameters = map[string]bool{"name": true, "projectname": true, "projectkey": true, "permission": true, "state": true, "visibility": true, "archived": true}

// ParseServer reads a configuration, plain JSON.
func ParseServer(plain []byte) (*codehost.Account, error) {
	var s serverSettings
	if err := codehost.Decode(plain, &s); err != nil {
		return nil, err
	}
	s.RepositoryPathPattern = strings.ReplaceAll(s.RepositoryPathPattern, slugPlaceholders, "{nameWithOwner}")
	s.Token = cmp.Or(s.Token, s.Password)
	a, err := s.Account()
	if err != nil {
		return nil, err
	}
	if a.TakesReaders && !s.Authorization.TrustAddresses {
		return nil, errors.New("authorization: Bitbucket Server does not say which addresses of accounts are verified: if its directory sets them, write {\"trustAddresses\": true}")
	}
	if s.Username != "" && s.Token == "" {
		return nil, errors.New("username: it needs a password or token")
	}
	if strings.ContainsAny(s.Username, ":\r\n") {
		return nil, errors.New("username: it holds a colon or a line break")
	}
	if len(s.ProjectKeys)+len(s.Repos)+len(s.RepositoryQuery) == 0 {
		if s.Token == "" {
			return nil, errors.New("it names no repositories: give projectKeys, repos or a repositoryQuery, or a token to list what its account sees")
		}
		s.RepositoryQuery = []string{queryAll}
	}
	for _, key := range s.ProjectKeys {
		if !codehost.PlainName(key) {
			return nil, fmt.Errorf("projectKeys: %q is no key of a project", key)
		}
	}
	for _, repo := range s.Repos {
		if !codehost.OwnerAndName(repo) {
			return nil, fmt.Errorf("repos: %q is no KEY/name", repo)
		}
	}
	for _, text := range s.RepositoryQuery {
		if text == queryNone {
			continue
		}
		values, err := parseServerQuery(text)
		if err != nil {
			return nil, fmt.Errorf("repositoryQuery: %q: %w", text, err)
		}
		s.queries = append(s.queries, serverQuery{text, values})
	}
	if s.Token != "" {
		a.Git = url.UserPassword(cmp.Or(s.Username, accessTokenUser), s.Token)
	}
	a.ReadHook = ReadServerHook
	a.Connect = func(base *url.URL, client *http.Client) (codehost.Host, error) {
		return &server{&s, &codehost.JSON{Client: client, Base: base.JoinPath("rest/api/1.0"), Sign: signer(s.Username, s.Token)}, codehost.Asked{}}, nil
	}
	return a, nil
}

func parseServerQuery(text string) (url.Values, error) {
	if text == queryAll {
		return url.Values{}, nil
	}
	values, err := url.ParseQuery(strings.TrimPrefix(text, "?"))
	if err != nil || len(values) == 0 || !strings.HasPrefix(text, "?") {
		return nil, errors.New("write all, or parameters such as ?name=kiln&projectname=Lab")
	}
	for name := range values {
		if !serverParameters[name] {
			return nil, fmt.Errorf("the parameter %s is not known", name)
		}
	}
	return values, nil
}

// server is an account of Bitbucket Server.
type server struct {
	*serverSettings
	api *codehost.JSON
	// asked are the lists of permissions and the groups that were asked for.
	asked codehost.Asked
}

// serverRepository is what the API says of a repository.
type serverRepository struct {
	ID          int64         `json:"id"`
	Slug        string        `json:"slug"`
	Description string        `json:"description"`
	Public      bool          `json:"public"`
	Archived    bool          `json:"archived"`
	Project     serverProject `json:"project"`
	// Origin is what it was forked from.
	Origin *struct {
		Slug    string        `json:"slug"`
		Project serverProject `json:"project"`
	} `json:"origin"`
	Links links `json:"links"`
}

type serverProject struct {
	Key  string `json:"key"`
	Type string `json:"type"`
}

// personal is the type of the projects of users.
const personal = "PERSONAL"

// List implements codehost.Host.
func (h *server) List(ctx context.Context, _ codehost.Known) (codehost.Listing, error) {
	var parts []codehost.Part
	for _, key := range h.ProjectKeys {
		parts = append(parts, codehost.Part{Name: "project " + key, Read: func(ctx context.Context, r *codehost.Reading) error {
			return pages(ctx, h.api, "projects/"+key+"/repos", nil, func(o *serverRepository) error { return h.take(r, o) })
		}})
	}
	for _, q := range h.queries {
		parts = append(parts, codehost.Part{Name: "query " + strconv.Quote(q.text), Read: func(ctx context.Context, r *codehost.Reading) error {
			return pages(ctx, h.api, "repos", q.values, func(o *serverRepository) error { return h.take(r, o) })
		}})
	}
	for _, repo := range h.Repos {
		parts = append(parts, codehost.Part{Name: "repository " + repo, Read: func(ctx context.Context, r *codehost.Reading) error { return h.one(ctx, r, repo) }})
	}
	r, err := codehost.ReadParts(ctx, parts)
	return r.Listing, err
}

// pages calls each for what all pages of a list have.
func pages[T any](ctx context.Context, api *codehost.JSON, path string, q url.Values, each func(*T) error) error {
	start := int64(0)
	for range codehost.MostPages {
		at := api.URL(path, q)
		values := at.Query()
		values.Set("limit", strconv.Itoa(serverPage))
		values.Set("start", strconv.FormatInt(start, 10))
		at.RawQuery = values.Encode()
		var page struct {
			IsLastPage    bool  `json:"isLastPage"`
			NextPageStart int64 `json:"nextPageStart"`
			Values        []T   `json:"values"`
		}
		if err := api.Get(ctx, at, &page); err != nil {
			return err
		}
		for i := range page.Values {
			if err := each(&page.Values[i]); err != nil {
				return err
			}
		}
		if page.IsLastPage || page.NextPageStart <= start {
			return ctx.Err()
		}
		start = page.NextPageStart
	}
	return codehost.ErrEndless
}

func (h *server) one(ctx context.Context, r *codehost.Reading, path string) error {
	key, slug, _ := strings.Cut(path, "/")
	var repo serverRepository
	switch err := h.api.Get(ctx, h.api.URL("projects/"+key+"/repos/"+slug, nil), &repo); {
	case codehost.NotThere(err):
		r.Missing(path)
		return nil
	case err != nil:
		return err
	}
	return h.take(r, &repo)
}

func (h *server) take(r *codehost.Reading, o *serverRepository) error {
	if o.ID <= 0 || h.ExcludePersonalRepositories && (o.Project.Type == personal || strings.HasPrefix(o.Project.Key, "~")) {
		return nil
	}
	out := codehost.Repository{
		ID: strconv.FormatInt(o.ID, 10), Path: o.Project.Key + "/" + o.Slug, CloneURL: o.Links.clone(), Description: o.Description, Private: !o.Public, Archived: o.Archived,
	}
	if o.Origin != nil {
		out.Fork, out.Parent = true, o.Origin.Project.Key+"/"+o.Origin.Slug
	}
	return r.Take(out)
}
