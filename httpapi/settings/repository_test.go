package settings_test

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
)

// ChangeFacts is that of the store.
func (r *repositories) ChangeFacts(_ context.Context, name string, c store.FactsChange) (*store.Repository, error) {
	return r.store.Repositories().ChangeFacts(name, c)
}

// recorded has the store of a world keep a repository, which the pages list from there.
func (w *world) recorded(r store.Repository) {
	w.Helper()
	w.repos.store = w.kept.Store
	if _, err := w.repos.store.Repositories().New(r); err != nil {
		w.Fatal(err)
	}
}

// record is what the store has of a repository.
func (w *world) record(name string) *store.Repository {
	w.Helper()
	all, err := w.repos.List(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	i := slices.IndexFunc(all, func(r *store.Repository) bool { return r.Name == name })
	if i < 0 {
		w.Fatalf("there is no repository %q", name)
	}
	return all[i]
}

func TestRepositoryFacts(t *testing.T) {
	w, root := newAdminWorld(t)
	w.recorded(store.Repository{Name: "lab/<i>", Source: "https://me:secret@git.example.org/lab/i"})
	const path = "/site-admin/repositories/1"
	w.has("led to", root.get("/site-admin/repositories"), 200, `href="`+path+`"`)
	page := root.get(path)
	w.has("at first", page, 200, "lab/<i>", "https://git.example.org/lab/i", `name="description"`, `name="stars"`, "everyone</textarea>")
	w.hasNot("at first", page, "secret", "The configuration file names readers", "A code host keeps")

	filled := url.Values{
		"description": {"Glazes <b>of\r\nthe kiln"}, "topics": {"heat\r\n clay \r\n\r\n"}, "stars": {"41"}, "archived": {"yes"}, "private": {"yes"}, "branches": {"main\r\nrelease/*"},
	}
	w.has("saved", root.follow(root.post(path+"/facts", filled)), 200, "Saved.", "Glazes <b>of\nthe kiln</textarea>", "clay\nheat</textarea>", "main\nrelease/*</textarea>", `value="41"`)
	r := w.record("lab/<i>")
	if r.Description != "Glazes <b>of\nthe kiln" || !slices.Equal(r.Topics, []string{"clay", "heat"}) || !slices.Equal(r.BranchGlobs, []string{"main", "release/*"}) ||
		r.Stars != 41 || r.Fork || !r.Archived || !r.Private {
		t.Errorf("the facts are %+v", r)
	}
	w.logged("repository.facts", "repository:lab/<i>", "root")
	opened := hidden(t, root.get(path), "/facts")
	filled.Set("topics", "clay")
	filled.Set("was", opened)
	w.has("in between", root.follow(root.post(path+"/facts", filled)), 200, "Saved.")
	filled.Set("topics", "other")
	w.has("an old page", root.post(path+"/facts", filled), 422, "changed meanwhile", "clay</textarea>")
	filled.Del("was")
	filled.Set("topics", "clay\r\nheat")
	root.post(path+"/facts", filled)
	before := len(w.entries())
	w.has("the same", root.follow(root.post(path+"/facts", filled)), 200, "Saved.")
	if len(w.entries()) != before {
		t.Error("a form that changes nothing is logged as a change")
	}

	for name, c := range map[string]struct{ value, want string }{
		"stars":       {"many <b>", `"many <b>" is no number`},
		"branches":    {"release/[", "is no pattern"},
		"description": {"\xff", "is not UTF-8"},
	} {
		wrong := url.Values{"description": {"typed <b>"}, "topics": {"typed topic"}, "stars": {"7"}, "branches": {"typed/*"}, "fork": {"yes"}}
		wrong.Set(name, c.value)
		got := root.post(path+"/facts", wrong)
		w.has(name, got, 422, c.want, "typed topic</textarea>", `id="fork" name="fork" type="checkbox" value="yes" checked`)
		if name != "description" {
			w.has(name, got, 422, "typed <b></textarea>", c.value)
		}
	}
	w.has("less than none", root.post(path+"/facts", url.Values{"stars": {"-1"}}), 422, "less than none", `value="-1"`)
	if got := w.record("lab/<i>"); got.Stars != 41 || got.Fork || got.Description != r.Description {
		t.Errorf("what was refused changed %+v", got)
	}
}

// hidden is what the form of a page that is sent to a path stands for.
func hidden(t *testing.T, page answer, path string) string {
	t.Helper()
	_, form, _ := strings.Cut(page.text, path+`"`)
	_, value, ok := strings.Cut(form, `name="was" value="`)
	if !ok {
		t.Fatalf("no form for %s says what it was made of:\n%s", path, page.text)
	}
	value, _, _ = strings.Cut(value, `"`)
	return value
}

func TestRepositoryMetadata(t *testing.T) {
	w, root := newAdminWorld(t)
	w.recorded(store.Repository{Name: "kiln", Source: "/srv/kiln"})
	const path = "/site-admin/repositories/1"
	w.has("a tag", root.follow(root.post(path+"/metadata", url.Values{"key": {"<i>tag"}})), 200, "Saved.", "<i>tag", "a tag")
	w.has("a value", root.follow(root.post(path+"/metadata", url.Values{"key": {"team"}, "value": {"<b>fire"}})), 200, "<b>fire")
	w.has("another value", root.follow(root.post(path+"/metadata", url.Values{"key": {"team"}, "value": {"clay"}})), 200, "clay")
	if m := w.record("kiln").Metadata; len(m) != 2 || m["<i>tag"] != nil || m["team"] == nil || *m["team"] != "clay" {
		t.Errorf("the metadata are %v", m)
	}
	w.logged("repository.metadata", "repository:kiln", "root")
	w.has("no key", root.post(path+"/metadata", url.Values{"key": {" "}, "value": {"typed"}}), 422, "the key is empty", `value="typed"`)
	w.has("no UTF-8", root.post(path+"/metadata", url.Values{"key": {"k"}, "value": {"\xff"}}), 422, "is not UTF-8")
	w.has("removed", root.follow(root.post(path+"/metadata/remove", url.Values{"key": {"team"}})), 200, "Saved.")
	w.has("removed again", root.post(path+"/metadata/remove", url.Values{"key": {"team"}}), 422, "has no key")
	if m := w.record("kiln").Metadata; len(m) != 1 {
		t.Errorf("the metadata are %v", m)
	}
}

func TestRepositoryReaders(t *testing.T) {
	w, root := newAdminWorld(t)
	w.SignUp(identity.NewUser{Name: "ann"})
	if _, err := w.Registry.CreateOrg(identity.Operator, "lab", ""); err != nil {
		t.Fatal(err)
	}
	w.recorded(store.Repository{Name: "kiln", Source: "/srv/kiln"})
	const path = "/site-admin/repositories/1"
	for typed, want := range map[string]string{"user:ann\r\n org:lab \r\n": "user:ann\norg:lab</textarea>", "nobody": "nobody</textarea>", "everyone": "everyone</textarea>"} {
		w.has(typed, root.follow(root.post(path+"/readers", url.Values{"readers": {typed}})), 200, "may see it", want)
	}
	// a page that was opened before another change puts nothing back
	opened := hidden(t, root.get(path), "/readers")
	root.post(path+"/readers", url.Values{"readers": {"user:ann"}})
	w.has("an old page", root.post(path+"/readers", url.Values{"readers": {"everyone"}, "was": {opened}}), 422, "changed meanwhile", "user:ann</textarea>")
	w.has("a new one", root.follow(root.post(path+"/readers", url.Values{"readers": {"user:ann"}, "was": {hidden(t, root.get(path), "/readers")}})), 200, "user:ann</textarea>")
	w.logged(identity.ActionReaders, "repository:kiln", "root")
	for typed, want := range map[string]string{
		"user:ann\r\nuser:nosuch<b>": `"nosuch<b>"`, "org:ann": `"ann"`, "ann": `"ann" is no reader`, "everyone\r\nuser:ann": `"everyone" is no reader`, " ": "say who", "user:": "user",
	} {
		w.has(typed, root.post(path+"/readers", url.Values{"readers": {typed}}), 422, want, strings.TrimSpace(strings.ReplaceAll(typed, "\r\n", "\n")))
	}
	if r := w.record("kiln").Readers; r == nil || len(r.Users) != 1 || len(r.Orgs) != 0 {
		t.Errorf("what was refused changed the readers to %+v", r)
	}
	w.Registry.Declare(map[string][]string{"kiln": {"user:ann"}})
	w.has("declared", root.get(path), 200, "The configuration file names readers: <bdi>user:ann</bdi>")
}

// What a code host says of a repository is shown, and cannot be changed by a form either.
func TestRepositoryOfAHost(t *testing.T) {
	w, root := newAdminWorld(t)
	w.recorded(store.Repository{Name: "kiln", Source: "https://me:secret@host.example/kiln"})
	stars, description, gone := 12, "<b>from the host", time.Now()
	_, err := w.repos.store.Repositories().FollowHost(1, store.HostChange{
		Origin: &store.Origin{Kind: "github", URL: "https://host.example/", ID: "1", Readers: true}, Gone: &gone,
		Facts: store.FactsChange{Stars: &stars, Description: &description}, Readers: &store.ReadersChange{To: &store.Readers{Users: []uint32{1}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	const path = "/site-admin/repositories/1"
	page := root.get(path)
	w.has("of a host", page, 200, "A code host keeps this repository", "<b>from the host", "gone from its code host", "https://host.example/kiln", "who may at its code host", "user:root", `name="branches"`)
	w.hasNot("of a host", page, "secret", `name="stars"`, `name="description"`, `name="readers"`)
	w.has("its branches", root.follow(root.post(path+"/facts", url.Values{"branches": {"v*"}, "stars": {"99"}, "description": {"mine"}})), 200, "Saved.", "v*</textarea>")
	w.has("a mistake", root.post(path+"/facts", url.Values{"branches": {"v["}}), 422, "v[</textarea>", "<b>from the host")
	w.has("its readers", root.post(path+"/readers", url.Values{"readers": {"everyone"}}), 422, "code host")
	if r := w.record("kiln"); r.Stars != 12 || r.Description != description || r.Readers == nil || !slices.Equal(r.BranchGlobs, []string{"v*"}) {
		t.Errorf("the record is %+v", r)
	}
}

func TestRepositoryPageIsForSiteAdmins(t *testing.T) {
	w, root := newAdminWorld(t)
	w.recorded(store.Repository{Name: "kiln", Source: "/srv/kiln"})
	w.SignUp(identity.NewUser{Name: "ann"})
	ann := w.as("ann")
	const path = "/site-admin/repositories/"
	w.has("the page by ann", ann.get(path+"1"), 403)
	for form, values := range map[string]url.Values{
		"/facts": {"stars": {"9"}}, "/metadata": {"key": {"x"}}, "/metadata/remove": {"key": {"x"}}, "/readers": {"readers": {"user:ann"}},
	} {
		w.has(form+" by ann", ann.post(path+"1"+form, values), 403)
		for _, id := range []string{"0", "2", "x", "-1", "4294967297"} {
			w.has(form+" of "+id, root.post(path+id+form, values), 404)
		}
	}
	w.has("none", root.get(path+"2"), 404)
	if r := w.record("kiln"); r.Stars != 0 || r.Metadata != nil || r.Readers != nil {
		t.Errorf("ann changed %+v", r)
	}
}

// What is too long for a form is changed by commands: a form would cut it.
func TestRepositoryTooLongForForms(t *testing.T) {
	w, root := newAdminWorld(t)
	w.recorded(store.Repository{Name: "kiln", Source: "/srv/kiln"})
	long := strings.Repeat("é", 5_000)
	if _, err := w.repos.store.Repositories().ChangeFacts("kiln", store.FactsChange{Description: &long, Metadata: map[string]*string{"long": &long}}); err != nil {
		t.Fatal(err)
	}
	page := root.get("/site-admin/repositories/1")
	w.has("too long", page, 200, "trawl repo set", `name="readers"`, `name="key"`)
	w.hasNot("too long", page, `name="description"`)
	if len(page.text) > 20<<10 {
		t.Errorf("the page has %d bytes", len(page.text))
	}
}
