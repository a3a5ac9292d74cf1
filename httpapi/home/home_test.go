package home_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/home"
	"github.com/trawlsearch/trawl/httpapi/manage"
	"github.com/trawlsearch/trawl/httpapi/worldtest"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/syntax"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
)

// world is a server with three repositories: one is indexed, one waits, and one has
// readers.
func world(t *testing.T) (e *home.Endpoint, ann *identity.User) {
	t.Helper()
	w := worldtest.New(t, worldtest.Options{})
	r := w.Git("kiln")
	r.Write("a.txt", "glaze\n")
	r.Commit("made")
	for _, source := range []string{"lab/kiln.v2=" + r.Dir, "lab/new=https://git.example.org/new.git", "lab/secret=https://git.example.org/secret.git"} {
		w.AddSource(source)
	}
	w.Sync("lab/kiln.v2")
	ann = w.User(identity.NewUser{Name: "ann"})
	w.Readers("lab/secret", "user:ann")
	return &home.Endpoint{
		Store: func() *store.Store { return w.Store }, Registry: func() *identity.Registry { return w.Registry },
		Syncing: func() []manage.Syncing {
			return []manage.Syncing{{Name: "lab/secret", Phase: "fetch"}, {Name: "lab/new", Phase: "index", Done: 3, Total: 9}, {Name: "gone"}}
		},
	}, ann
}

// Nobody learns of what they may not see, by name or by count.
func TestHomeShowsWhatOneMaySee(t *testing.T) {
	e, ann := world(t)
	for _, c := range []struct {
		actor    *auth.Actor
		indexing string
	}{
		{&auth.Actor{User: ann}, `{"repositories":3,"indexed":1,"waiting":2,"failing":0,"running":[{"name":"lab/secret","phase":"fetch","done":0,"total":0},{"name":"lab/new","phase":"index","done":3,"total":9}]}`},
		{&auth.Actor{}, `{"repositories":2,"indexed":1,"waiting":1,"failing":0,"running":[{"name":"lab/new","phase":"index","done":3,"total":9}]}`},
	} {
		r := httptest.NewRequest("GET", home.Path, nil)
		r = r.WithContext(auth.WithActor(r.Context(), c.actor))
		h := e.Home(r)
		if got, err := json.Marshal(h.Indexing); err != nil || string(got) != c.indexing {
			t.Errorf("%v: %s, %v\nwant %s", c.actor, got, err, c.indexing)
		}
		if len(h.Recent) != 1 || h.Recent[0].Path != "/lab/kiln.v2" || h.SetUp || h.SiteAdmin {
			t.Errorf("%v: %+v", c.actor, h)
		}
		w := httptest.NewRecorder()
		if err := e.Routes()[0].Handler(w, r); err != nil || strings.TrimSpace(w.Body.String()) != c.indexing {
			t.Errorf("%v: the route says %v %s", c.actor, err, w.Body)
		}
	}
}

func TestHomeWhileOpening(t *testing.T) {
	e := &home.Endpoint{Store: func() *store.Store { return nil }}
	r := httptest.NewRequest("GET", home.Path, nil)
	if h := e.Home(r); h != nil {
		t.Errorf("a page of a store that is not open: %+v", h)
	}
	if err := e.Routes()[0].Handler(httptest.NewRecorder(), r); err == nil {
		t.Error("the route: no error")
	}
}

// The examples are queries of the language, whatever the name of the repository.
func TestExamplesAreRead(t *testing.T) {
	e, ann := world(t)
	r := httptest.NewRequest("GET", "/search", nil)
	h := e.Home(r.WithContext(auth.WithActor(r.Context(), &auth.Actor{User: ann})))
	if len(h.Examples) < 2 {
		t.Fatalf("examples: %+v", h.Examples)
	}
	for _, x := range h.Examples {
		if _, err := syntax.Parse(x.Query, query.Keyword); err != nil || x.About == "" {
			t.Errorf("%+v: %v", x, err)
		}
	}
	if want := `repo:^lab/kiln\.v2$ file:.`; fmt.Sprint(h.Examples[0].Query) != want {
		t.Errorf("got %s, want %s", h.Examples[0].Query, want)
	}
}

func TestWordsOfPhases(t *testing.T) {
	for _, phase := range []string{"", "fetch", "wait", "compare", "index", "commit", "new"} {
		if (httpapi.HomeSync{Phase: phase}).Words() == "" {
			t.Errorf("no words for %q", phase)
		}
	}
}
