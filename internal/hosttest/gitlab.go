package hosttest

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// GitLab is the REST API of GitLab.
var GitLab = API{
	Kind: "GITLAB", prefix: "/api/v4/", serve: (*Server).gitLab, Fail: failWith("message"), limits: "RateLimit-", etags: true, limited: http.StatusTooManyRequests,
	admits: func(r *http.Request, token string) bool { return r.Header.Get("Private-Token") == token },
}

func (s *Server) gitLab(w http.ResponseWriter, r *http.Request, path []string) {
	q := r.URL.Query()
	wanted := func(o *Repo) bool {
		v := q.Get("visibility")
		return (v == "" || o.Visibility == v) && strings.Contains(o.Name, q.Get("search")) && (q.Get("topic") == "" || slices.Contains(o.Topics, q.Get("topic")))
	}
	says := func(o *Repo) map[string]any { return gitLabProject(o, q.Get("statistics") == "true") }
	list := func(all []*Repo) {
		all = slices.DeleteFunc(slices.Clone(all), func(o *Repo) bool { return !wanted(o) })
		if q.Get("order_by") != "id" || q.Get("sort") != "asc" {
			slices.Reverse(all) // by the time at which they were made, the newest first
		}
		s.answer(w, r, each(page(s, w, r, all, "per_page", 20, 100), says))
	}
	switch {
	case len(path) == 3 && (path[0] == "groups" || path[0] == "users") && path[2] == "projects":
		all := s.below(path[1])
		if len(all) == 0 {
			s.API.Fail(w, http.StatusNotFound, "404 Group Not Found")
			return
		}
		if path[0] == "groups" && q.Get("include_subgroups") != "true" {
			all = slices.DeleteFunc(slices.Clone(all), func(o *Repo) bool { return strings.Contains(strings.TrimPrefix(o.FullName, path[1]+"/"), "/") })
		}
		list(all)
	case len(path) == 4 && path[0] == "projects" && path[2] == "members" && path[3] == "all":
		id, _ := strconv.ParseInt(path[1], 10, 64)
		o := s.repos[id]
		if o == nil {
			s.API.Fail(w, http.StatusNotFound, "404 Project Not Found")
			return
		}
		out := []map[string]any{}
		for _, u := range o.Readers {
			level := 30
			if u.Guest {
				level = 10
			}
			out = append(out, map[string]any{"id": u.ID, "username": u.Login, "state": "active", "access_level": level})
		}
		s.answer(w, r, out)
	case len(path) == 2 && path[0] == "users":
		u := s.user(path[1])
		if u == nil {
			s.API.Fail(w, http.StatusNotFound, "404 User Not Found")
			return
		}
		out := map[string]any{"id": u.ID, "username": u.Login, "email": u.Email, "confirmed_at": nil, "public_email": ""}
		if !u.Unconfirmed {
			out["confirmed_at"] = "2020-01-02T03:04:05.000Z"
		}
		s.answer(w, r, out)
	case len(path) == 1 && path[0] == "projects":
		list(s.sorted(func(*Repo) bool { return true }))
	case len(path) == 2 && path[0] == "projects":
		id, _ := strconv.ParseInt(path[1], 10, 64)
		o, moved := s.repos[id], false
		if o == nil {
			o, moved = s.named(path[1])
		}
		switch {
		case moved:
			http.Redirect(w, r, fmt.Sprintf("%s/api/v4/projects/%d", s.URL, o.ID), http.StatusFound)
		case o != nil:
			s.answer(w, r, says(o))
		default:
			s.API.Fail(w, http.StatusNotFound, "404 Project Not Found")
		}
	default:
		s.API.Fail(w, http.StatusNotFound, "404 Not Found")
	}
}

func gitLabProject(o *Repo, statistics bool) map[string]any {
	out := map[string]any{
		"id": o.ID, "name": o.Name, "path": o.Name, "path_with_namespace": o.FullName, "http_url_to_repo": o.CloneURL, "description": o.Description, "topics": o.Topics,
		"star_count": o.Stars, "archived": o.Archived, "visibility": o.Visibility, "default_branch": o.DefaultBranch, "empty_repo": false,
		"last_activity_at": cmp.Or(o.PushedAt, "2020-01-01T00:00:00.000Z"),
	}
	if o.Fork && o.Parent != nil {
		out["forked_from_project"] = map[string]any{"id": 1, "path_with_namespace": o.Parent.FullName}
	}
	if statistics {
		out["statistics"] = map[string]any{"repository_size": o.Size << 10}
	}
	return out
}
