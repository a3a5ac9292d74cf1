package complete

import (
	"slices"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/worldtest"
	"github.com/trawlsearch/trawl/store"
)

// Branches that are not indexed, and tags, are proposed of the few repositories that a query
// names, to those who may see them.
func TestRevisions(t *testing.T) {
	w := worldtest.New(t, worldtest.Options{})
	for _, name := range []string{"open", "secret", "other"} {
		repo := w.Git(name)
		repo.Write("a.txt", "glaze\n")
		repo.Commit("Add")
		repo.Git("branch", "fix/"+name)
		repo.Git("tag", "v1-"+name)
		repo.Git("tag", "v2-"+name)
		w.AddGit(name)
		w.Sync("lab/" + name)
	}
	ann := readerOfSecret(w)
	e := &Endpoint{Store: func() *store.Store { return w.Store }, refsTime: time.Minute}
	for _, c := range []struct {
		text string
		user bool
		want []string
	}{
		// one repository, and what is written of the revision
		{"repo:open$@", false, []string{"main", "fix/open", "v2-open", "v1-open"}},
		{"repo:open$@v1", false, []string{"v1-open"}},
		{"repo:^lab/open$ rev:", false, []string{"main", "fix/open", "v2-open", "v1-open"}},
		{"repo:^lab/open$ rev:op", false, []string{"fix/open", "v2-open", "v1-open"}},
		{"repo:lab repo:open rev:fix", false, []string{"fix/open"}},
		{"(a or b repo:open rev:fix", false, []string{"fix/open"}},
		// a few repositories
		{"repo:lab rev:v1", false, []string{"v1-open", "v1-other"}},
		{"repo:lab rev:v1", true, []string{"v1-open", "v1-other", "v1-secret"}},
		// none that the asker may see, and none that is named
		{"repo:secret@", false, nil},
		{"repo:secret rev:v", false, nil},
		{"repo:secret@v", true, []string{"v2-secret", "v1-secret"}},
		{"rev:", false, []string{"main"}},
		{"-repo:open rev:v", false, nil},
	} {
		actor := &auth.Actor{}
		if c.user {
			actor.User = ann
		}
		var got []string
		_, a := answered(t, e, actor, c.text, "")
		for _, i := range a.Items {
			if i.Kind == "revision" {
				got = append(got, i.Label)
			}
		}
		if c.text == "repo:lab rev:v1" {
			slices.Sort(got)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q, signed in %t: %q, want %q", c.text, c.user, got, c.want)
		}
	}
}

// Repositories of which a query names many have their indexed branches only: nothing is read.
func TestRevisionsOfMany(t *testing.T) {
	many := repositoriesOf("a/1", "a/2", "a/3", "a/4", "b/1")
	read := 0
	many.refs = func(r *store.Repository, _ string) []string {
		read++
		return []string{"tag-" + r.Name}
	}
	label := func(name string) Item { return Item{Label: name} }
	for _, c := range []struct {
		expressions []string
		read        int
	}{{nil, 0}, {[]string{"a/"}, 0}, {[]string{"b/", "1"}, 1}, {[]string{"a/[123]"}, 3}, {[]string{"("}, 0}} {
		read = 0
		items := revisions(c.expressions, "tag", many, label)
		if read != c.read || len(items) != c.read {
			t.Errorf("%q: %d were read, and %v", c.expressions, read, items)
		}
	}
}
