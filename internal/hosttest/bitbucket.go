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
		page := page(s, w, r, all, "pagelen", 10, 100)
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
	var project []*Repo
	if len(path) > 1 && path[0] == "projects" {
		if project = s.below(path[1]); len(project) == 0 {
			s.API.Fail(w, http.StatusNotFound, "Project "+path[1]+" does not exist.")
			return
		}
		path = path[2:]
	}
	switch joined := strings.Join(path, "/"); {
	case project != nil && len(path) == 0:
		s.answer(w, r, serverProject(project[0]))
	case project != nil && joined == "repos":
		serverPage(s, w, r, project, serverRepo)
	case project != nil && len(path) == 2 && path[0] == "permissions":
		s.permissions(w, r, project, path[1], true)
	case project != nil && path[0] == "repos":
		o, moved := s.named(strings.Split(project[0].FullName, "/")[0] + "/" + path[1])
		switch {
		case o == nil || moved:
			s.API.Fail(w, http.StatusNotFound, "Repository "+path[1]+" does not exist.")
		case len(path) == 2:
			s.answer(w, r, serverRepo(o))
		case len(path) == 4 && path[2] == "permissions":
			s.permissions(w, r, []*Repo{o}, path[3], false)
		default:
			s.API.Fail(w, http.StatusNotFound, "Not found")
		}
	case joined == "repos":
		serverPage(s, w, r, s.sorted(func(o *Repo) bool {
			return strings.Contains(o.Name, q.Get("name")) && strings.HasPrefix(o.FullName, q.Get("projectname"))
		}), serverRepo)
	case joined == "admin/groups/more-members" && q.Get("context") != "":
		serverPage(s, w, r, s.members(func(u *User) bool { return u.Team == q.Get("context") }), serverUser)
	default:
		s.API.Fail(w, http.StatusNotFound, "Not found")
	}
}

// permissions lists the users or groups that may read some repositories, by their project
// or by themselves.
func (s *Server) permissions(w http.ResponseWriter, r *http.Request, repos []*Repo, kind string, ofProject bool) {
	if s.NoPermissions != "" && strings.HasPrefix(repos[0].FullName, s.NoPermissions) {
		s.API.Fail(w, http.StatusUnauthorized, "You are not permitted to access this resource")
		return
	}
	if ofProject && repos[0].Owner != nil {
		s.API.Fail(w, http.StatusNotFound, "A personal project has no permissions of its own.")
		return
	}
	found := []map[string]any{}
	for _, o := range repos {
		all := o.readers("")
		if kind == "groups" {
			all = o.teams()
		}
		for _, u := range all {
			switch {
			case u.OfProject != ofProject:
			case kind == "groups":
				found = append(found, map[string]any{"group": map[string]any{"name": u.Team}, "permission": "REPO_READ"})
			default:
				found = append(found, map[string]any{"user": serverUser(u), "permission": "REPO_WRITE"})
			}
		}
	}
	serverPage(s, w, r, found, func(o map[string]any) map[string]any { return o })
}

func serverPage[T any](s *Server, w http.ResponseWriter, r *http.Request, all []T, says func(T) map[string]any) {
	q := r.URL.Query()
	limit, _ := strconv.Atoi(q.Get("limit"))
	start, _ := strconv.Atoi(q.Get("start"))
	if limit <= 0 {
		limit = 25
	}
	start = min(start, len(all))
	end := min(start+min(limit, 1000), len(all))
	out := map[string]any{"size": end - start, "limit": limit, "start": start, "isLastPage": end == len(all), "values": each(all[start:end], says), "nextPageStart": nil}
	if end < len(all) {
		out["nextPageStart"] = end
	}
	s.answer(w, r, out)
}

func serverUser(u User) map[string]any {
	return map[string]any{"id": u.ID, "name": u.Login, "slug": u.Login, "emailAddress": u.Email, "active": !u.Inactive, "type": "NORMAL"}
}

func serverProject(o *Repo) map[string]any {
	key, _, _ := strings.Cut(o.FullName, "/")
	out := map[string]any{"key": key, "type": "NORMAL"}
	if o.Owner != nil {
		out["type"], out["owner"] = "PERSONAL", serverUser(*o.Owner)
	}
	return out
}

func serverRepo(o *Repo) map[string]any {
	_, slug, _ := strings.Cut(o.FullName, "/")
	out := map[string]any{
		"id": o.ID, "slug": slug, "name": slug, "description": text(o.Description), "state": "AVAILABLE", "scmId": "git", "public": o.Visibility == "public", "archived": o.Archived,
		"project": serverProject(o),
		"links":   map[string]any{"clone": []map[string]string{{"name": "ssh", "href": "ssh://git@host/x.git"}, {"name": "http", "href": o.CloneURL}}},
	}
	if o.Parent != nil {
		key, slug, _ := strings.Cut(o.Parent.FullName, "/")
		out["origin"] = map[string]any{"slug": slug, "project": map[string]any{"key": key}}
	}
	return out
}
