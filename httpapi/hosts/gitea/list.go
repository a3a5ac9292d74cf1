package gitea

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"code.gitea.io/sdk/gitea"

	"github.com/trawlsearch/trawl/httpapi/hosts/codehost"
)

// pageSize is the most that Gitea gives at once unless its administrator has changed
// that.
const pageSize = 50

// host is an account of Gitea.
type host struct {
	*settings
	base   string
	client *http.Client
	// teams are the members of teams that were asked for, by ID.
	teams codehost.Asked
	// asAdmin says whether the token is an administrator's, nil before it was asked.
	asAdmin *bool
}

// List implements codehost.Host.
func (h *host) List(ctx context.Context, _ codehost.Known) (codehost.Listing, error) {
	c, err := h.connect(ctx)
	if err != nil {
		return codehost.Listing{}, err
	}
	r, err := codehost.ReadParts(ctx, h.parts(c))
	return r.Listing, err
}

func (h *host) parts(c *gitea.Client) (out []codehost.Part) {
	add := func(name string, page func(o gitea.ListOptions) ([]*gitea.Repository, *gitea.Response, error)) {
		out = append(out, codehost.Part{Name: name, Read: func(ctx context.Context, r *codehost.Reading) error {
			return pages(ctx, page, func(repo *gitea.Repository) error { return take(r, repo) })
		}})
	}
	for _, org := range h.Orgs {
		add("organisation "+org, func(o gitea.ListOptions) ([]*gitea.Repository, *gitea.Response, error) {
			return c.ListOrgRepos(org, gitea.ListOrgReposOptions{ListOptions: o})
		})
	}
	for _, user := range h.Users {
		add("user "+user, func(o gitea.ListOptions) ([]*gitea.Repository, *gitea.Response, error) {
			return c.ListUserRepos(user, gitea.ListReposOptions{ListOptions: o})
		})
	}
	for _, q := range h.RepositoryQuery {
		// In the order in which they were made, so that a new one is behind all others.
		search := gitea.SearchRepoOptions{Sort: "id", Order: "asc"}
		switch topic, isTopic := strings.CutPrefix(q, topicPrefix); {
		case q == queryNone:
			continue
		case q == queryAffiliated:
			add("the account's repositories", func(o gitea.ListOptions) ([]*gitea.Repository, *gitea.Response, error) {
				return c.ListMyRepos(gitea.ListReposOptions{ListOptions: o})
			})
			continue
		case q == queryAll:
		case isTopic:
			search.Keyword, search.KeywordIsTopic = topic, true
		default:
			search.Keyword = q
		}
		add("query "+strconv.Quote(q), func(o gitea.ListOptions) ([]*gitea.Repository, *gitea.Response, error) {
			search.ListOptions = o
			return c.SearchRepos(search)
		})
	}
	for _, repo := range h.Repos {
		out = append(out, codehost.Part{Name: "repository " + repo, Read: func(_ context.Context, r *codehost.Reading) error { return one(c, r, repo) }})
	}
	return out
}

// pages calls each for what all pages of a list have. Lists of repositories link to the next
// page; those of collaborators and members only say how many there are.
func pages[T any](ctx context.Context, page func(gitea.ListOptions) ([]T, *gitea.Response, error), each func(T) error) error {
	o := gitea.ListOptions{Page: 1, PageSize: pageSize}
	for seen := 0; o.Page <= codehost.MostPages; {
		all, resp, err := page(o)
		if err != nil {
			return plain(resp, err)
		}
		seen += len(all)
		for _, v := range all {
			if err := each(v); err != nil {
				return err
			}
		}
		next := resp.NextPage
		if resp.Header.Get("Link") == "" && len(all) > 0 {
			if total, err := strconv.Atoi(resp.Header.Get("X-Total-Count")); err != nil || seen < total {
				next = o.Page + 1
			}
		}
		if next <= o.Page || ctx.Err() != nil {
			return ctx.Err()
		}
		o.Page = next
	}
	return codehost.ErrEndless
}

// one reads a repository by its name; one that has another name now is found by the old
// one as well.
func one(c *gitea.Client, r *codehost.Reading, path string) error {
	owner, name, _ := strings.Cut(path, "/")
	repo, resp, err := c.GetRepo(owner, name)
	if err != nil {
		err = plain(resp, err)
	}
	if codehost.NotThere(err) {
		r.Missing(path)
		return nil
	}
	if err != nil {
		return err
	}
	return take(r, repo)
}

func take(r *codehost.Reading, repo *gitea.Repository) error {
	if repo == nil || repo.ID <= 0 {
		return nil
	}
	out := codehost.Repository{
		ID: strconv.FormatInt(repo.ID, 10), Path: repo.FullName, CloneURL: repo.CloneURL, Description: repo.Description, Topics: repo.Topics, Stars: repo.Stars,
		Fork: repo.Fork, Archived: repo.Archived, Private: repo.Private || repo.Internal, DefaultBranch: repo.DefaultBranch, Empty: repo.Empty,
		// The host does not say when it was pushed to; it has changed then.
		SizeBytes: int64(repo.Size) << 10, Pushed: repo.Updated,
	}
	if repo.Parent != nil {
		out.Parent = repo.Parent.FullName
	}
	return r.Take(out)
}

// plain returns what an error of the library says, without addresses.
func plain(resp *gitea.Response, err error) error {
	var limited *codehost.LimitedError
	switch {
	case errors.As(err, &limited):
		return limited
	case resp == nil || resp.Response == nil || resp.StatusCode < 300:
		return err
	}
	message := err.Error()
	if strings.Contains(message, "\n") {
		message = "" // the library quotes an answer that is none of the API
	}
	return codehost.Answered(resp.StatusCode, message)
}
