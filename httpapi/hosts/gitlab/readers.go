package gitlab

import (
	"context"
	"strconv"

	gitlab "gitlab.com/gitlab-org/api/client-go"

	"github.com/trawlsearch/trawl/httpapi/hosts/codehost"
)

// readerHost is a host that is asked for readers.
type readerHost struct {
	*host
	// emails are the addresses of accounts that GitLab has verified, by ID.
	emails map[int64]string
}

// active is the state of members that may sign in.
const active = "active"

// Readers implements codehost.Permissions: members of a project, of its groups, and of
// groups that it is shared with, from reporters on. Guests see no code.
func (h *readerHost) Readers(ctx context.Context, r *codehost.Repository) (out []codehost.Reader, err error) {
	id, err := strconv.ParseInt(r.ID, 10, 64)
	if err != nil {
		return nil, err
	}
	o := &gitlab.ListProjectMembersOptions{ListOptions: gitlab.ListOptions{PerPage: pageSize}}
	for {
		members, resp, err := h.client.ProjectMembers.ListAllProjectMembers(id, o, gitlab.WithContext(ctx))
		if err != nil {
			return nil, plain(err)
		}
		for _, m := range members {
			if m.ID <= 0 || m.State != active || m.AccessLevel < gitlab.ReporterPermissions {
				continue
			}
			email, err := h.email(ctx, m.ID)
			if err != nil {
				return nil, err
			}
			out = append(out, codehost.Reader{ID: strconv.FormatInt(m.ID, 10), Email: email})
		}
		if resp.NextPage <= o.Page {
			return out, ctx.Err()
		}
		o.Page = resp.NextPage
	}
}

// email returns the address of an account: to administrators GitLab shows the one it has
// confirmed, to others a public one, which it has confirmed as well.
func (h *readerHost) email(ctx context.Context, id int64) (string, error) {
	if email, ok := h.emails[id]; ok {
		return email, nil
	}
	u, _, err := h.client.Users.GetUser(id, gitlab.GetUsersOptions{}, gitlab.WithContext(ctx))
	switch err = plain(err); {
	case codehost.NotThere(err):
		u = &gitlab.User{}
	case err != nil:
		return "", err
	}
	email := u.PublicEmail
	if u.Email != "" && u.ConfirmedAt != nil {
		email = u.Email
	}
	h.emails[id] = email
	return email, nil
}
