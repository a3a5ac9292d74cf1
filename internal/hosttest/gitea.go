package hosttest

import (
	"fmt"
	"hash/crc32"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Gitea is the API of Gitea and Forgejo. Limits are those of a proxy in front of it.
var Gitea = API{
	Kind: "GITEA", prefix: "/api/v1/", serve: (*Server).gitea, Fail: failWith("message"), limits: "X-RateLimit-", etags: true, limited: http.StatusTooManyRequests,
	admits: func(r *http.Request, token string) bool { return r.Header.Get("Authorization") == "token "+token },
}

func (s *Server) gitea(w http.ResponseWriter, r *http.Request, path []string) {
	q := r.URL.Query()
	// 50 is the usual MAX_RESPONSE_ITEMS.
	listed := func(all []*Repo) []map[string]any {
		w.Header().Set("X-Total-Count", strconv.Itoa(len(all)))
		return each(page(s, w, r, all, "limit", 30, 50), giteaRepo)
	}
	switch joined := strings.Join(path, "/"); {
	case len(path) == 3 && (path[0] == "orgs" || path[0] == "users") && path[2] == "repos":
		if all := s.below(path[1]); len(all) > 0 {
			s.answer(w, r, listed(all))
			return
		}
		s.API.Fail(w, http.StatusNotFound, "user redirect does not exist [name: "+path[1]+"]")
	case joined == "user/repos":
		s.answer(w, r, listed(s.sorted(func(*Repo) bool { return true })))
	case joined == "repos/search":
		all := s.sorted(func(o *Repo) bool {
			if q.Get("topic") == "true" {
				return slices.Contains(o.Topics, q.Get("q"))
			}
			return strings.Contains(o.Name, q.Get("q"))
		})
		if q.Get("sort") != "id" {
			slices.SortFunc(all, func(a, b *Repo) int { return strings.Compare(a.Name, b.Name) })
		}
		s.answer(w, r, map[string]any{"ok": true, "data": listed(all)})
	case len(path) == 4 && path[0] == "repos" && (path[3] == "collaborators" || path[3] == "teams"):
		o, _ := s.named(path[1] + "/" + path[2])
		switch {
		case o == nil:
			s.API.Fail(w, http.StatusNotFound, "The target couldn't be found.")
		case path[3] == "collaborators":
			s.giteaUsers(w, r, o.readers(""))
		case o.Owner != nil:
			s.API.Fail(w, http.StatusMethodNotAllowed, "repo is not owned by an organization")
		default:
			s.answer(w, r, each(o.teams(), giteaTeam))
		}
	case len(path) == 3 && path[0] == "teams" && path[2] == "members":
		s.giteaUsers(w, r, s.members(func(u *User) bool { return strconv.FormatInt(teamID(u.Team), 10) == path[1] }))
	case joined == "user":
		s.answer(w, r, map[string]any{"id": 1, "login": "bot", "is_admin": s.Admin})
	case len(path) == 3 && path[0] == "repos":
		switch o, moved := s.named(path[1] + "/" + path[2]); {
		case moved:
			http.Redirect(w, r, fmt.Sprintf("%s/api/v1/repositories/%d", s.URL, o.ID), http.StatusTemporaryRedirect)
		case o != nil:
			s.answer(w, r, giteaRepo(o))
		default:
			s.API.Fail(w, http.StatusNotFound, "The target couldn't be found.")
		}
	case len(path) == 2 && path[0] == "repositories":
		id, _ := strconv.ParseInt(path[1], 10, 64)
		if o := s.repos[id]; o != nil {
			s.answer(w, r, giteaRepo(o))
			return
		}
		s.API.Fail(w, http.StatusNotFound, "The target couldn't be found.")
	default:
		s.API.Fail(w, http.StatusNotFound, "The target couldn't be found.")
	}
}

func giteaRepo(o *Repo) map[string]any {
	out := map[string]any{
		"id": o.ID, "name": o.Name, "full_name": o.FullName, "clone_url": o.CloneURL, "description": text(o.Description), "topics": o.Topics, "stars_count": o.Stars,
		"fork": o.Fork, "archived": o.Archived, "private": o.Private, "internal": o.Visibility == "internal", "default_branch": o.DefaultBranch, "size": o.Size, "empty": false,
	}
	if o.PushedAt != "" {
		out["updated_at"] = o.PushedAt
	}
	if o.Owner != nil {
		out["owner"] = map[string]any{"id": o.Owner.ID, "login": o.Owner.Login, "email": o.Owner.Email, "active": !o.Owner.Inactive}
	}
	if o.Parent != nil {
		out["parent"] = giteaRepo(o.Parent)
	}
	return out
}

// giteaUsers answers with a page of accounts, which has no link to the next.
func (s *Server) giteaUsers(w http.ResponseWriter, r *http.Request, all []User) {
	shown := page(s, w, r, all, "limit", 30, 50)
	w.Header().Del("Link")
	w.Header().Set("X-Total-Count", strconv.Itoa(len(all)))
	s.answer(w, r, each(shown, s.giteaUser))
}

// giteaUser is what the API says of an account: whether it is active to administrators only.
func (s *Server) giteaUser(u User) map[string]any {
	return map[string]any{"id": u.ID, "login": u.Login, "email": u.Email, "active": s.Admin && !u.Inactive, "prohibit_login": false}
}

// giteaTeam is what the API says of the team of an account; one of guests sees no code.
func giteaTeam(u User) map[string]any {
	units := map[string]string{"repo.code": "write", "repo.issues": "write"}
	if u.Guest {
		units["repo.code"] = "none"
	}
	return map[string]any{"id": teamID(u.Team), "name": u.Team, "permission": "write", "units": []string{"repo.code", "repo.issues"}, "units_map": units}
}

// teamID is the number of a team.
func teamID(name string) int64 { return int64(crc32.ChecksumIEEE([]byte(name))) }
