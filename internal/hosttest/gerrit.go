package hosttest

import (
	"net/http"
	"strconv"
	"strings"
)

// Gerrit is the REST API of Gerrit for who has signed in. A project is known by its name,
// which it keeps. The administrator has limited queries to 100 results.
var Gerrit = API{
	Kind: "GERRIT", prefix: "/a/projects/", serve: (*Server).gerrit, limited: http.StatusTooManyRequests, magic: ")]}'\n", clone: "/a/%s",
	Fail: func(w http.ResponseWriter, status int, message string) { http.Error(w, message, status) },
	admits: func(r *http.Request, token string) bool {
		user, password, _ := r.BasicAuth()
		return user == "ann" && password == token
	},
}

func (s *Server) gerrit(w http.ResponseWriter, r *http.Request, path []string) {
	if path[0] != "" {
		if o, moved := s.named(path[0]); o != nil && !moved {
			out := gerritProject(o)
			out["name"] = o.FullName
			s.answer(w, r, out)
			return
		}
		s.API.Fail(w, http.StatusNotFound, "Not found: "+path[0])
		return
	}
	q := r.URL.Query()
	limit, _ := strconv.Atoi(q.Get("n"))
	start, _ := strconv.Atoi(q.Get("S"))
	all := s.sorted(func(*Repo) bool { return true })
	start = min(start, len(all))
	end := min(start+min(limit, 100), len(all))
	out := map[string]any{}
	for i, o := range all[start:end] {
		p := gerritProject(o)
		if start+i == end-1 && end < len(all) {
			p["_more_projects"] = true
		}
		out[o.FullName] = p
	}
	s.answer(w, r, out)
}

func gerritProject(o *Repo) map[string]any {
	state := "ACTIVE"
	if o.Archived {
		state = "READ_ONLY"
	}
	return map[string]any{"id": strings.ReplaceAll(o.FullName, "/", "%2F"), "description": text(o.Description), "state": state}
}
