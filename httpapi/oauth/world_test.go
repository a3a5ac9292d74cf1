package oauth_test

import (
	"bytes"
	"crypto/sha256"
	encoding "encoding/base64"
	"encoding/json"
	"html"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/oauth"
	"github.com/trawlsearch/trawl/httpapi/worldtest"
	"github.com/trawlsearch/trawl/internal/clock"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/cluster"
	"github.com/trawlsearch/trawl/store/identity"
	kept "github.com/trawlsearch/trawl/store/oauth"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	base     = "http://localhost"
	callback = "https://app.example/cb?keep=1"
	// whoPath answers with the user that a search would be for, agentPath with that of
	// an agent.
	whoPath   = "/.api/who"
	agentPath = "/.api/mcp"
)

// world is a server with users, apps and the OAuth server, asked without a
// network.
type world struct {
	*worldtest.World
	handler http.Handler
	book    *kept.Book
	fs      *vfs.MemFS
	clock   *clock.Clock
	log     bytes.Buffer
	// closed says that apps may not register themselves.
	closed bool
	// nodes is the log of all nodes; nil is a store of one machine.
	nodes cluster.Log

	// web is a confidential app, native a public one, robot that of a service
	// account; the secrets are those of web and robot.
	web, native, robot     *kept.App
	webSecret, robotSecret string
	ann, bot               *identity.User
}

func newWorld(t *testing.T) *world { return newWorldOn(t, nil) }

func newWorldOn(t *testing.T, nodes cluster.Log) *world {
	t.Helper()
	w := &world{fs: vfs.NewCrashableMem(), clock: clock.New(time.Now()), nodes: nodes}
	w.open(t)
	w.ann = w.SignUp(identity.NewUser{Name: "ann", DisplayName: "Ann", Email: "ann@example.org", EmailVerified: true})
	w.bot = w.SignUp(identity.NewUser{Name: "bot", Service: true})
	var err error
	w.webSecret, w.web, err = w.book.Apps.Create(identity.Operator, kept.NewApp{Name: "Web <app>", Kind: kept.Confidential, Redirects: []string{callback}})
	w.Must(err)
	_, w.native, err = w.book.Apps.Create(identity.Operator, kept.NewApp{
		Name: "Native", Kind: kept.Public, Redirects: []string{"http://127.0.0.1/cb", "org.example.app:/done"}, Scopes: []string{"user:all", "offline_access", "openid"},
	})
	w.Must(err)
	w.robotSecret, w.robot, err = w.book.Apps.Create(identity.Operator, kept.NewApp{Name: "Robot", Kind: kept.Service, Account: w.bot.ID})
	w.Must(err)
	return w
}

func (w *world) open(t testing.TB) {
	t.Helper()
	gate := &auth.Gate{Reach: auth.Reach{Local: true}}
	w.World = worldtest.InMemory(t, worldtest.Options{Gate: gate, Store: store.Options{FS: w.fs, Log: w.nodes}, Now: w.clock.Now})
	w.book = kept.Open(w.Store, w.Registry, kept.Options{Now: w.clock.Now})
	site := &httpapi.Server{Gate: gate, Log: zerolog.New(&w.log).Level(zerolog.DebugLevel)}
	apps := &oauth.Server{
		Book: func() *kept.Book { return w.book }, Site: site, Now: w.clock.Now, Registers: func() bool { return !w.closed }, Resources: []string{agentPath},
	}
	gate.Bearers = apps
	who := func(rw http.ResponseWriter, r *http.Request) error {
		_, err := io.WriteString(rw, auth.From(r.Context()).User.Name)
		return err
	}
	site.Extra = append(apps.Routes(), httpapi.Route{Method: "GET", Path: whoPath, Handler: who}, httpapi.Route{Method: "GET", Path: agentPath, Handler: who, Access: auth.ForAgents})
	w.handler = site.Handler()
}

// crash goes on with what is on disk now, as after a kill -9.
func (w *world) crash() {
	w.Helper()
	w.fs = w.fs.CrashClone(vfs.CrashCloneCfg{})
	w.Close()
	w.open(w.TB)
}

// answer is what was answered.
type answer struct {
	status int
	header http.Header
	text   string
}

// json reads the answer into a map.
func (a answer) json(t testing.TB) map[string]any {
	t.Helper()
	var out map[string]any
	if err := json.Unmarshal([]byte(a.text), &out); err != nil {
		t.Fatalf("%d %q is no JSON: %v", a.status, a.text, err)
	}
	return out
}

// location is where the answer redirects to.
func (a answer) location(t testing.TB) *url.URL {
	t.Helper()
	u, err := url.Parse(a.header.Get("Location"))
	if err != nil || a.status != 302 && a.status != 303 {
		t.Fatalf("%d to %q is no redirect: %s", a.status, a.header.Get("Location"), a.text)
	}
	return u
}

// ask sends a request with headers as name, value.
func (w *world) ask(method, target, body string, headers ...string) answer {
	resp := worldtest.Serve(w.handler, method, target, body, headers...)
	text, err := io.ReadAll(resp.Body)
	w.Must(err)
	return answer{resp.StatusCode, resp.Header, string(text)}
}

const formType = "application/x-www-form-urlencoded"

// post sends the form of a program, as name, value.
func (w *world) post(path string, values ...string) answer {
	form := url.Values{}
	for i := 0; i < len(values); i += 2 {
		form.Add(values[i], values[i+1])
	}
	return w.ask("POST", path, form.Encode(), "Content-Type", formType)
}

// asWeb are the credentials of the confidential app, for post.
func (w *world) asWeb(values ...string) []string {
	return append(values, "client_id", w.web.ID, "client_secret", w.webSecret)
}

// who returns the user that a bearer token searches for, "" for none.
func (w *world) who(token string) string {
	w.Helper()
	got := w.ask("GET", whoPath, "", "Authorization", "Bearer "+token)
	if got.status != 200 {
		return ""
	}
	return got.text
}

// browser is a browser with a signed-in user.
type browser struct {
	*world
	cookie string
}

func (w *world) as(name string) *browser {
	w.Helper()
	got := w.ask("POST", "/-/sign-in", `{"email":"`+name+`","password":"`+worldtest.Password+`"}`, "Content-Type", "application/json")
	for _, c := range (&http.Response{Header: got.header}).Cookies() {
		if c.Name == auth.CookieName {
			return &browser{w, c.Value}
		}
	}
	w.Fatalf("sign in as %s: %d %s", name, got.status, got.text)
	return nil
}

func (b *browser) get(target string) answer {
	return b.ask("GET", target, "", "Cookie", auth.CookieName+"="+b.cookie, "Sec-Fetch-Site", "none", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document")
}

// submit posts a form from a page of the server; headers replace those of a
// browser.
func (b *browser) submit(path string, form url.Values, headers ...string) answer {
	return b.ask("POST", path, form.Encode(), append([]string{
		"Content-Type", formType, "Cookie", auth.CookieName + "=" + b.cookie, "Origin", base, "Sec-Fetch-Site", "same-origin",
	}, headers...)...)
}

var hidden = regexp.MustCompile(`<input type="hidden" name="([^"]+)" value="([^"]*)">`)

// fields are the hidden fields of a page.
func fields(page answer) url.Values {
	out := url.Values{}
	for _, m := range hidden.FindAllStringSubmatch(page.text, -1) {
		out.Set(m[1], html.UnescapeString(m[2]))
	}
	return out
}

// verifier is one that every test uses, challenge what S256 makes of it.
const verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"

var challenge = s256(verifier)

func s256(text string) string {
	sum := sha256.Sum256([]byte(text))
	return encoding.RawURLEncoding.EncodeToString(sum[:])
}

// request is the query of an authorization request, changed by name, value;
// the value "-" removes.
func request(app *kept.App, changes ...string) string {
	q := url.Values{
		"response_type": {"code"}, "client_id": {app.ID}, "redirect_uri": {app.Redirects[0]}, "scope": {"user:all offline_access"},
		"state": {"st"}, "code_challenge": {challenge}, "code_challenge_method": {"S256"},
	}
	for i := 0; i < len(changes); i += 2 {
		if q.Set(changes[i], changes[i+1]); changes[i+1] == "-" {
			q.Del(changes[i])
		}
	}
	return oauth.AuthorizePath + "?" + q.Encode()
}

// allow has the user of the browser agree and returns where it is led.
func (b *browser) allow(target string) *url.URL {
	b.Helper()
	page := b.get(target)
	form := fields(page)
	if page.status != 200 || form.Get("check") == "" {
		b.Fatalf("GET %s: %d %s %s", target, page.status, page.header.Get("Location"), page.text)
	}
	form.Set("decision", "allow")
	return b.submit(oauth.AuthorizePath, form).location(b)
}

// code has ann agree and returns the code.
func (w *world) code(target string) string {
	w.Helper()
	u := w.as("ann").allow(target)
	code := u.Query().Get("code")
	if code == "" {
		w.Fatalf("no code in %s", u)
	}
	return code
}

// tokens has ann agree to the confidential app and returns the answer of the
// token endpoint.
func (w *world) tokens() (access, refresh string) {
	w.Helper()
	got := w.post(oauth.TokenPath, w.asWeb("grant_type", "authorization_code", "code", w.code(request(w.web)), "redirect_uri", callback, "code_verifier", verifier)...)
	return w.pair(got)
}

// pair returns the tokens of an answer.
func (w *world) pair(got answer) (access, refresh string) {
	w.Helper()
	if got.status != 200 {
		w.Fatalf("no tokens: %d %s", got.status, got.text)
	}
	out := got.json(w)
	access, _ = out["access_token"].(string)
	refresh, _ = out["refresh_token"].(string)
	return access, refresh
}

// refused checks that an answer is an error as RFC 6749, section 5.2, has it.
func (w *world) refused(what string, got answer, status int, code string) {
	w.Helper()
	out := got.json(w)
	if got.status != status || out["error"] != code {
		w.Errorf("%s: got %d %s, want %d %s", what, got.status, got.text, status, code)
	}
	if got.header.Get("Cache-Control") != "no-store" || !strings.HasPrefix(got.header.Get("Content-Type"), "application/json") {
		w.Errorf("%s: headers %v", what, got.header)
	}
	if d, _ := out["error_description"].(string); strings.ContainsFunc(d, func(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' }) {
		w.Errorf("%s: the description %q holds what it may not", what, d)
	}
	if challenge := got.header.Get("Www-Authenticate"); (status == 401) != strings.HasPrefix(challenge, "Basic ") {
		w.Errorf("%s: WWW-Authenticate %q with %d", what, challenge, status)
	}
}

// entries returns the audit log, newest first.
func (w *world) entries() []identity.Entry {
	w.Helper()
	all, err := w.Registry.Audit(identity.AuditFilter{Limit: 1000})
	w.Must(err)
	return all
}

// logged checks that the newest line about an action is by whom and of what.
func (w *world) logged(action, target, by string) {
	w.Helper()
	for _, e := range w.entries() {
		if e.Action == action {
			if e.Target != target || e.User != by || e.Address != "127.0.0.1" {
				w.Errorf("the audit log tells of %s: %+v, want target %s by %s", action, e, target, by)
			}
			return
		}
	}
	w.Errorf("the audit log does not tell of %s", action)
}
