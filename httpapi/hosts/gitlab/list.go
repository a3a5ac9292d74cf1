package gitlab

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	gitlab "gitlab.com/gitlab-org/api/client-go"

	"github.com/trawlsearch/trawl/httpapi/hosts/codehost"
)

// pageSize is the most that GitLab gives at once.
const pageSize = 100

// host is an account of GitLab.
type host struct {
	*settings
	client *gitlab.Client
}

// List implements codehost.Host.
func (h *host) List(ctx context.Context, _ codehost.Known) (codehost.Listing, error) {
	r, err := codehost.ReadParts(ctx, h.parts())
	return r.Listing, err
}

func (h *host) parts() (out []codehost.Part) {
	add := func(name string, read func(ctx context.Context, r *codehost.Reading) error) {
		out = append(out, codehost.Part{Name: name, Read: read})
	}
	for _, group := range h.Groups {
		add("group "+group, func(ctx context.Context, r *codehost.Reading) error {
			return h.group(ctx, r, group, gitlab.ListGroupProjectsOptions{IncludeSubGroups: gitlab.Ptr(true)})
		})
	}
	for _, user := range h.Users {
		add("user "+user, func(ctx context.Context, r *codehost.Reading) error {
			return h.projects(ctx, r, user, gitlab.ListProjectsOptions{})
		})
	}
	for _, q := range h.queries {
		add("query "+strconv.Quote(q.text), func(ctx context.Context, r *codehost.Reading) error {
			if q.group != "" {
				return h.group(ctx, r, q.group, q.ofGroup)
			}
			return h.projects(ctx, r, q.user, q.options)
		})
	}
	for _, p := range h.Projects {
		add("project "+p.Name+string(p.ID), func(ctx context.Context, r *codehost.Reading) error { return h.one(ctx, r, p) })
	}
	return out
}

// group reads the projects of a group in the order in which they were made, so that a
// new one is behind all others.
func (h *host) group(ctx context.Context, r *codehost.Reading, group string, o gitlab.ListGroupProjectsOptions) error {
	// Those that another group shares with it are that group's.
	o.WithShared = gitlab.Ptr(false)
	o.OrderBy, o.Sort, o.PerPage = gitlab.Ptr("id"), gitlab.Ptr("asc"), pageSize
	return h.pages(ctx, r, &o.Page, func() ([]*gitlab.Project, *gitlab.Response, error) {
		return h.client.Groups.ListGroupProjects(group, &o, gitlab.WithContext(ctx))
	})
}

// projects reads the projects of a user, or of all if user is "".
func (h *host) projects(ctx context.Context, r *codehost.Reading, user string, o gitlab.ListProjectsOptions) error {
	o.OrderBy, o.Sort, o.PerPage = gitlab.Ptr("id"), gitlab.Ptr("asc"), pageSize
	if h.rules.Sized() {
		o.Statistics = gitlab.Ptr(true)
	}
	return h.pages(ctx, r, &o.Page, func() ([]*gitlab.Project, *gitlab.Response, error) {
		if user != "" {
			return h.client.Projects.ListUserProjects(user, &o, gitlab.WithContext(ctx))
		}
		return h.client.Projects.ListProjects(&o, gitlab.WithContext(ctx))
	})
}

// pages reads all pages of a list.
func (h *host) pages(ctx context.Context, r *codehost.Reading, number *int64, page func() ([]*gitlab.Project, *gitlab.Response, error)) error {
	for {
		all, resp, err := page()
		if err != nil {
			return plain(err)
		}
		for _, p := range all {
			if err := h.take(ctx, r, p); err != nil {
				return err
			}
		}
		if resp.NextPage <= *number {
			return ctx.Err()
		}
		*number = resp.NextPage
	}
}

// one reads a project; one that has another path now is found by the old one as well.
func (h *host) one(ctx context.Context, r *codehost.Reading, named project) error {
	var id any = named.Name
	if named.ID != "" {
		number, err := strconv.ParseInt(string(named.ID), 10, 64)
		if err != nil {
			return &codehost.AnswerError{Message: "its id is no number"}
		}
		id = number
	}
	p, _, err := h.client.Projects.GetProject(id, &gitlab.GetProjectOptions{Statistics: gitlab.Ptr(h.rules.Sized())}, gitlab.WithContext(ctx))
	if err = plain(err); codehost.NotThere(err) {
		r.Missing(named.Name + string(named.ID))
		return nil
	}
	if err != nil {
		return err
	}
	return h.take(ctx, r, p)
}

// take adds a project. Lists of groups lack sizes: where a rule needs them the project
// is asked for itself.
func (h *host) take(ctx context.Context, r *codehost.Reading, p *gitlab.Project) error {
	if p == nil {
		return nil
	}
	if h.rules.Sized() && p.Statistics == nil {
		known, _, err := h.client.Projects.GetProject(p.ID, &gitlab.GetProjectOptions{Statistics: gitlab.Ptr(true)}, gitlab.WithContext(ctx))
		switch err = plain(err); {
		case err == nil:
			p = known
		case codehost.Fatal(ctx, err):
			return err
		}
	}
	return r.Take(h.factsOf(p))
}

func (h *host) factsOf(p *gitlab.Project) codehost.Repository {
	public := p.Visibility == gitlab.PublicVisibility || p.Visibility == gitlab.InternalVisibility && h.MarkInternalReposAsPublic
	out := codehost.Repository{
		Path: p.PathWithNamespace, CloneURL: p.HTTPURLToRepo, Description: p.Description, Topics: p.Topics, Stars: int(p.StarCount),
		Archived: p.Archived, Private: !public, DefaultBranch: p.DefaultBranch, Empty: p.EmptyRepo,
	}
	if p.ID > 0 {
		out.ID = strconv.FormatInt(p.ID, 10)
	}
	if p.ForkedFromProject != nil {
		out.Fork, out.Parent = true, p.ForkedFromProject.PathWithNamespace
	}
	if p.Statistics != nil {
		out.SizeBytes = p.Statistics.RepositorySize
	}
	if p.LastActivityAt != nil {
		out.Pushed = *p.LastActivityAt
	}
	return out
}

// plain returns what an error of the library says, without addresses.
func plain(err error) error {
	var limited *codehost.LimitedError
	var answer *gitlab.ErrorResponse
	switch {
	case errors.As(err, &limited):
		return limited
	case errors.Is(err, gitlab.ErrNotFound):
		return codehost.Answered(http.StatusNotFound, "")
	case !errors.As(err, &answer) || answer.Response == nil:
		return err
	}
	return codehost.Answered(answer.Response.StatusCode, answer.Message)
}
