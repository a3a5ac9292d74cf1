package github

import (
	"context"
	"strconv"
	"strings"

	"github.com/google/go-github/v75/github"

	"github.com/trawlsearch/trawl/httpapi/hosts/codehost"
)

// readerHost is a host that is asked for readers.
type readerHost struct {
	*host
	// emails are the public addresses of accounts, which GitHub has verified, by login.
	emails map[string]string
}

// Readers implements codehost.Permissions.
func (h *readerHost) Readers(ctx context.Context, r *codehost.Repository) (out []codehost.Reader, err error) {
	owner, name, _ := strings.Cut(r.Path, "/")
	o := &github.ListCollaboratorsOptions{Affiliation: "all", ListOptions: github.ListOptions{PerPage: pageSize}}
	for {
		users, resp, err := h.client.Repositories.ListCollaborators(ctx, owner, name, o)
		if err != nil {
			return nil, plain(err)
		}
		for _, u := range users {
			email, err := h.email(ctx, u.GetLogin())
			if err != nil {
				return nil, err
			}
			if id := u.GetID(); id > 0 {
				out = append(out, codehost.Reader{ID: strconv.FormatInt(id, 10), Email: email})
			}
		}
		if resp.NextPage <= o.Page {
			return out, ctx.Err()
		}
		o.Page = resp.NextPage
	}
}

func (h *readerHost) email(ctx context.Context, login string) (string, error) {
	if email, ok := h.emails[login]; ok {
		return email, nil
	}
	u, _, err := h.client.Users.Get(ctx, login)
	if err = plain(err); err != nil && !codehost.NotThere(err) {
		return "", err
	}
	h.emails[login] = u.GetEmail()
	return h.emails[login], nil
}
