package bitbucket

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/httpapi/hosts/codehost"
)

// KindCloud is the kind of services of Bitbucket Cloud.
const KindCloud = "BITBUCKETCLOUD"

// cloudSettings is the configuration of a service of Bitbucket Cloud.
type cloudSettings struct {
	codehost.Common
	// APIURL is the address of the API, that of bitbucket.org if it is "".
	APIURL string `json:"apiURL"`
	// Username and AppPassword, or AccessToken, sign in; Token is either.
	Username    string `json:"username"`
	AppPassword string `json:"appPassword"`
	AccessToken string `json:"accessToken"`
	// Teams are workspaces of which all is listed, Repos are workspace/name.
	Teams []string `json:"teams"`
	Repos []string `json:"repos"`
	// WebhookSecret signs webhooks, as those of Webhooks do.
	WebhookSecret string `json:"webhookSecret"`
}

const (
	cloudURL = "https://bitbucket.org"
	cloudAPI = "https://api.bitbucket.org/2.0"
	// cloudPage is the most that Bitbucket Cloud gives at once.
	cloudPage = 100
	// apiTokenUser is who signs in to git with a token of an account that is known by its
	// address, and accessTokenUser with one of a repository, project or workspace.
	apiTokenUser    = "x-bitbucket-api-token-auth"
	accessTokenUser = "x-token-auth"
)

// ParseCloud reads a configuration, plain JSON.
func ParseCloud(plain []byte) (*codehost.Account, error) {
	var s cloudSettings
	if err := codehost.Decode(plain, &s); err != nil {
		return nil, err
	}
	if s.WebhookSecret != "" {
		s.Webhooks = append(s.Webhooks, codehost.Webhook{Secret: s.WebhookSecret})
	}
	s.Token = cmp.Or(s.Token, s.AccessToken, s.AppPassword)
	a, err := s.Account()
	if err != nil {
		return nil, err
	}
	if a.TakesReaders {
		return nil, errors.New("authorization: Bitbucket Cloud tells no addresses of accounts, and nobody signs in here by it, so its accounts cannot be matched: set readers here")
	}
	if s.Username != "" && s.Token == "" {
		return nil, errors.New("username: it needs an appPassword or token")
	}
	if strings.ContainsAny(s.Username, ":\r\n") {
		return nil, errors.New("username: it holds a colon or a line break")
	}
	if len(s.Teams)+len(s.Repos) == 0 {
		return nil, errors.New("it names no repositories: give teams, which are workspaces, or repos")
	}
	for _, team := range s.Teams {
		if !codehost.PlainName(team) {
			return nil, fmt.Errorf("teams: %q is no name of a workspace", team)
		}
	}
	for _, repo := range s.Repos {
		if !codehost.OwnerAndName(repo) {
			return nil, fmt.Errorf("repos: %q is no workspace/name", repo)
		}
	}
	base, err := s.api()
	if err != nil {
		return nil, err
	}
	switch {
	case s.Token == "":
	case s.Username == "":
		a.Git = url.UserPassword(accessTokenUser, s.Token)
	case strings.Contains(s.Username, "@"):
		a.Git = url.UserPassword(apiTokenUser, s.Token)
	default:
		a.Git = url.UserPassword(s.Username, s.Token)
	}
	a.ReadHook = ReadCloudHook
	a.Connect = func(_ *url.URL, client *http.Client) (codehost.Host, error) {
		return &cloud{&s, &codehost.JSON{Client: client, Base: base, Sign: signer(s.Username, s.Token)}}, nil
	}
	return a, nil
}

// api returns where the API is.
func (s *cloudSettings) api() (*url.URL, error) {
	text := s.APIURL
	if strings.EqualFold(strings.TrimSuffix(s.URL, "/"), cloudURL) {
		if text != "" && !strings.HasPrefix(strings.TrimSuffix(text, "/")+"/", "https://api.bitbucket.org/") {
			return nil, errors.New("apiURL: leave it out: it is known for " + cloudURL)
		}
		text = cloudAPI
	}
	u, err := url.Parse(text)
	switch {
	case text == "":
		return nil, fmt.Errorf("url: write %s, or the address of the API as apiURL", cloudURL)
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("apiURL: it is no address of an API such as " + cloudAPI)
	}
	return u, nil
}

// signer returns what has requests sign in, by a name with a password or by a token.
func signer(username, token string) func(*http.Request) {
	return func(req *http.Request) {
		switch {
		case username != "":
			req.SetBasicAuth(username, token)
		case token != "":
			req.Header.Set("Authorization", "Bearer "+token)
		}
	}
}

// cloud is an account of Bitbucket Cloud.
type cloud struct {
	*cloudSettings
	api *codehost.JSON
}

// cloudRepository is what the API says of a repository.
type cloudRepository struct {
	UUID        string    `json:"uuid"`
	FullName    string    `json:"full_name"`
	Description string    `json:"description"`
	IsPrivate   bool      `json:"is_private"`
	Size        int64     `json:"size"`
	UpdatedOn   time.Time `json:"updated_on"`
	MainBranch  struct {
		Name string `json:"name"`
	} `json:"mainbranch"`
	Parent *struct {
		FullName string `json:"full_name"`
	} `json:"parent"`
	Links links `json:"links"`
}

// links are addresses of a repository, of both kinds of hosts.
type links struct {
	Clone []struct {
		Name string `json:"name"`
		Href string `json:"href"`
	} `json:"clone"`
}

// clone returns where git fetches it over HTTP, without a user name.
func (l links) clone() string {
	for _, c := range l.Clone {
		if c.Name == "https" || c.Name == "http" {
			if u, err := url.Parse(c.Href); err == nil {
				u.User = nil
				return u.String()
			}
		}
	}
	return ""
}

// List implements codehost.Host.
func (h *cloud) List(ctx context.Context, _ codehost.Known) (codehost.Listing, error) {
	var parts []codehost.Part
	for _, team := range h.Teams {
		parts = append(parts, codehost.Part{Name: "workspace " + team, Read: func(ctx context.Context, r *codehost.Reading) error { return h.workspace(ctx, r, team) }})
	}
	for _, repo := range h.Repos {
		parts = append(parts, codehost.Part{Name: "repository " + repo, Read: func(ctx context.Context, r *codehost.Reading) error { return h.one(ctx, r, repo) }})
	}
	r, err := codehost.ReadParts(ctx, parts)
	return r.Listing, err
}

// workspace reads all pages of a workspace, in the order in which its repositories were
// made, so that a new one is behind all others.
func (h *cloud) workspace(ctx context.Context, r *codehost.Reading, name string) error {
	at := h.api.URL("repositories/"+name, url.Values{"pagelen": {fmt.Sprint(cloudPage)}, "sort": {"created_on"}})
	for seen := map[string]bool{}; ; {
		var page struct {
			Next   string            `json:"next"`
			Values []cloudRepository `json:"values"`
		}
		if err := h.api.Get(ctx, at, &page); err != nil {
			return err
		}
		for i := range page.Values {
			if err := page.Values[i].take(r); err != nil {
				return err
			}
		}
		if page.Next == "" || seen[page.Next] {
			return ctx.Err()
		}
		seen[page.Next] = true
		next, err := url.Parse(page.Next)
		if err != nil {
			return errors.New("the address of the next page does not parse")
		}
		at = next
	}
}

// one reads a repository by its name; one that has another name now is found by the old
// one as well.
func (h *cloud) one(ctx context.Context, r *codehost.Reading, path string) error {
	var repo cloudRepository
	switch err := h.api.Get(ctx, h.api.URL("repositories/"+path, nil), &repo); {
	case codehost.NotThere(err):
		r.Missing(path)
		return nil
	case err != nil:
		return err
	}
	return repo.take(r)
}

func (o *cloudRepository) take(r *codehost.Reading) error {
	out := codehost.Repository{
		ID: o.UUID, Path: o.FullName, CloneURL: o.Links.clone(), Description: o.Description, Private: o.IsPrivate, DefaultBranch: o.MainBranch.Name, SizeBytes: o.Size,
		// The host does not say when it was pushed to; it has changed then.
		Pushed: o.UpdatedOn,
	}
	if o.Parent != nil {
		out.Fork, out.Parent = true, o.Parent.FullName
	}
	return r.Take(out)
}
