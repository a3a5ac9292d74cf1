package httpapi_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/httpapi/admin"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/worldtest"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
	"github.com/trawlsearch/trawl/store/oauth"
)

// newAdminSite is a site with admin routes about users, and one repository.
func newAdminSite(t *testing.T) *site {
	s := newSite(t, nothing)
	s.Gate.OperatorToken = adminToken
	repos := &fakeRepositories{list: func() ([]*store.Repository, error) { return []*store.Repository{{Name: "kiln"}}, nil }}
	operator := &admin.Handlers{
		Repositories: func() admin.Repositories { return repos }, Registry: func() *identity.Registry { return s.reg },
		Apps: func() *oauth.Book { return oauth.Open(s.st, s.reg, oauth.Options{}) },
	}
	s.Extra = operator.Routes()
	return s
}

// Only the operator is answered, a site admin no more than others.
func TestAdminRoutesAreTheOperators(t *testing.T) {
	s := newAdminSite(t)
	_, token := s.user(t, identity.NewUser{Name: "root", SiteAdmin: true}, identity.ScopeSudo)
	session := s.signIn(t, "root")
	for _, route := range s.Extra {
		for who, headers := range map[string][]string{
			"nobody": nil, "a site admin": {"Authorization", "token " + token}, "a session": {"Cookie", session.String(), "X-Requested-With", "x"},
			"a guess": {auth.OperatorHeader, "kil"}, "the token as a token": {"Authorization", "token " + adminToken},
		} {
			resp := s.ask(route.Method, route.Path+"?name=root&user=root&id=1", "{}", headers...)
			if body := bodyOf(t, resp); resp.StatusCode != 401 {
				t.Errorf("%s %s for %s: %d %q, want 401", route.Method, route.Path, who, resp.StatusCode, body)
			}
		}
	}
	if users, err := s.reg.Users(); err != nil || len(users) != 1 {
		t.Errorf("users: got %d, %v", len(users), err)
	}
}

func TestAdminIdentity(t *testing.T) {
	s := newAdminSite(t)
	for _, c := range []struct {
		method, target, body string
		status               int
		want                 string // part of the answer
	}{
		// users
		{"GET", admin.UsersPath, "", 200, "[]"},
		// OAuth apps
		{"POST", admin.AppsPath, `{"name":"cli","id":"cli","kind":"public"}`, 200, `"id":"cli"`},
		{"POST", admin.AppsPath, `{"name":"cli","id":"cli","kind":"public"}`, 409, "already exists"},
		{"POST", admin.AppsPath, `{"name":"web","id":"web","kind":"confidential","redirects":["https://x.example/"]}`, 200, `"secret":"sgo_cs_`},
		{"POST", admin.AppsPath, `{"name":"bot","kind":"service","account":"nobody"}`, 404, "nobody"},
		{"POST", admin.AppsPath, `{"name":"","kind":"public"}`, 422, "needs a name"},
		{"POST", admin.AppsPath, `{"nome":"x"}`, 400, `unknown field "nome"`},
		{"POST", admin.AppsPath + "/secret?id=web", "", 200, `"secret":"sgo_cs_`},
		{"POST", admin.AppsPath + "/secret?id=cli", "", 422, "no secret"},
		{"POST", admin.AppsPath + "/secret", "", 400, "parameter id is missing"},
		{"PATCH", admin.AppsPath + "?id=cli", `{"disabled":true}`, 204, ""},
		{"GET", admin.AppsPath, "", 200, `"disabled":true`},
		{"DELETE", admin.AppsPath + "?id=cli", "", 204, ""},
		{"DELETE", admin.AppsPath + "?id=cli", "", 404, "not found"},
		// users
		{"POST", admin.UsersPath, `{"name":"ann","siteAdmin":true,"email":"ann@example.org"}`, 200, `"path":"/password-reset?userID=1\u0026code=`},
		{"POST", admin.UsersPath, `{"name":"bob","password":"` + worldtest.Password + `"}`, 200, `{}`},
		{"POST", admin.UsersPath, `{"name":"ci","service":true}`, 200, `{}`},
		{"POST", admin.UsersPath, `{"name":"ANN"}`, 409, "already exists"},
		{"POST", admin.UsersPath, `{"name":"eve","password":"short"}`, 422, "too short"},
		{"POST", admin.UsersPath, `{"nome":"eve"}`, 400, `unknown field "nome"`},
		{"POST", admin.UsersPath, `nonsense`, 400, "not what this route expects"},
		{"GET", admin.UsersPath, "", 200, `{"id":1,"name":"ann","emails":[{"address":"ann@example.org","verified":true,"primary":true}],"siteAdmin":true,"created":`},
		{"PATCH", admin.UsersPath + "?name=bob", `{"locked":true,"displayName":"Bob"}`, 200, `"displayName":"Bob","locked":true`},
		{"PATCH", admin.UsersPath + "?name=bob", `{"locked":false}`, 200, `"displayName":"Bob","hasPassword":true`},
		{"PATCH", admin.UsersPath + "?name=eve", `{}`, 404, "not found"},
		{"PATCH", admin.UsersPath, `{}`, 400, "the parameter name is missing"},
		{"POST", admin.UsersPath + "/password?name=bob", `{}`, 200, `/password-reset?userID=2`},
		{"POST", admin.UsersPath + "/password?name=bob", `{"password":"` + worldtest.Password + `"}`, 200, `{}`},

		// tokens
		{"POST", admin.TokensPath, `{"user":"ci","scopes":["user:all"],"note":"build"}`, 200, `"secret":"sgp_local_`},
		{"POST", admin.TokensPath, `{"user":"ci","scopes":["user:all"],"days":0}`, 422, "expiry must be in the future"},
		{"POST", admin.TokensPath, `{"user":"ci","scopes":["user:all"],"forever":true}`, 422, "requires a valid expiration"},
		{"POST", admin.TokensPath, `{"user":"eve","scopes":["user:all"]}`, 404, "not found"},
		{"GET", admin.TokensPath + "?user=ci", "", 200, `[{"id":1,"user":"ci","scopes":["user:all"],"note":"build"`},
		{"GET", admin.TokensPath + "?user=bob", "", 200, "[]"},
		{"DELETE", admin.TokensPath + "?id=1", "", 204, ""},
		{"DELETE", admin.TokensPath + "?id=1", "", 404, "not found"},
		{"DELETE", admin.TokensPath + "?id=x", "", 422, "no number of a token"},

		// organisations and what they may see
		{"POST", admin.OrgsPath, `{"name":"lab","displayName":"The Lab"}`, 200, `"name":"lab"`},
		{"POST", admin.OrgsPath, `{"name":"bob"}`, 409, "already exists"},
		{"POST", admin.OrgsPath + "/members?name=lab&user=bob", "", 204, ""},
		{"GET", admin.OrgsPath, "", 200, `"members":["bob"]`},
		{"DELETE", admin.OrgsPath + "/members?name=lab&user=bob", "", 204, ""},
		{"GET", admin.RepositoriesPath + "/readers?name=kiln", "", 200, `["everyone"]`},
		{"GET", admin.RepositoriesPath + "/readers?name=none", "", 404, "not found"},
		{"PUT", admin.RepositoriesPath + "/readers?name=kiln", `["org:none"]`, 404, "not found"},
		{"PUT", admin.RepositoriesPath + "/readers?name=kiln", `["lab"]`, 422, "is no reader"},
		{"DELETE", admin.OrgsPath + "?name=lab", "", 204, ""},

		// the log
		{"GET", admin.AuditPath + "?limit=1", "", 200, `"operator":true,"via":"command line","address":"127.0.0.1","action":"org.delete","target":"org:lab"`},
		{"GET", admin.AuditPath + "?since=2099-01-01T00:00:00Z", "", 200, "[]"},
		{"GET", admin.AuditPath + "?since=now", "", 422, "since is no time"},
		{"GET", admin.AuditPath + "?limit=0", "", 422, "no number of entries"},
		{"GET", admin.AuditPath + "?user=eve", "", 404, "not found"},
		{"DELETE", admin.UsersPath + "?name=bob", "", 204, ""},
	} {
		resp := s.ask(c.method, c.target, c.body, auth.OperatorHeader, adminToken)
		if body := bodyOf(t, resp); resp.StatusCode != c.status || !strings.Contains(body, c.want) {
			t.Errorf("%s %s %s\ngot  %d %s\nwant %d and %s in it", c.method, c.target, c.body, resp.StatusCode, body, c.status, c.want)
		}
	}
	if strings.Contains(s.log.String(), "sgp_") || strings.Contains(s.log.String(), worldtest.Password) {
		t.Errorf("the log holds a secret:\n%s", &s.log)
	}
}

// What is done to repositories is in the audit log, without passwords.
func TestAdminLogsWhatIsDoneToRepositories(t *testing.T) {
	s := newAdminSite(t)
	repos := &fakeRepositories{
		add: func(source string) (*store.Repository, error) {
			return &store.Repository{Name: "kiln", Source: source}, nil
		},
		remove: func(string) error { return nil },
		change: func(string, store.FactsChange) (*store.Repository, error) {
			return &store.Repository{Name: "kiln"}, nil
		},
	}
	s.Extra = (&admin.Handlers{Repositories: func() admin.Repositories { return repos }, Registry: func() *identity.Registry { return s.reg }}).Routes()
	s.ask("POST", admin.RepositoriesPath, `{"source":"https://me:secret@example.org/kiln"}`, auth.OperatorHeader, adminToken)
	s.ask("PATCH", admin.RepositoriesPath+"?name=kiln", `{"stars":1}`, auth.OperatorHeader, adminToken)
	s.ask("DELETE", admin.RepositoriesPath+"?name=kiln", "", auth.OperatorHeader, adminToken)
	entries, err := s.reg.Audit(identity.AuditFilter{})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(entries)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"repository.add", "repository.facts", "repository.remove", "repository:kiln", "https://example.org/kiln"} {
		if !strings.Contains(string(text), part) {
			t.Errorf("no %s in %s", part, text)
		}
	}
	if strings.Contains(string(text), "secret") {
		t.Errorf("a password is in the log: %s", text)
	}
}
