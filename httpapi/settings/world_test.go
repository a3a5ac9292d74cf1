package settings_test

import (
	"context"
	"html"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/admin"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/manage"
	"github.com/trawlsearch/trawl/httpapi/settings"
	"github.com/trawlsearch/trawl/httpapi/worldtest"
	"github.com/trawlsearch/trawl/store/identity"
	"github.com/trawlsearch/trawl/store/oauth"
	"github.com/trawlsearch/trawl/store/saved"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a server with settings, asked without a network.
type world struct {
	*worldtest.World
	handler http.Handler
	apps    *oauth.Book
	kept    *manage.Kept
	repos   repositories
	site    site
	backups *backups
	hosts   *hostsOf
	status  admin.Status
	recent  admin.Recent
}

func newWorld(t testing.TB, tokens identity.TokenPolicy) *world {
	t.Helper()
	gate := &auth.Gate{Reach: auth.Reach{Local: true}}
	w := &world{World: worldtest.InMemory(t, worldtest.Options{Gate: gate, Identity: identity.Options{Tokens: tokens}}), backups: &backups{}}
	w.apps = oauth.Open(w.Store, w.Registry, oauth.Options{})
	w.kept = &manage.Kept{Store: w.Store, Registry: w.Registry, Book: saved.Open(w.Store, saved.Options{}), Now: time.Now}
	w.hosts = &hostsOf{book: w.kept.Book}
	server := &httpapi.Server{Gate: gate}
	area := &settings.Area{
		Server: server, Repositories: func() manage.Repositories { return &w.repos }, Apps: func() *oauth.Book { return w.apps }, Kept: func() *manage.Kept { return w.kept }, Site: &w.site,
		Services: func() manage.ServiceHosts {
			if w.hosts == nil {
				return nil
			}
			return w.hosts
		},
		Backups: func() manage.Backups {
			if w.backups == nil {
				return nil
			}
			return w.backups
		},
		Status: func(context.Context) (admin.Status, error) { return w.status, nil }, Recent: func() admin.Recent { return w.recent },
		Programs: func() []settings.Program { return []settings.Program{{Name: "git", Version: "2.<i>"}} },
	}
	server.Extra = area.Routes()
	w.handler = server.Handler()
	return w
}

// browser is the browser of a user.
type browser struct {
	*world
	cookie string
}

// as returns a browser in which a user is signed in; "" is nobody.
func (w *world) as(name string) *browser {
	w.Helper()
	b := &browser{world: w}
	if name != "" {
		if p := b.post("/-/sign-in", url.Values{"email": {name}, "password": {worldtest.Password}}); p.status != 303 || b.cookie == "" {
			w.Fatalf("sign in as %s: %d %s", name, p.status, p.text)
		}
	}
	return b
}

// answer is what a browser got.
type answer struct {
	status int
	header http.Header
	text   string
}

// ask sends a request with headers as name, value, and keeps the session that
// it is given.
func (b *browser) ask(method, target, body string, headers ...string) answer {
	if b.cookie != "" {
		headers = append([]string{"Cookie", auth.CookieName + "=" + b.cookie}, headers...)
	}
	resp := worldtest.Serve(b.handler, method, target, body, headers...)
	for _, c := range resp.Cookies() {
		if c.Name == auth.CookieName {
			b.cookie = c.Value
		}
	}
	text, err := io.ReadAll(resp.Body)
	b.Must(err)
	return answer{resp.StatusCode, resp.Header, html.UnescapeString(string(text))}
}

func (b *browser) get(target string) answer { return b.ask("GET", target, "") }

// post sends a form as a browser does from a page of the server.
func (b *browser) post(target string, values url.Values, headers ...string) answer {
	return b.ask("POST", target, values.Encode(), append([]string{"Content-Type", "application/x-www-form-urlencoded",
		"Origin", "http://localhost", "Sec-Fetch-Site", "same-origin"}, headers...)...)
}

// follow gets what a redirect leads to.
func (b *browser) follow(a answer) answer {
	b.Helper()
	to := a.header.Get("Location")
	if a.status < 300 || a.status > 399 || to == "" {
		b.Fatalf("got %d %s, want a redirect", a.status, a.text)
	}
	return b.get(to)
}

// has demands texts on a page.
func (w *world) has(what string, a answer, status int, texts ...string) {
	w.Helper()
	if a.status != status {
		w.Errorf("%s: status %d, want %d:\n%s", what, a.status, status, a.text)
		return
	}
	for _, text := range texts {
		if !strings.Contains(a.text, text) {
			w.Errorf("%s: the page has no %q:\n%s", what, text, a.text)
		}
	}
}

// hasNot refuses texts on a page.
func (w *world) hasNot(what string, a answer, texts ...string) {
	w.Helper()
	for _, text := range texts {
		if strings.Contains(a.text, text) {
			w.Errorf("%s: the page has %q:\n%s", what, text, a.text)
		}
	}
}

// logged demands an entry of the audit log, as action, target and author.
func (w *world) logged(action, target, by string) {
	w.Helper()
	entries, err := w.Registry.Audit(identity.AuditFilter{})
	w.Must(err)
	for _, e := range entries {
		if e.Action == action && e.Target == target && e.User == by {
			return
		}
	}
	w.Errorf("the audit log has no %s of %s by %s:\n%v", action, target, by, entries)
}

// days is a lifetime.
func days(n int) *time.Duration {
	d := time.Duration(n) * 24 * time.Hour
	return &d
}

var forms = regexp.MustCompile(`(?s)<form[^>]* action="([^"]*)"`)
