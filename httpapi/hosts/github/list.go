package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/google/go-github/v75/github"

	"github.com/trawlsearch/trawl/httpapi/hosts/codehost"
)

const (
	// pageSize is the most that GitHub gives at once.
	pageSize = 100
	// mostFound is how many results of a search it gives.
	mostFound = 1000
	// mostParents is how many forks a listing asks about; the others have no parent
	// until a later one.
	mostParents = 200
)

// host is an account of GitHub.
type host struct {
	*settings
	client *github.Client
}

// listing is one run of List.
type listing struct {
	*host
	out  codehost.Listing
	seen map[string]bool
}

// List implements codehost.Host.
func (h *host) List(ctx context.Context, known codehost.Known) (codehost.Listing, error) {
	l := &listing{host: h, seen: map[string]bool{}}
	for _, part := range h.parts() {
		err := part.read(ctx, l)
		switch {
		case err == nil:
		case fatal(ctx, err):
			return l.out, plain(err)
		default:
			l.out.Failed = append(l.out.Failed, part.name+": "+plain(err).Error())
		}
	}
	if err := l.parents(ctx, known); err != nil {
		return l.out, err
	}
	return l.out, nil
}

// part is something whose repositories are listed.
type part struct {
	name string
	read func(ctx context.Context, l *listing) error
}

func (h *host) parts() (out []part) {
	for _, org := range h.Orgs {
		out = append(out, part{"organisation " + org, func(ctx context.Context, l *listing) error {
			// In the order in which they were made, so that a new one is behind all others.
			o := &github.RepositoryListByOrgOptions{Sort: "created", Direction: "asc", ListOptions: github.ListOptions{PerPage: pageSize}}
			return l.pages(ctx, &o.ListOptions, func() ([]*github.Repository, *github.Response, error) {
				return h.client.Repositories.ListByOrg(ctx, org, o)
			})
		}})
	}
	for _, user := range h.Users {
		out = append(out, part{"user " + user, func(ctx context.Context, l *listing) error {
			o := &github.RepositoryListByUserOptions{Type: "owner", Sort: "created", Direction: "asc", ListOptions: github.ListOptions{PerPage: pageSize}}
			return l.pages(ctx, &o.ListOptions, func() ([]*github.Repository, *github.Response, error) {
				return h.client.Repositories.ListByUser(ctx, user, o)
			})
		}})
	}
	for _, q := range h.RepositoryQuery {
		switch q {
		case queryNone:
		case queryAffiliated:
			out = append(out, part{"the account's repositories", func(ctx context.Context, l *listing) error {
				o := &github.RepositoryListByAuthenticatedUserOptions{Sort: "created", Direction: "asc", ListOptions: github.ListOptions{PerPage: pageSize}}
				return l.pages(ctx, &o.ListOptions, func() ([]*github.Repository, *github.Response, error) {
					return h.client.Repositories.ListByAuthenticatedUser(ctx, o)
				})
			}})
		case queryPublic:
			out = append(out, part{"public repositories", func(ctx context.Context, l *listing) error { return l.public(ctx) }})
		default:
			out = append(out, part{"query " + strconv.Quote(q), func(ctx context.Context, l *listing) error { return l.search(ctx, q) }})
		}
	}
	for _, repo := range h.Repos {
		out = append(out, part{"repository " + repo, func(ctx context.Context, l *listing) error { return l.one(ctx, repo) }})
	}
	return out
}

// pages reads all pages of a list.
func (l *listing) pages(ctx context.Context, o *github.ListOptions, page func() ([]*github.Repository, *github.Response, error)) error {
	for {
		repos, resp, err := page()
		if err != nil {
			return err
		}
		if err := l.take(repos); err != nil {
			return err
		}
		if resp.NextPage <= o.Page {
			return ctx.Err()
		}
		o.Page = resp.NextPage
	}
}

// public reads all public repositories by their IDs.
func (l *listing) public(ctx context.Context) error {
	o := &github.RepositoryListAllOptions{}
	for {
		repos, _, err := l.client.Repositories.ListAll(ctx, o)
		if err != nil || len(repos) == 0 {
			return err
		}
		if err := l.take(repos); err != nil {
			return err
		}
		last := repos[len(repos)-1].GetID()
		if last <= o.Since {
			return ctx.Err()
		}
		o.Since = last
	}
}

// search reads what a query finds. A query that finds more than GitHub gives is a part
// that fails: what is missing may be in the rest.
func (l *listing) search(ctx context.Context, q string) error {
	o := &github.SearchOptions{ListOptions: github.ListOptions{PerPage: pageSize}}
	for {
		found, resp, err := l.client.Search.Repositories(ctx, q, o)
		if err != nil {
			return err
		}
		if err := l.take(found.Repositories); err != nil {
			return err
		}
		switch {
		case found.GetIncompleteResults():
			return errors.New("GitHub's search gave a part of its results only")
		case resp.NextPage > o.Page:
			o.Page = resp.NextPage
			continue
		case found.GetTotal() > mostFound:
			return fmt.Errorf("it finds %d repositories, of which GitHub's search gives %d: split the query, or name organisations", found.GetTotal(), mostFound)
		}
		return ctx.Err()
	}
}

// one reads a repository by its name; one that has another name now is found by the
// old one as well.
func (l *listing) one(ctx context.Context, path string) error {
	owner, name, _ := strings.Cut(path, "/")
	repo, resp, err := l.client.Repositories.Get(ctx, owner, name)
	if resp != nil && (resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusUnavailableForLegalReasons) {
		l.out.Left = append(l.out.Left, fmt.Sprintf("repository %s is not there, or the token may not see it", path))
		return nil
	}
	if err != nil {
		return err
	}
	return l.take([]*github.Repository{repo})
}

func (l *listing) take(repos []*github.Repository) error {
	for _, r := range repos {
		if r == nil {
			continue
		}
		l.out.Take(factsOf(r), l.seen)
	}
	if len(l.out.Repositories) > codehost.MostRepositories {
		return codehost.ErrTooMany
	}
	return nil
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
func (l *listing) parents(ctx context.Context, known codehost.Known) error {
	asked := 0
	for i := range l.out.Repositories {
		r := &l.out.Repositories[i]
		if !r.Fork || r.Parent != "" {
			continue
		}
		if r.Parent = known.Parent(r.ID); r.Parent != "" || asked == mostParents || !l.rules.Takes(r) {
			continue
		}
		asked++
		id, err := strconv.ParseInt(r.ID, 10, 64)
		if err != nil {
			continue
		}
		repo, _, err := l.client.Repositories.GetByID(ctx, id)
		switch {
		case err == nil && repo.Parent != nil:
			r.Parent = repo.Parent.GetFullName()
		case err != nil && fatal(ctx, err):
			return plain(err)
		}
	}
	return nil
}

// fatal reports whether an error is one of the host, and not of one part of it.
func fatal(ctx context.Context, err error) bool {
	var limited *codehost.LimitedError
	var answer *github.ErrorResponse
	return ctx.Err() != nil || errors.As(err, &limited) || errors.Is(err, codehost.ErrTooMany) || !errors.As(err, &answer) ||
		answer.Response != nil && answer.Response.StatusCode == http.StatusUnauthorized
}

// plain returns what an error says, without addresses.
func plain(err error) error {
	var limited *codehost.LimitedError
	var answer *github.ErrorResponse
	switch {
	case errors.As(err, &limited):
		return limited
	case !errors.As(err, &answer) || answer.Response == nil:
		return err
	case answer.Response.StatusCode == http.StatusUnauthorized:
		return codehost.ErrCredentials
	case answer.Response.StatusCode == http.StatusNotFound:
		return errors.New("it is not there, or the token may not see it")
	}
	return fmt.Errorf("the host answered %d %.*s", answer.Response.StatusCode, mostMessageBytes, strings.TrimSpace(answer.Message))
}

// mostMessageBytes is how much of a host's message is shown.
const mostMessageBytes = 200
