package settings_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/manage"
	"github.com/trawlsearch/trawl/store/saved"
)

// A search context is made, used by default, marked, changed and deleted.
func TestSearchContexts(t *testing.T) {
	w, org := newSearchesWorld(t)
	ann, bob, root := w.as("ann"), w.as("bob"), w.as("root")
	w.has("empty", ann.follow(ann.get("/user/contexts")), 200, "There are none yet", "Searches begin in all repositories.", `<option value="o1"`)
	w.hasNot("empty", ann.get("/users/ann/contexts"), "everyone on this server")
	w.has("made", ann.follow(ann.post("/users/ann/contexts", url.Values{"name": {"Kilns"}, "description": {"<i>hot"}, "query": {"repo:kiln lang:go"}, "private": {"yes"}})), 200,
		"The search context is there.", "@ann/Kilns", "<i>hot</bdi>", "repo:kiln lang:go", "its owner", "/search?context=%40ann%2fKilns")
	w.has("of the organisation", ann.follow(ann.post("/users/ann/contexts", url.Values{"name": {"ours"}, "query": {"repo:lab"}, "owner": {fmt.Sprintf("o%d", org)}})), 200, "@lab/ours", "everyone</td>")
	w.has("of the site", root.follow(root.post("/users/root/contexts", url.Values{"name": {"main"}, "query": {"repo:main"}, "owner": {"s0"}})), 200, "<bdi>main</bdi>")

	w.has("seen by bob", bob.get("/users/bob/contexts"), 200, "@lab/ours", "<bdi>main</bdi>")
	w.hasNot("seen by bob", bob.get("/users/bob/contexts"), "Kilns")
	w.has("changed by bob", bob.follow(bob.post("/users/bob/contexts/2", url.Values{"name": {"Ours"}, "query": {"repo:lab fork:yes"}})), 200, "Saved.", "repo:lab fork:yes</textarea>", "@lab/Ours")

	w.has("default", ann.follow(ann.post("/users/ann/contexts/1/default", nil)), 200, "Searches begin in", "No default")
	w.has("everywhere again", ann.follow(ann.post("/users/ann/contexts/1/no-default", nil)), 200, "Searches begin in all repositories.")
	w.has("marked", bob.follow(bob.post("/users/bob/contexts/3/star", nil)), 200, "The search page offers it.", "marked</span>")
	w.has("unmarked", bob.follow(bob.post("/users/bob/contexts/3/unstar", nil)), 200, "Saved.")

	w.has("shown to who may not change it", bob.get("/users/bob/contexts/3"), 200, "repo:main")
	w.hasNot("shown to who may not change it", bob.get("/users/bob/contexts/3"), "<textarea", "danger")
	w.has("changed by who may not", bob.post("/users/bob/contexts/3", url.Values{"name": {"evil"}, "query": {"repo:x"}}), 403)
	w.has("deleted by who may not", bob.post("/users/bob/contexts/3/delete", nil), 403)
	w.has("deleted", ann.follow(ann.post("/users/ann/contexts/1/delete", nil)), 200, "The search context is deleted.")
	w.has("deleted again", ann.post("/users/ann/contexts/1/delete", nil), 404)
}

// What is not a context is refused, and stays filled in; who may not see one cannot
// tell it from one that is missing.
func TestSearchContextsOfStrangers(t *testing.T) {
	w, _ := newSearchesWorld(t)
	ann, eve := w.as("ann"), w.as("eve")
	ann.post("/users/ann/contexts", url.Values{"name": {"mine"}, "query": {"repo:secret"}, "private": {"yes"}})
	for what, c := range map[string][2]string{
		"no name": {"", "repo:x"}, "a bad name": {"a b", "repo:x"}, "a long name": {strings.Repeat("x", 33), "repo:x"}, "nothing": {"x", ""},
		"a pattern": {"x", "repo:x glaze"}, "an or": {"x", "repo:x or repo:y"}, "another field": {"x", "repo:x type:diff"}, "nested": {"x", "context:y"},
		"a predicate": {"x", "repo:has.path(x)"}, "a glob": {"x", "repo:x@*refs/heads/*"}, "a broken regexp": {"x", "repo:("},
	} {
		got := eve.post("/users/eve/contexts", url.Values{"name": {c[0]}, "query": {c[1]}})
		w.has(what, got, 422, `role="alert"`, c[1]+"</textarea>")
	}
	w.has("a repository that is not there", eve.post("/users/eve/contexts", url.Values{"name": {"x"}, "repositories": {"lab/kiln@v1"}}), 422, "There is no repository", "lab/kiln@v1</textarea>")
	for _, owner := range []string{"u2", "o1", "s0", "s1", "d0", "x", "u99"} {
		if got := eve.post("/users/eve/contexts", url.Values{"name": {"evil"}, "query": {"repo:x"}, "owner": {owner}}); got.status == 303 || got.status >= 500 {
			t.Errorf("a context of eve for %s: %d %s", owner, got.status, got.text)
		}
	}
	for _, id := range []string{"1", "99", "0", "x", "-1"} {
		for _, got := range []answer{eve.get("/users/eve/contexts/" + id), eve.post("/users/eve/contexts/"+id+"/default", nil), eve.post("/users/eve/contexts/"+id+"/star", nil),
			eve.post("/users/eve/contexts/"+id, url.Values{"name": {"evil"}, "query": {"repo:x"}}), eve.post("/users/eve/contexts/"+id+"/delete", nil)} {
			if got.status != 404 || strings.Contains(got.text, "secret") {
				t.Errorf("context %s for eve: %d %s", id, got.status, got.text)
			}
		}
	}
	n := 0
	if err := w.kept.Book.Contexts.Each(func(*saved.Context) { n++ }); err != nil || n != 1 {
		t.Errorf("there are %d contexts, %v; want that of ann", n, err)
	}
	w.has("of ann for eve", eve.get("/users/ann/contexts"), 404)
	w.kept = nil
	w.has("while opening", ann.get("/users/ann/contexts"), 503)
	w.has("while opening", ann.post("/users/ann/contexts", url.Values{"name": {"x"}, "query": {"repo:x"}}), 503)
}

// One owner has so many contexts, and lists are shown page by page.
func TestSearchContextsAreBounded(t *testing.T) {
	w, _ := newSearchesWorld(t)
	u, err := w.Registry.UserNamed("ann")
	if err != nil {
		t.Fatal(err)
	}
	c := &manage.Contexts{Kept: w.kept, Actor: &auth.Actor{User: u}}
	self := saved.Subject{Kind: saved.SubjectUser, ID: u.ID}
	for i := range 100 {
		if _, err := c.Create(self, manage.ContextFields{Name: fmt.Sprint("c", i), Query: "repo:" + strings.Repeat("x", 2000)}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Create(self, manage.ContextFields{Name: "C7", Query: "repo:x"}); err == nil || !strings.Contains(err.Error(), "there are 100 search contexts") {
		t.Errorf("one more: %v", err)
	}
	page := w.as("ann").get("/users/ann/contexts?page=2")
	w.has("long", page, 200, "Page 2 of 2")
	if len(page.text) > 400<<10 {
		t.Errorf("the page has %d bytes", len(page.text))
	}
	for what, f := range map[string]manage.ContextFields{
		"repositories": {Name: "x", Repositories: make([]saved.ContextRepository, 1001)},
		"description":  {Name: "x", Query: "repo:x", Description: strings.Repeat("x", 2000)},
		"query":        {Name: "x", Query: "repo:" + strings.Repeat("x", 17<<10)},
		"both":         {Name: "x", Query: "repo:x", Repositories: make([]saved.ContextRepository, 1)},
		"taken":        {Name: "C7", Query: "repo:x"},
	} {
		if what == "taken" {
			if err := c.Delete("@ann/c1"); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := c.Change("@ann/c2", f); err == nil {
			t.Errorf("%s: taken", what)
		}
	}
}
