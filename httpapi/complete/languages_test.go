package complete

import (
	"slices"
	"testing"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/code"
	"github.com/trawlsearch/trawl/httpapi/worldtest"
	"github.com/trawlsearch/trawl/query/syntax"
	"github.com/trawlsearch/trawl/store"
)

// labels are those of the first proposals for a query that ends at its cursor.
func labels(items []Item, most int) (out []string) {
	for _, i := range items[:min(len(items), most)] {
		out = append(out, i.Label)
	}
	return out
}

// The languages of repositories come first, and what begins a name or an alias before what
// only resembles it.
func TestLanguages(t *testing.T) {
	known := repositoriesOf("lab/glaze", "hidden/kiln")
	known.languages = func(r *store.Repository) []code.LanguageShare {
		if r.Name == "hidden/kiln" {
			return []code.LanguageShare{{Name: "Zig", Bytes: 1000}}
		}
		return []code.LanguageShare{{Name: "Go", Bytes: 500}, {Name: "JavaScript", Bytes: 900}, {Name: "Java", Bytes: 20}}
	}
	none := repositoriesOf("lab/glaze")
	for _, c := range []struct {
		text string
		n    names
		want []string
	}{
		{"lang:", known, []string{"JavaScript", "Go", "Java", "1C Enterprise"}},
		{"lang:go", known, []string{"Go", "Go Checksums"}},
		{"lang:golan", known, []string{"Go"}},
		{"lang:golan", none, []string{"Go"}},
		{"lang:golang", none, []string{"Go"}},
		{"lang:jav", known, []string{"JavaScript", "Java", "Java Properties"}},
		{"lang:java", known, []string{"Java", "JavaScript", "Java Properties"}},
		{"lang:script", known, []string{"JavaScript"}},
		{"lang:js", none, []string{"JavaScript", "JSON"}},
		{"lang:z", known, []string{"ZAP", "ZIL"}}, // Zig is of a hidden repository
		{"lang:zzz", known, nil},
	} {
		all := items(syntax.WordAt(c.text, len(c.text)), "", c.n)
		got := labels(all, len(c.want))
		if !slices.Equal(got, c.want) || c.want == nil && len(all) > 0 {
			t.Errorf("%q: %q, want %q", c.text, labels(all, mostItems), c.want)
		}
	}
}

// Languages are counted of the repositories that the asker may see.
func TestLanguagesOfSeen(t *testing.T) {
	w := worldtest.New(t, worldtest.Options{})
	for name, file := range map[string]string{"open": "a.go", "secret": "a.zig"} {
		repo := w.Git(name)
		repo.Write(file, "package glaze\n")
		repo.Commit("Add")
		w.AddGit(name)
		w.Sync("lab/" + name)
	}
	ann := readerOfSecret(w)
	e := &Endpoint{Store: func() *store.Store { return w.Store }, Languages: &code.Languages{}}
	for _, c := range []struct {
		actor *auth.Actor
		want  []string
	}{{&auth.Actor{}, []string{"Go", "1C Enterprise"}}, {&auth.Actor{User: ann}, []string{"Go", "Zig"}}} {
		var got []string
		for range 20 { // a busy machine may count in several goes
			_, a := answered(t, e, c.actor, "lang:", "")
			if got = labels(a.Items, 2); slices.Equal(got, c.want) {
				break
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("signed in %t: %q, want %q", c.actor.User != nil, got, c.want)
		}
	}
}
