package complete

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/worldtest"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/syntax"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
)

// repositoriesOf are those of some names; the hidden ones may not be seen.
func repositoriesOf(list ...string) names {
	var all []*store.Repository
	for _, name := range list {
		all = append(all, &store.Repository{Name: name, Branches: []store.Branch{{Name: "main"}, {Name: "dev/" + name}}})
	}
	return names{all: slices.Values(all), visible: func(r *store.Repository) bool { return !strings.HasPrefix(r.Name, "hidden") }}
}

func TestItems(t *testing.T) {
	known := repositoriesOf("lab/glaze", "lab/kiln", "kiln", "hidden/kiln", "a b/kiln(1)", "old-kilns")
	for _, c := range []struct {
		text string
		want []string
	}{
		{"re", []string{"repo:", "rev:"}},
		{"-re", []string{"-repo:"}},
		{"x (LAN", []string{"lang:"}},
		{"fork:", []string{"fork:yes ", "fork:no ", "fork:only "}},
		{"select:symbol.fu", []string{"select:symbol.function "}},
		{"after:1", []string{`after:"1 week ago" `, `after:"1 month ago" `, `after:"1 year ago" `}},
		{"lang:visual basic", nil},
		{`-lang:"visual basic .n`, []string{`-lang:"visual basic .net" `}},
		{"repo:kil", []string{"repo:^kiln$ ", "repo:^lab/kiln$ ", `repo:"^a b/kiln\\(1\\)$" `, "repo:^old-kilns$ "}},
		{"-r:glaze", []string{"-repo:^lab/glaze$ "}},
		{"repo:^lab/kiln$@", []string{"repo:^lab/kiln$@main ", "repo:^lab/kiln$@dev/lab/kiln "}},
		{"repo:^hidden/kiln$@", nil},
		{"repo:has.d", []string{"repo:has.description("}},
		{"file:has.", []string{"file:has.content(", "file:has.owner(", "file:has.contributor("}},
		{"rev:dev/lab", []string{"rev:dev/lab/glaze ", "rev:dev/lab/kiln "}},
		{"repo:(@", nil},
		{"count:all kiln", nil},
		{"g:", nil},
	} {
		var got []string
		for _, i := range items(syntax.WordAt(c.text, len(c.text)), "", known) {
			got = append(got, i.Text)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}

// A repository that is chosen is what the query then asks for.
func TestRepositoryIsRead(t *testing.T) {
	for _, name := range []string{"lab/glaze", "a b/kiln(1)", `x"y`, "-/z", "ö.v2+"} {
		for _, i := range items(syntax.WordAt("repo:", 5), "", repositoriesOf(name)) {
			if i.Kind != "repository" {
				continue
			}
			q, err := syntax.Parse(i.Text+"x", query.Keyword)
			if err != nil {
				t.Errorf("%s: %v", i.Text, err)
				continue
			}
			re, _, _ := query.SplitRepoRevs(q.Basics[0].Value("repo"))
			if got := strings.NewReplacer(`\`, "", "^", "", "$", "").Replace(re); got != name {
				t.Errorf("%s asks for %q", i.Text, got)
			}
		}
	}
}

// answered asks the endpoint as an actor.
func answered(t *testing.T, e *Endpoint, actor *auth.Actor, q, cursor string) (int, Answer) {
	t.Helper()
	r := httptest.NewRequest("GET", Path+"?"+url.Values{"q": {q}, "cursor": {cursor}}.Encode(), nil)
	w := httptest.NewRecorder()
	if err := e.serve(w, r.WithContext(auth.WithActor(r.Context(), actor))); err != nil {
		return http.StatusBadRequest, Answer{}
	}
	var a Answer
	if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil {
		t.Fatalf("%s: %v", w.Body, err)
	}
	return w.Code, a
}

// readerOfSecret makes a user who alone may read lab/secret.
func readerOfSecret(w *worldtest.World) *identity.User {
	w.Helper()
	ann := w.User(identity.NewUser{Name: "ann"})
	w.Readers("lab/secret", "user:ann")
	return ann
}

// Names are proposed to those who may see them.
func TestEndpoint(t *testing.T) {
	w := worldtest.New(t, worldtest.Options{})
	for _, name := range []string{"lab/open", "lab/secret"} {
		w.AddSource(name + "=https://git.example.org/" + name + ".git")
	}
	ann := readerOfSecret(w)
	e := &Endpoint{Store: func() *store.Store { return w.Store }}
	for _, c := range []struct {
		actor *auth.Actor
		want  []string
	}{{&auth.Actor{User: ann}, []string{"lab/open", "lab/secret"}}, {&auth.Actor{User: &identity.User{ID: ann.ID + 1}}, []string{"lab/open"}}, {&auth.Actor{}, []string{"lab/open"}}} {
		_, a := answered(t, e, c.actor, "½ repo:lab x", "10")
		var got []string
		for _, i := range a.Items {
			got = append(got, i.Label)
		}
		slices.Sort(got)
		if !slices.Equal(got, c.want) || a.From != 2 || a.To != 10 {
			t.Errorf("%d to %d: %q, want %q", a.From, a.To, got, c.want)
		}
	}
	for _, cursor := range []string{"-1", "x"} {
		if status, _ := answered(t, e, &auth.Actor{}, "x", cursor); status != 400 {
			t.Errorf("cursor=%s: %d", cursor, status)
		}
	}
	if status, _ := answered(t, e, &auth.Actor{}, strings.Repeat("x", maxQueryBytes+1), ""); status != 400 {
		t.Errorf("a long query: %d", status)
	}
}

func BenchmarkRepositories(b *testing.B) {
	var list []string
	for i := range 10000 {
		list = append(list, fmt.Sprintf("lab%d/project-%d", i%100, i))
	}
	known := repositoriesOf(list...)
	for b.Loop() {
		if n := len(items(syntax.WordAt("repo:project", 12), "", known)); n != mostItems {
			b.Fatal(n)
		}
	}
}
