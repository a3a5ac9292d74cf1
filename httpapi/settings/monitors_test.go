package settings_test

import (
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
	"github.com/trawlsearch/trawl/store/saved"
)

// A saved search is monitored, told of and left alone again. Addresses are shown to nobody
// once they are saved.
func TestMonitors(t *testing.T) {
	w, _ := newSearchesWorld(t)
	w.kept.Book = saved.Open(w.kept.Store, saved.Options{Key: saved.NewKey(filepath.Join(t.TempDir(), "key"), true)})
	ann, root := w.as("ann"), w.as("root")
	ann.post("/users/ann/searches", url.Values{"description": {"Kilns"}, "query": {"kiln"}})
	const page = "/users/ann/searches/1"
	w.has("before", ann.get(page), 200, "Monitor this search", "This server sends no mail")
	for name, c := range map[string]struct{ field, value, told string }{
		"mail without a server": {"email", "yes", "this server sends no mail"},
		"no address":            {"webhook", "ftp://example.com/x", `value="ftp://example.com/x"`},
		"an address as shown":   {"slack", "https://example.com/…", "write it again"},
	} {
		w.has(name, ann.post(page+"/monitor", url.Values{c.field: {c.value}}), 422, c.told, `role="alert"`)
	}
	if _, err := w.kept.Book.Monitors.Get(1); err == nil {
		t.Error("a form that was refused made a monitor")
	}

	w.kept.Mail = true
	w.has("without an address of one's own", ann.post(page+"/monitor", url.Values{"email": {"yes"}}), 422, "you have no e-mail address")
	const secret = "https://hooks.example.com/T0/secret"
	set := ann.follow(ann.post(page+"/monitor", url.Values{"webhook": {secret}}))
	w.has("set", set, 200, "The search is monitored.", "now is being read", `value="https://hooks.example.com/…"`, "Nothing yet.")
	w.has("in the list", ann.get("/users/ann/searches"), 200, `<span class="badge good">monitored</span>`)
	w.has("set again as it is shown", ann.follow(ann.post(page+"/monitor", url.Values{"webhook": {"https://hooks.example.com/…"}, "slack": {"https://chat.example.com/x/y"}})), 200,
		`value="https://chat.example.com/…"`)
	m, err := w.kept.Book.Monitors.Get(1)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := w.kept.Book.Monitors.Address(*m.Target("webhook")); err != nil || got != secret {
		t.Errorf("the address is %q, %v", got, err)
	}

	// What it found is there for those who may see the repository.
	open, err := w.kept.Store.Repositories().New(store.Repository{Name: "lab/open"})
	if err != nil {
		t.Fatal(err)
	}
	yes := true
	closed, err := w.kept.Store.Repositories().New(store.Repository{Name: "lab/closed"})
	if err == nil {
		_, err = w.kept.Store.Repositories().ChangeFacts("lab/closed", store.FactsChange{Private: &yes})
	}
	if err == nil {
		_, err = w.Registry.SetReaders(identity.Operator, "lab/closed", []string{"user:root"})
	}
	if err == nil {
		m, err = w.kept.Book.Monitors.Get(1)
	}
	if err == nil {
		err = w.kept.Book.Monitors.Change(m, func(m *saved.Monitor) {
			m.Begun, m.Left, m.LeftMore = true, []saved.LeftOut{{Repository: open.ID, Why: "out of time <b>"}, {Repository: closed.ID, Why: "broken"}}, 3
		})
	}
	for _, repo := range []*store.Repository{open, closed} {
		if err == nil {
			_, err = w.kept.Book.Monitors.Know(m, saved.Looked{Repository: repo.ID, Name: repo.Name}, nil, true)
		}
		if err == nil {
			_, err = w.kept.Book.Monitors.Know(m, saved.Looked{Repository: repo.ID, Name: repo.Name}, []saved.Found{{Hash: 1, Path: "a b.go", Line: 3, Commit: "cafe", Text: "<i>kiln</i>"}, {Hash: 2, Commit: "0123456789abcdef", Text: "Build it"}}, true)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	found := ann.ask("GET", page, "")
	w.has("found", found, 200, "monitored</span> since", "<bdi>lab/open</bdi> (<bdi>out of time <b></bdi>)", "and 3 more", `href="/lab/open@cafe/-/blob/a%20b.go#L3"><bdi>a b.go:3</bdi>`, "<i>kiln</i>", "0123456789", "Webhook: waiting", "Slack: waiting")
	if strings.Contains(found.text, "lab/closed") {
		t.Error("what was found in a repository that ann may not see is shown")
	}
	w.has("by a site admin", root.get(page), 200, "lab/closed", "It searches as <bdi>ann</bdi>")
	for _, a := range []answer{found, root.get(page), root.get("/site-admin/audit")} {
		if strings.Contains(a.text, "secret") {
			t.Error("the address is shown")
		}
	}
	w.has("by a stranger", w.as("eve").post("/users/ann/searches/1/unmonitor", nil), 404)
	w.has("stopped", ann.follow(ann.post(page+"/unmonitor", nil)), 200, "The search is not monitored any more.", "Monitor this search")
	w.has("stopped again", ann.post(page+"/unmonitor", nil), 404)
}
