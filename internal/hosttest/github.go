package hosttest

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// GitHub is the REST API of GitHub Enterprise.
var GitHub = API{
	Kind: "GITHUB", prefix: "/api/v3/", serve: (*Server).gitHub, Fail: failWith("message"), limits: "X-RateLimit-", etags: true, limited: http.StatusForbidden,
	admits: func(r *http.Request, token string) bool { return r.Header.Get("Authorization") == "Bearer "+token },
}

func (s *Server) gitHub(w http.ResponseWriter, r *http.Request, path []string) {
	listed := func(all []*Repo) []map[string]any { return each(page(s, w, r, all, "per_page", 30, 100), gitHubRepo) }
	switch joined := strings.Join(path, "/"); {
	case len(path) == 3 && (path[0] == "orgs" || path[0] == "users") && path[2] == "repos":
		if all := s.below(path[1]); len(all) > 0 {
			s.answer(w, r, listed(all))
			return
		}
		s.API.Fail(w, http.StatusNotFound, "Not Found")
	case joined == "user/repos":
		s.answer(w, r, listed(s.sorted(func(*Repo) bool { return true })))
	case joined == "repositories":
		since, _ := strconv.ParseInt(r.URL.Query().Get("since"), 10, 64)
		all := s.sorted(func(o *Repo) bool { return o.ID > since && !o.Private })
		s.answer(w, r, each(all[:min(len(all), 100)], gitHubRepo))
	case joined == "search/repositories":
		word, made, _ := strings.Cut(strings.TrimPrefix(r.URL.Query().Get("q"), "topic:"), " created:")
		from, to, _ := strings.Cut(made, "..")
		all := s.sorted(func(o *Repo) bool {
			at := o.Created().Format(time.RFC3339)
			return slices.Contains(o.Topics, word) && (made == "" || at >= from && at <= to)
		})
		total := len(all)
		s.answer(w, r, map[string]any{"total_count": total, "incomplete_results": false, "items": listed(all[:min(total, 1000)])})
	case len(path) == 4 && path[0] == "repos" && path[3] == "collaborators":
		o, _ := s.named(path[1] + "/" + path[2])
		if o == nil {
			s.API.Fail(w, http.StatusNotFound, "Not Found")
			return
		}
		out := []map[string]any{}
		for _, u := range o.Readers {
			out = append(out, map[string]any{"id": u.ID, "login": u.Login})
		}
		s.answer(w, r, out)
	case len(path) == 2 && path[0] == "users":
		u := s.user(path[1])
		if u == nil {
			s.API.Fail(w, http.StatusNotFound, "Not Found")
			return
		}
		out := map[string]any{"id": u.ID, "login": u.Login, "email": nil}
		if !u.Unconfirmed && u.Email != "" {
			out["email"] = u.Email // GitHub shows verified ones only
		}
		s.answer(w, r, out)
	case len(path) == 3 && path[0] == "repos":
		switch o, moved := s.named(path[1] + "/" + path[2]); {
		case moved:
			http.Redirect(w, r, fmt.Sprintf("%s/api/v3/repositories/%d", s.URL, o.ID), http.StatusMovedPermanently)
		case o != nil:
			s.answer(w, r, withParent(o))
		default:
			s.API.Fail(w, http.StatusNotFound, "Not Found")
		}
	case len(path) == 2 && path[0] == "repositories":
		id, _ := strconv.ParseInt(path[1], 10, 64)
		if o := s.repos[id]; o != nil {
			s.answer(w, r, withParent(o))
			return
		}
		s.API.Fail(w, http.StatusNotFound, "Not Found")
	default:
		s.API.Fail(w, http.StatusNotFound, "Not Found")
	}
}

func gitHubRepo(o *Repo) map[string]any {
	out := map[string]any{
		"id": o.ID, "node_id": o.NodeID, "name": o.Name, "full_name": o.FullName, "clone_url": o.CloneURL, "description": o.Description, "topics": o.Topics,
		"stargazers_count": o.Stars, "fork": o.Fork, "archived": o.Archived, "private": o.Private, "visibility": o.Visibility, "default_branch": o.DefaultBranch, "size": o.Size,
	}
	if o.PushedAt != "" {
		out["pushed_at"] = o.PushedAt
	}
	return out
}

// withParent is what the API says of one repository: lists do not name the parent.
func withParent(o *Repo) map[string]any {
	out := gitHubRepo(o)
	if o.Parent != nil {
		out["parent"] = gitHubRepo(o.Parent)
	}
	return out
}
