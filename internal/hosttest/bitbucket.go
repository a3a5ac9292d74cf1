package hosttest

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// BitbucketCloud is the API of bitbucket.org, with the access token of a workspace.
var BitbucketCloud = API{
	Kind: "BITBUCKETCLOUD", prefix: "/2.0/", serve: (*Server).bitbucketCloud, limited: http.StatusTooManyRequests,
	Fail: func(w http.ResponseWriter, status int, message string) {
		answerJSON(w, status, map[string]any{"type": "error", "error": map[string]any{"message": message}})
	},
	admits: func(r *http.Request, token string) bool { return r.Header.Get("Authorization") == "Bearer "+token },
}

func (s *Server) bitbucketCloud(w http.ResponseWriter, r *http.Request, path []string) {
	if path[0] == "repositories" && len(path) == 2 {
		all := s.below(path[1])
		if len(all) == 0 {
			s.API.Fail(w, http.StatusNotFound, "No workspace with identifier '"+path[1]+"'.")
			return
		}
		page := s.page(w, r, all, "pagelen", 10, 100)
		out := map[string]any{"values": each(page, s.cloudRepo), "pagelen": len(page)}
		if next := w.Header().Get("Link"); next != "" {
			out["next"] = strings.TrimSuffix(strings.TrimPrefix(next, "<"), `>; rel="next"`)
		}
		s.answer(w, r, out)
		return
	}
	if path[0] == "repositories" && len(path) == 3 {
		if o, moved := s.named(path[1] + "/" + path[2]); o != nil && !moved {
			s.answer(w, r, s.cloudRepo(o))
			return
		}
	}
	s.API.Fail(w, http.StatusNotFound, "Repository not found")
}

func (s *Server) cloudRepo(o *Repo) map[string]any {
	out := map[string]any{
		"uuid": CloudUUID(o.ID), "full_name": o.FullName, "name": o.Name, "description": text(o.Description), "is_private": o.Visibility != "public", "size": o.Size << 10,
		"mainbranch": map[string]any{"type": "branch", "name": o.DefaultBranch},
		"links": map[string]any{"clone": []map[string]string{
			{"name": "https", "href": strings.Replace(o.CloneURL, "://", "://someone@", 1)}, {"name": "ssh", "href": "git@host:" + o.FullName + ".git"},
		}},
	}
	if o.PushedAt != "" {
		out["updated_on"] = o.PushedAt
	}
	if o.Parent != nil {
		out["parent"] = map[string]any{"full_name": o.Parent.FullName, "uuid": CloudUUID(o.Parent.ID)}
	}
	return out
}

// CloudUUID is what Bitbucket Cloud calls a repository.
func CloudUUID(id int64) string { return fmt.Sprintf("{%08d-1111-4222-8333-444444444444}", id) }

// BitbucketServer is the API of Bitbucket Server and Data Center, with an HTTP access token.
var BitbucketServer = API{
	Kind: "BITBUCKETSERVER", prefix: "/rest/api/1.0/", serve: (*Server).bitbucketServer, limited: http.StatusTooManyRequests,
	Fail: func(w http.ResponseWriter, status int, message string) {
		answerJSON(w, status, map[string]any{"errors": []map[string]any{{"context": nil, "message": message, "exceptionName": nil}}})
	},
	admits: func(r *http.Request, token string) bool { return r.Header.Get("Authorization") == "Bearer "+token },
}

func (s *Server) bitbucketServer(w http.ResponseWriter, r *http.Request, path []string) {
	q := r.URL.Query()
	switch {
	case len(path) == 3 && path[0] == "projects" && path[2] == "repos":
		if all := s.below(path[1]); len(all) > 0 {
			s.serverPage(w, r, all)
			return
		}
		s.API.Fail(w, http.StatusNotFound, "Project "+path[1]+" does not exist.")
	case len(path) == 1 && path[0] == "repos":
		s.serverPage(w, r, s.sorted(func(o *Repo) bool {
			return strings.Contains(o.Name, q.Get("name")) && strings.HasPrefix(o.FullName, q.Get("projectname"))
		}))
	case len(path) == 4 && path[0] == "projects" && path[2] == "repos":
		if o, moved := s.named(path[1] + "/" + path[3]); o != nil && !moved {
			s.answer(w, r, serverRepo(o))
			return
		}
		s.API.Fail(w, http.StatusNotFound, "Repository "+path[1]+"/"+path[3]+" does not exist.")
	default:
		s.API.Fail(w, http.StatusNotFound, "Not found")
	}
}

func (s *Server) serverPage(w http.ResponseWriter, r *http.Request, all []*Repo) {
	q := r.URL.Query()
	limit, _ := strconv.Atoi(q.Get("limit"))
	start, _ := strconv.Atoi(q.Get("start"))
	if limit <= 0 {
		limit = 25
	}
	start = min(start, len(all))
	end := min(start+min(limit, 1000), len(all))
	out := map[string]any{"size": end - start, "limit": limit, "start": start, "isLastPage": end == len(all), "values": each(all[start:end], serverRepo), "nextPageStart": nil}
	if end < len(all) {
		out["nextPageStart"] = end
	}
	s.answer(w, r, out)
}

func serverRepo(o *Repo) map[string]any {
	key, slug, _ := strings.Cut(o.FullName, "/")
	out := map[string]any{
		"id": o.ID, "slug": slug, "name": slug, "description": text(o.Description), "state": "AVAILABLE", "scmId": "git", "public": o.Visibility == "public", "archived": o.Archived,
		"project": map[string]any{"key": key, "type": "NORMAL"},
		"links":   map[string]any{"clone": []map[string]string{{"name": "ssh", "href": "ssh://git@host/x.git"}, {"name": "http", "href": o.CloneURL}}},
	}
	if o.Parent != nil {
		key, slug, _ := strings.Cut(o.Parent.FullName, "/")
		out["origin"] = map[string]any{"slug": slug, "project": map[string]any{"key": key}}
	}
	return out
}
