package auth_test

import (
	"encoding/base64"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/worldtest"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a gate before a registry with some users and their credentials.
type world struct {
	*auth.Gate
	st  *store.Store
	reg *identity.Registry
	now time.Time
	// creds are credentials by name: ann, sudo (of root), demoted, robot,
	// agent (of ann, for agents only), expired, revoked.
	creds map[string]string
	// session is a session of ann.
	session string
	users   map[string]*identity.User
	// lab is an organisation of ann and locked; vault is a repository.
	lab    *identity.Org
	tokens map[string]*identity.Token
}

const password = "correct horse battery"

func newRegistry(t testing.TB, g *auth.Gate, o identity.Options) (*store.Store, *identity.Registry) {
	t.Helper()
	w := worldtest.InMemory(t, worldtest.Options{Identity: o, Gate: g})
	return w.Store, w.Registry
}

func newWorld(t testing.TB, o identity.Options) *world {
	t.Helper()
	w := &world{creds: map[string]string{}, users: map[string]*identity.User{}, tokens: map[string]*identity.Token{}, now: time.Now()}
	var mu sync.Mutex
	o.Now = func() time.Time { mu.Lock(); defer mu.Unlock(); return w.now }
	w.Gate = &auth.Gate{OperatorToken: "operator's"}
	w.st, w.reg = newRegistry(t, w.Gate, o)
	w.Registry = func() *identity.Registry { return w.reg }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range []identity.NewUser{
		{Name: "ann"}, {Name: "root", SiteAdmin: true}, {Name: "demoted", SiteAdmin: true}, {Name: "robot", Service: true}, {Name: "locked"}, {Name: `o.k_-`},
	} {
		u, err := w.reg.CreateUser(identity.Operator, n)
		must(err)
		w.users[n.Name] = u
	}
	week := 7 * 24 * time.Hour
	hour := time.Hour
	token := func(name, user string, lifetime *time.Duration, scopes ...string) {
		t.Helper()
		text, tok, err := w.reg.CreateToken(identity.Operator, identity.NewToken{User: w.users[user].ID, Scopes: scopes, Lifetime: lifetime})
		must(err)
		w.creds[name], w.tokens[name] = text, tok
	}
	if o.Tokens.Allow == "" {
		token("ann", "ann", &week, identity.ScopeAll)
		token("root", "root", &week, identity.ScopeAll)
		token("sudo", "root", &week, identity.ScopeAll, identity.ScopeSudo)
		token("demoted", "demoted", &week, identity.ScopeAll, identity.ScopeSudo)
		token("robot", "robot", &week, identity.ScopeAll)
		token("locked", "locked", &week, identity.ScopeAll)
		token("agent", "ann", &week, identity.ScopeMCP)
		token("expired", "ann", &hour, identity.ScopeAll)
		token("revoked", "ann", &week, identity.ScopeAll)
		must(w.reg.RevokeToken(identity.Operator, w.tokens["revoked"].ID))
	}
	var err error
	w.lab, err = w.reg.CreateOrg(identity.Operator, "lab", "")
	must(err)
	must(w.reg.AddMember(identity.Operator, w.lab.ID, w.users["ann"].ID))
	must(w.reg.AddMember(identity.Operator, w.lab.ID, w.users["locked"].ID))
	_, err = w.st.Repositories().New(store.Repository{Name: "vault"})
	must(err)
	yes, no := true, false
	_, err = w.reg.ChangeUser(identity.Operator, w.users["demoted"].ID, identity.UserChange{SiteAdmin: &no})
	must(err)
	_, err = w.reg.ChangeUser(identity.Operator, w.users["locked"].ID, identity.UserChange{Locked: &yes})
	must(err)
	must(w.reg.SetPassword(t.Context(), identity.Operator, w.users["ann"].ID, password))
	mu.Lock()
	w.now = w.now.Add(2 * hour)
	mu.Unlock()
	w.session, _, err = w.reg.SignIn(t.Context(), identity.Author{}, "ann", password)
	must(err)
	return w
}

// request makes a request with headers given as name, value.
func request(method, target string, headers ...string) *http.Request {
	r := httptest.NewRequest(method, "http://trawl.example"+target, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return r
}

// admit returns the admitted actor: a user's name, "sudo as" and one, nobody,
// operator, or the status and text of the refusal.
func (w *world) admit(t testing.TB, r *http.Request, access auth.Access) (who string, in *http.Request, header http.Header) {
	t.Helper()
	rec := httptest.NewRecorder()
	in, release, err := w.Admit(rec, r, access)
	if err != nil {
		var d *auth.Denied
		if !errors.As(err, &d) {
			t.Fatalf("%s: an error of type %T: %v", r.URL, err, err)
		}
		for name := range d.Header {
			rec.Header().Set(name, d.Header.Get(name))
		}
		return strings.TrimSpace(http.StatusText(d.Status) + ": " + d.Message), nil, rec.Header()
	}
	defer release()
	switch a := auth.From(in.Context()); {
	case a.Operator():
		return "operator", in, rec.Header()
	case a.Anonymous():
		return "nobody", in, rec.Header()
	case a.Real != nil:
		return a.Real.Name + " as " + a.User.Name, in, rec.Header()
	default:
		return a.User.Name, in, rec.Header()
	}
}

const (
	stream    = "/.api/search/stream?q=x"
	private   = "Unauthorized: Private mode requires authentication."
	invalid   = "Unauthorized: Invalid access token."
	tooLittle = "Forbidden: The access token lacks the scope user:all."
	noHeader  = "Unauthorized: Invalid Authorization header."
)

func basic(name string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(name+":x"))
}
