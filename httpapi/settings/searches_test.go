package settings_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/store/identity"
	"github.com/trawlsearch/trawl/store/saved"
)

// keep saves a search of a user.
func (w *world) keep(of *identity.User, query string) *saved.Search {
	w.Helper()
	s, err := w.kept.Book.Searches.Add(saved.Search{Query: query, Owner: saved.Subject{Kind: saved.SubjectUser, ID: of.ID}})
	if err != nil {
		w.Fatal(err)
	}
	return s
}

// newSearchesWorld has root, a site admin, ann and bob, who are members of lab, and eve.
func newSearchesWorld(t *testing.T) (w *world, org uint32) {
	t.Helper()
	w = newWorld(t, identity.TokenPolicy{})
	w.SignUp(identity.NewUser{Name: "root", SiteAdmin: true})
	ann, bob := w.SignUp(identity.NewUser{Name: "ann"}), w.SignUp(identity.NewUser{Name: "bob"})
	w.SignUp(identity.NewUser{Name: "eve"})
	o, err := w.Registry.CreateOrg(identity.Author{UserID: ann.ID, User: "ann"}, "lab", "")
	if err == nil {
		err = w.Registry.AddMember(identity.Operator, o.ID, bob.ID)
	}
	if err != nil {
		t.Fatal(err)
	}
	return w, o.ID
}

// A search is saved, changed, run and deleted, for oneself and for an organisation.
func TestSavedSearches(t *testing.T) {
	w, org := newSearchesWorld(t)
	ann, bob := w.as("ann"), w.as("bob")
	const hostile = `<script>alert(1)</script> "kiln" lang:go`
	lab := fmt.Sprintf("o%d", org)

	w.has("empty", ann.get("/users/ann/searches"), 200, "There are none yet.", `<option value="o1"`)
	w.has("from the search page", ann.follow(ann.get("/user/searches?query="+url.QueryEscape(hostile))), 200, "</textarea>")
	raw := ann.ask("GET", "/users/ann/searches?query="+url.QueryEscape(hostile), "")
	w.has("filled in", raw, 200, hostile+"</textarea>")
	w.has("kept", ann.follow(ann.post("/users/ann/searches", url.Values{"description": {" Kilns <b> "}, "query": {hostile}})), 200,
		"The search is saved.", "Kilns <b></bdi>", "1 in all", `href="/users/ann/searches/1/run"`)
	w.has("kept for the organisation", ann.follow(ann.post("/users/ann/searches", url.Values{"query": {"glaze"}, "owner": {lab}})), 200, "2 in all", "<bdi>lab</bdi>")

	run := ann.get("/users/ann/searches/1/run")
	if got, want := run.header.Get("Location"), "/search?q="+url.QueryEscape(hostile); run.status != 302 || got != want {
		t.Errorf("run: %d to %q, want 302 to %q", run.status, got, want)
	}
	w.has("found", ann.get("/users/ann/searches?q=KILN"), 200, "1 found")
	w.has("not found", ann.get("/users/ann/searches?q=nowhere"), 200, "There is none like that.")

	// the other member has that of the organisation only
	w.has("by bob", bob.get("/users/bob/searches"), 200, "1 in all", "glaze")
	w.has("changed by bob", bob.follow(bob.post("/users/bob/searches/2", url.Values{"description": {"Glazes"}, "query": {"glaze or slip"}, "owner": {lab}})), 200, "Saved.", "glaze or slip")
	w.has("seen by ann", ann.get("/users/ann/searches/2"), 200, "Glazes", `<option value="o1" selected>`)
	w.has("given to bob", bob.follow(bob.post("/users/bob/searches/2", url.Values{"query": {"glaze"}, "owner": {"u3"}})), 200, "Saved.", `<option value="u3" selected>`)
	w.has("gone from ann", ann.get("/users/ann/searches/2"), 404, "there is no such saved search")
	w.has("link of other programs", bob.follow(bob.get("/organizations/lab/searches/2")), 200, "glaze")

	w.has("deleted", bob.follow(bob.post("/users/bob/searches/2/delete", nil)), 200, "The search is deleted.", "There are none yet.")
	w.has("deleted again", bob.post("/users/bob/searches/2/delete", nil), 404)
	w.has("by a site admin", w.as("root").get("/users/ann/searches"), 200, "Saved searches of ann", "Kilns <b>")
}

// Who may not see a search cannot tell it from one that is missing, and nobody gives
// searches to strangers.
func TestSavedSearchesAreTheirOwners(t *testing.T) {
	w, org := newSearchesWorld(t)
	ann, eve := w.as("ann"), w.as("eve")
	ann.post("/users/ann/searches", url.Values{"query": {"mine"}})
	ann.post("/users/ann/searches", url.Values{"query": {"ours"}, "owner": {fmt.Sprintf("o%d", org)}})
	for _, path := range []string{"", "/1", "/2", "/1/run"} {
		if got := eve.get("/users/ann/searches" + path); got.status != 404 || strings.Contains(got.text, "mine") {
			t.Errorf("GET %s by eve: %d %s", path, got.status, got.text)
		}
		if got := w.as("").get("/users/ann/searches" + path); got.status != 302 {
			t.Errorf("GET %s signed out: %d, want 302", path, got.status)
		}
	}
	missing := eve.get("/users/eve/searches/99").text
	for _, id := range []string{"1", "2", "0", "-1", "4294967297", "x", "1'"} {
		for _, path := range []string{"/users/eve/searches/" + id, "/users/eve/searches/" + id + "/run"} {
			if got := eve.get(path); got.status != 404 || path == "/users/eve/searches/1" && strings.ReplaceAll(got.text, "/1", "/99") != strings.ReplaceAll(missing, "/1", "/99") {
				t.Errorf("GET %s by eve: %d %s", path, got.status, got.text)
			}
		}
		for _, act := range []string{"", "/delete"} {
			if got := eve.post("/users/eve/searches/"+id+act, url.Values{"query": {"evil"}}); got.status != 404 {
				t.Errorf("POST %s%s by eve: %d %s", id, act, got.status, got.text)
			}
		}
	}
	for _, owner := range []string{"u2", "o1", "o99", "s0", "d", "x", "u99", "u-1", "ü2", "u99999999999"} {
		if got := eve.post("/users/eve/searches", url.Values{"query": {"evil"}, "owner": {owner}}); got.status == 303 || got.status >= 500 {
			t.Errorf("a search of eve for %s: %d %s", owner, got.status, got.text)
		}
		eve.post("/users/eve/searches", url.Values{"query": {"given"}})
	}
	for id := 3; id < 13; id++ {
		if got := eve.post(fmt.Sprintf("/users/eve/searches/%d", id), url.Values{"query": {"given"}, "owner": {"u2"}}); got.status == 303 {
			t.Errorf("search %d was given to ann", id)
		}
	}
	all, err := w.kept.Book.Searches.All()
	if err != nil || len(all) != 12 {
		t.Fatalf("there are %d saved searches, %v; want 12", len(all), err)
	}
	for _, s := range all {
		if s.Query == "evil" || s.Query == "given" && s.Owner.ID != 4 {
			t.Errorf("saved: %+v", s)
		}
	}
}

// What a form refuses stays filled in, and long searches are shown in part.
func TestSavedSearchesAreBounded(t *testing.T) {
	w, _ := newSearchesWorld(t)
	ann := w.as("ann")
	w.has("empty", ann.post("/users/ann/searches", url.Values{"query": {" "}, "description": {"What for"}}), 422, "the query is empty", `value="What for"`)
	w.has("long in a form", ann.post("/users/ann/searches", url.Values{"query": {strings.Repeat("é", 17<<10)}}), 303)
	w.has("huge", ann.post("/users/ann/searches", url.Values{"query": {strings.Repeat("x", 257<<10)}}), 413, "The form has more than 256 KiB")
	u, err := w.Registry.UserNamed("ann")
	if err != nil {
		t.Fatal(err)
	}
	for range 199 {
		w.keep(u, strings.Repeat("é<", 16<<10))
	}
	w.has("one more", ann.post("/users/ann/searches", url.Values{"query": {"x"}}), 422, "there are 200 saved searches", "x</textarea>")
	page := ann.get("/users/ann/searches")
	w.has("long", page, 200, "200 in all", "Page 1 of 4", "…")
	if len(page.text) > 400<<10 {
		t.Errorf("the page has %d bytes", len(page.text))
	}
	w.kept = nil
	w.has("while opening", ann.get("/users/ann/searches"), 503, "opening data directory")
	w.has("while opening", ann.post("/users/ann/searches", url.Values{"query": {"x"}}), 503)
	w.has("while opening", ann.get("/users/ann/searches/1"), 503)
}
