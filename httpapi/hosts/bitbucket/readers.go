package bitbucket

import (
	"context"
	"errors"
	"net/url"
	"strconv"
	"strings"

	"github.com/trawlsearch/trawl/httpapi/hosts/codehost"
)

// serverUser is what the API says of an account.
type serverUser struct {
	ID     int64  `json:"id"`
	Email  string `json:"emailAddress"`
	Active bool   `json:"active"`
}

// serverPermission is what a user or group may do with a repository or project. Each
// permission that there is includes reading.
type serverPermission struct {
	User  *serverUser `json:"user"`
	Group *struct {
		Name string `json:"name"`
	} `json:"group"`
}

// Readers implements codehost.Permissions: the users and groups that have a permission for
// the repository or its project, and the owner of a personal one. Those who may read only
// since all who sign in may are not among them, nor are administrators of the host.
func (h *server) Readers(ctx context.Context, r *codehost.Repository) ([]codehost.Reader, error) {
	out, err := h.readersOf(ctx, r)
	if errors.Is(err, codehost.ErrCredentials) {
		// The listing has the same token. The host answers so, too, who may not look at permissions.
		err = &codehost.AnswerError{Message: "the token's account is no administrator of the project or the repository"}
	}
	return out, err
}

func (h *server) readersOf(ctx context.Context, r *codehost.Repository) (out []codehost.Reader, err error) {
	key, slug, _ := strings.Cut(r.Path, "/")
	project := "projects/" + key
	path := project + "/repos/" + slug
	var repo serverRepository
	if err := h.api.Get(ctx, h.api.URL(path, nil), &repo); err != nil {
		return nil, err
	}
	if strconv.FormatInt(repo.ID, 10) != r.ID {
		return nil, codehost.ErrMoved
	}
	lists := []string{path + "/permissions"}
	if strings.HasPrefix(key, "~") {
		var personal struct {
			Owner serverUser `json:"owner"`
		}
		if err := h.api.Get(ctx, h.api.URL(project, nil), &personal); err != nil {
			return nil, err
		}
		out = h.reader(out, &personal.Owner)
	} else {
		lists = append(lists, project+"/permissions")
	}
	for _, list := range lists {
		for _, kind := range []string{"/users", "/groups"} {
			found, err := h.asked.Once(list+kind, func() ([]codehost.Reader, error) { return h.permitted(ctx, list+kind) })
			if err != nil {
				return nil, err
			}
			out = append(out, found...)
		}
	}
	return out, nil
}

// permitted returns who a list of permissions names, the members of groups among them.
func (h *server) permitted(ctx context.Context, path string) (out []codehost.Reader, err error) {
	err = pages(ctx, h.api, path, nil, func(p *serverPermission) error {
		if p.Group == nil {
			out = h.reader(out, p.User)
			return nil
		}
		members, err := h.members(ctx, p.Group.Name)
		out = append(out, members...)
		return err
	})
	return out, err
}

// members returns the members of a group, asking once.
func (h *server) members(ctx context.Context, group string) ([]codehost.Reader, error) {
	return h.asked.Once("group "+group, func() (out []codehost.Reader, err error) {
		err = pages(ctx, h.api, "admin/groups/more-members", url.Values{"context": {group}}, func(u *serverUser) error {
			out = h.reader(out, u)
			return nil
		})
		return out, err
	})
}

// reader adds an account to some.
func (h *server) reader(all []codehost.Reader, u *serverUser) []codehost.Reader {
	if u == nil || u.ID <= 0 || !u.Active {
		return all
	}
	return append(all, codehost.Reader{ID: strconv.FormatInt(u.ID, 10), Email: h.Authorization.Trusted(u.Email)})
}
