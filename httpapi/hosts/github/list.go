package github

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/go-github/v75/github"

	"github.com/trawlsearch/trawl/httpapi/hosts/codehost"
)

const (
	// pageSize is the most that GitHub gives at once.
	pageSize = 100
	// mostFound is how many results of a search it gives.
	mostFound = 1000
	// mostSearches is into how many a search is split, and createdQualifier names the time
	// that they differ by.
	mostSearches     = 200
	createdQualifier = "created:"
	// mostParents is how many forks a listing asks about; the others have no parent
	// until a later one.
	mostParents = 200
)

// begun is before the first repository of GitHub was made.
var begun = time.Date(2007, 10, 1, 0, 0, 0, 0, time.UTC)

// host is an account of GitHub.
type host struct {
	*settings
	client *github.Client
}

// List implements codehost.Host.
func (h *host) List(ctx context.Context, known codehost.Known) (codehost.Listing, error) {
	r, err := codehost.ReadParts(ctx, h.parts())
	if err == nil {
		err = h.parents(ctx, r, known)
	}
	return r.Listing, err
}

func (h *host) parts() (out []codehost.Part) {
	add := func(name string, read func(ctx context.Context, r *codehost.Reading) error) {
		out = append(out, codehost.Part{Name: name, Read: read})
	}
	for _, org := range h.Orgs {
		add("organisation "+org, func(ctx context.Context, r *codehost.Reading) error {
			// In the order in which they were made, so that a new one is behind all others.
			o := &github.RepositoryListByOrgOptions{Sort: "created", Direction: "asc", ListOptions: github.ListOptions{PerPage: pageSize}}
			return pages(ctx, r, &o.ListOptions, func() ([]*github.Repository, *github.Response, error) {
				return h.client.Repositories.ListByOrg(ctx, org, o)
			})
		})
	}
	for _, user := range h.Users {
		add("user "+user, func(ctx context.Context, r *codehost.Reading) error {
			o := &github.RepositoryListByUserOptions{Type: "owner", Sort: "created", Direction: "asc", ListOptions: github.ListOptions{PerPage: pageSize}}
			return pages(ctx, r, &o.ListOptions, func() ([]*github.Repository, *github.Response, error) {
				return h.client.Repositories.ListByUser(ctx, user, o)
			})
		})
	}
	for _, q := range h.RepositoryQuery {
		switch q {
		case queryNone:
		case queryAffiliated:
			add("the account's repositories", func(ctx context.Context, r *codehost.Reading) error {
				o := &github.RepositoryListByAuthenticatedUserOptions{Sort: "created", Direction: "asc", ListOptions: github.ListOptions{PerPage: pageSize}}
				return pages(ctx, r, &o.ListOptions, func() ([]*github.Repository, *github.Response, error) {
					return h.client.Repositories.ListByAuthenticatedUser(ctx, o)
				})
			})
		case queryPublic:
			add("public repositories", h.public)
		default:
			add("query "+strconv.Quote(q), func(ctx context.Context, r *codehost.Reading) error { return h.search(ctx, r, q) })
		}
	}
	for _, repo := range h.Repos {
		add("repository "+repo, func(ctx context.Context, r *codehost.Reading) error { return h.one(ctx, r, repo) })
	}
	return out
}

// pages reads all pages of a list.
func pages(ctx context.Context, r *codehost.Reading, o *github.ListOptions, page func() ([]*github.Repository, *github.Response, error)) error {
	for {
		repos, resp, err := page()
		if err != nil {
			return plain(err)
		}
		if err := take(r, repos); err != nil {
			return err
		}
		if resp.NextPage <= o.Page {
			return ctx.Err()
		}
		o.Page = resp.NextPage
	}
}

// public reads all public repositories by their IDs.
func (h *host) public(ctx context.Context, r *codehost.Reading) error {
	o := &github.RepositoryListAllOptions{}
	for {
		repos, _, err := h.client.Repositories.ListAll(ctx, o)
		if err != nil || len(repos) == 0 {
			return plain(err)
		}
		if err := take(r, repos); err != nil {
			return err
		}
		last := repos[len(repos)-1].GetID()
		if last <= o.Since {
			return ctx.Err()
		}
		o.Since = last
	}
}

// search reads what a query finds. GitHub gives the first results only, so a query that
// finds more is asked for shorter and shorter times in which repositories were made. One
// that names such a time itself is a part that fails then: what is missing may be in the
// rest.
func (h *host) search(ctx context.Context, r *codehost.Reading, q string) error {
	left := mostSearches
	return h.searchMade(ctx, r, q, time.Time{}, time.Time{}, &left)
}

// searchMade reads what a query finds of what was made from a time to another, zero being
// any time. left is how many more queries may be made.
func (h *host) searchMade(ctx context.Context, r *codehost.Reading, q string, from, to time.Time, left *int) error {
	text := q
	if !from.IsZero() {
		text += " " + createdQualifier + from.Format(time.RFC3339) + ".." + to.Format(time.RFC3339)
	}
	o := &github.SearchOptions{ListOptions: github.ListOptions{PerPage: pageSize}}
	for *left--; ; {
		found, resp, err := h.client.Search.Repositories(ctx, text, o)
		if err != nil {
			return plain(err)
		}
		if found.GetTotal() > mostFound && o.Page == 0 && !strings.Contains(q, createdQualifier) {
			return h.searchHalves(ctx, r, q, from, to, found.GetTotal(), left)
		}
		if err := take(r, found.Repositories); err != nil {
			return err
		}
		switch {
		case found.GetIncompleteResults():
			return &codehost.AnswerError{Message: "GitHub's search gave a part of its results only"}
		case resp.NextPage > o.Page:
			o.Page = resp.NextPage
			continue
		case found.GetTotal() > mostFound:
			return tooMuch(found.GetTotal())
		}
		return ctx.Err()
	}
}

// searchHalves reads both halves of a time in which too many were made.
func (h *host) searchHalves(ctx context.Context, r *codehost.Reading, q string, from, to time.Time, total int, left *int) error {
	if from.IsZero() {
		from, to = begun, time.Now().UTC().Add(24*time.Hour).Truncate(time.Second)
	}
	if *left <= 0 || to.Sub(from) < 2*time.Second || total > codehost.MostRepositories {
		return tooMuch(total)
	}
	middle := from.Add(to.Sub(from) / 2).Truncate(time.Second)
	if err := h.searchMade(ctx, r, q, from, middle, left); err != nil {
		return err
	}
	return h.searchMade(ctx, r, q, middle.Add(time.Second), to, left)
}

func tooMuch(total int) error {
	return &codehost.AnswerError{Message: fmt.Sprintf("it finds %d repositories, of which GitHub's search gives %d: split the query, or name organisations", total, mostFound)}
}

// one reads a repository by its name; one that has another name now is found by the
// old one as well.
func (h *host) one(ctx context.Context, r *codehost.Reading, path string) error {
	owner, name, _ := strings.Cut(path, "/")
	repo, _, err := h.client.Repositories.Get(ctx, owner, name)
	if err = plain(err); codehost.NotThere(err) {
		r.Missing(path)
		return nil
	}
	if err != nil {
		return err
	}
	return take(r, []*github.Repository{repo})
}

func take(r *codehost.Reading, repos []*github.Repository) error {
	all := make([]codehost.Repository, 0, len(repos))
	for _, repo := range repos {
		if repo != nil {
			all = append(all, factsOf(repo))
		}
	}
	return r.Take(all...)
}

func factsOf(r *github.Repository) codehost.Repository {
	out := codehost.Repository{
		NodeID: r.GetNodeID(), Path: r.GetFullName(), CloneURL: r.GetCloneURL(),
		Description: r.GetDescription(), Topics: r.Topics, Stars: r.GetStargazersCount(),
		Fork: r.GetFork(), Archived: r.GetArchived(), Private: r.GetPrivate() || r.GetVisibility() == "internal",
		DefaultBranch: r.GetDefaultBranch(), SizeBytes: int64(r.GetSize()) << 10, Pushed: r.GetPushedAt().Time,
	}
	if id := r.GetID(); id != 0 {
		out.ID = strconv.FormatInt(id, 10)
	}
	if r.Parent != nil {
		out.Parent = r.Parent.GetFullName()
	}
	return out
}

// parents completes forks, of which lists do not name the parent. It never changes.
func (h *host) parents(ctx context.Context, reading *codehost.Reading, known codehost.Known) error {
	asked := 0
	for i := range reading.Repositories {
		r := &reading.Repositories[i]
		if !r.Fork || r.Parent != "" {
			continue
		}
		if r.Parent = known.Parent(r.ID); r.Parent != "" || asked == mostParents || !h.rules.Takes(r) {
			continue
		}
		asked++
		id, err := strconv.ParseInt(r.ID, 10, 64)
		if err != nil {
			continue
		}
		repo, _, err := h.client.Repositories.GetByID(ctx, id)
		err = plain(err)
		switch {
		case err == nil && repo.Parent != nil:
			r.Parent = repo.Parent.GetFullName()
		case err != nil && codehost.Fatal(ctx, err):
			return err
		}
	}
	return nil
}

// plain returns what an error of the library says, without addresses.
func plain(err error) error {
	var limited *codehost.LimitedError
	var answer *github.ErrorResponse
	switch {
	case errors.As(err, &limited):
		return limited
	case !errors.As(err, &answer) || answer.Response == nil:
		return err
	}
	return codehost.Answered(answer.Response.StatusCode, answer.Message)
}
