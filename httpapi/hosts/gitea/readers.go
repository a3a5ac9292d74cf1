package gitea

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"code.gitea.io/sdk/gitea"

	"github.com/trawlsearch/trawl/httpapi/hosts/codehost"
)

// Readers implements codehost.Permissions: the collaborators of a repository, and its owner,
// or the members of those teams of its organisation that see its code. Administrators of the
// host are not among them. Gitea tells administrators only which accounts are blocked.
func (h *host) Readers(ctx context.Context, r *codehost.Repository) (out []codehost.Reader, err error) {
	c, err := h.connect(ctx)
	if err != nil {
		return nil, err
	}
	if err := h.learnAdmin(c); err != nil {
		return nil, err
	}
	owner, name, _ := strings.Cut(r.Path, "/")
	repo, resp, err := c.GetRepo(owner, name)
	if err != nil {
		return nil, plain(resp, err)
	}
	if strconv.FormatInt(repo.ID, 10) != r.ID {
		return nil, codehost.ErrMoved
	}
	err = pages(ctx, func(o gitea.ListOptions) ([]*gitea.User, *gitea.Response, error) {
		return c.ListCollaborators(owner, name, gitea.ListCollaboratorsOptions{ListOptions: o})
	}, func(u *gitea.User) error {
		out = h.reader(out, u)
		return nil
	})
	if err != nil {
		return nil, err
	}
	teams, resp, err := c.GetRepoTeams(owner, name)
	switch {
	case err != nil && resp != nil && resp.Response != nil && resp.StatusCode == http.StatusMethodNotAllowed:
		return h.reader(out, repo.Owner), nil // who is a user, and no organisation
	case err != nil:
		return nil, plain(resp, err)
	}
	for _, team := range teams {
		if !seesCode(team) {
			continue
		}
		members, err := h.members(ctx, c, team.ID)
		if err != nil {
			return nil, err
		}
		out = append(out, members...)
	}
	return out, nil
}

// learnAdmin asks once whether the token is an administrator's. One that may not ask that
// is none.
func (h *host) learnAdmin(c *gitea.Client) error {
	if h.asAdmin != nil {
		return nil
	}
	me, resp, err := c.GetMyUserInfo()
	if err != nil {
		var answer *codehost.AnswerError
		if err = plain(resp, err); !errors.As(err, &answer) {
			return err
		}
		me = &gitea.User{}
	}
	h.asAdmin = &me.IsAdmin
	return nil
}

// members returns the members of a team, asking once.
func (h *host) members(ctx context.Context, c *gitea.Client, team int64) ([]codehost.Reader, error) {
	return h.teams.Once(strconv.FormatInt(team, 10), func() (out []codehost.Reader, err error) {
		err = pages(ctx, func(o gitea.ListOptions) ([]*gitea.User, *gitea.Response, error) {
			return c.ListTeamMembers(team, gitea.ListTeamMembersOptions{ListOptions: o})
		}, func(u *gitea.User) error {
			out = h.reader(out, u)
			return nil
		})
		return out, err
	})
}

// reader adds an account to some. Gitea does not say whether it has verified an address.
func (h *host) reader(all []codehost.Reader, u *gitea.User) []codehost.Reader {
	if u == nil || u.ID <= 0 || u.ProhibitLogin || *h.asAdmin && !u.IsActive {
		return all
	}
	return append(all, codehost.Reader{ID: strconv.FormatInt(u.ID, 10), Email: h.Authorization.Trusted(u.Email)})
}

// seesCode reports whether the members of a team may read the code of its repositories.
func seesCode(team *gitea.Team) bool {
	if team.Permission == gitea.AccessModeAdmin || team.Permission == gitea.AccessModeOwner {
		return true
	}
	if len(team.UnitsMap) == 0 { // before Gitea 1.16
		return slices.Contains(team.Units, gitea.RepoUnitCode)
	}
	switch gitea.AccessMode(team.UnitsMap[string(gitea.RepoUnitCode)]) {
	case gitea.AccessModeRead, gitea.AccessModeWrite, gitea.AccessModeAdmin, gitea.AccessModeOwner:
		return true
	}
	return false
}
