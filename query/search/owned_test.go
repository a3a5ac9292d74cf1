package search_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/shard"
)

// ownedCorpus has repositories whose CODEOWNERS stand in every place that
// counts, and in some that do not.
func ownedCorpus(t testing.TB, fs vfs.FS) *corpus {
	files := []doc{
		{repo: "root", path: "docs/CODEOWNERS", text: "* @docs\n"},
		{repo: "root", path: "CODEOWNERS", text: "*.go @Ann bob@example.org\n/vendor/\n*.md @lab/docs # in either place\n"},
		{repo: "root", path: ".github/CODEOWNERS", text: "* @github\n"},
		{repo: "hub", path: ".github/CODEOWNERS", text: "a.go @ann\n"},
		{repo: "lab", path: ".gitlab/CODEOWNERS", text: "[Code] @cy\n*.go\n"},
		{repo: "docs", path: "docs/CODEOWNERS", text: "* @dora\n"},
		{repo: "none", path: "src/CODEOWNERS", text: "* @nobody\n"},
		{repo: "none", path: "codeowners", text: "* @nobody\n"},
		{repo: "dead", path: "CODEOWNERS", text: "* @gone\n", dead: true},
		{repo: "binary", path: "CODEOWNERS", reason: shard.ReasonBinary},
	}
	for _, repo := range []string{"root", "hub", "lab", "docs", "none", "dead", "binary"} {
		files = append(files, doc{repo: repo, path: "a.go", text: "package " + repo + "\n" + strings.Repeat("clay\n", 999)})
	}
	files = append(files, doc{repo: "root", path: "vendor/v.go", text: "package v\n"}, doc{repo: "root", path: "b.md", text: "# package b\n"})
	return newCorpusOn(t, fs, 3, nil, files)
}

// documents lists what was found, by repository and path.
func (a answered) documents() string {
	var out []string
	for _, m := range a.matches {
		name := m.In().Name
		if f, ok := m.(*query.FileMatch); ok {
			name += "/" + f.Path
		}
		out = append(out, name)
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

func TestOwned(t *testing.T) {
	c := ownedCorpus(t, vfs.NewMem())
	defer c.close(t)
	for _, tt := range []struct{ query, want string }{
		// handles, teams and addresses, in any case and with or without the @
		{"file:has.owner(ann) package", "hub/a.go root/a.go"},
		{"file:has.owner(@ANN) package", "hub/a.go root/a.go"},
		{"file:has.owner(bob@example.org)", "root/a.go"},
		{"file:has.owner(@lab/docs)", "root/b.md"},
		{"file:has.owner(cy)", "lab/a.go"},
		{"file:has.owner(docs)", ""},
		{"f:has.owner( dora ) repo:docs package", "docs/a.go"},

		// the file that counts
		{"file:has.owner(github)", ""},
		{"file:has.owner(nobody)", ""},
		{"file:has.owner(gone)", ""},

		// anybody, nobody, several
		{"file:has.owner() package", "docs/a.go hub/a.go lab/a.go root/a.go root/b.md"},
		{"-file:has.owner() package", "binary/a.go dead/a.go none/a.go root/vendor/v.go"},
		{"-file:has.owner(ann) file:has.owner() package", "docs/a.go lab/a.go root/b.md"},
		{"file:has.owner(ann) file:has.owner(bob@example.org)", "root/a.go"},
		{"(file:has.owner(cy) package) or (file:b.md package)", "lab/a.go root/b.md"},

		// with other kinds of results
		{"file:has.owner(ann) type:path", "hub/a.go root/a.go"},
		{"file:has.owner(ann) type:repo", ""},
		{"file:has.owner(ann) select:repo", "hub root"},
	} {
		for _, s := range []search.Settings{{Workers: 1}, {Workers: 4}, {Brute: true}} {
			a := c.search(t, s, search.Options{}, tt.query, query.Keyword)
			if got := a.documents(); got != tt.want || a.outcome.Alert != nil {
				t.Errorf("%s with %+v: got %q and alert %v, want %q", tt.query, s, got, a.outcome.Alert, tt.want)
			}
		}
	}
}

// owners lists the people and teams found, in order.
func (a answered) owners() string {
	var out []string
	for _, m := range a.matches {
		o, ok := m.(*query.OwnerMatch)
		switch {
		case !ok:
			out = append(out, fmt.Sprintf("%T", m))
		case o.IsTeam:
			out = append(out, "team:"+o.Handle)
		default:
			out = append(out, o.Handle+o.Email)
		}
	}
	return strings.Join(out, " ")
}

func TestSelectOwners(t *testing.T) {
	c := ownedCorpus(t, vfs.NewMem())
	defer c.close(t)
	const nobody, nowhere = "Some of the files found belong to nobody", "None of the repositories searched has a CODEOWNERS file"
	for _, tt := range []struct{ query, want, alert string }{
		// once each, in the order of their documents, whatever the case
		{"repo:root file:a.go", "Ann bob@example.org", ""},
		{"repo:root file:^b.md$", "team:lab/docs", ""},
		{"repo:root|hub file:^a.go$", "Ann bob@example.org", ""},
		{"(repo:root file:^a.go$ select:file.owners) or (repo:hub file:^a.go$ count:5 select:file.owners)", "Ann bob@example.org", ""},
		{"repo:lab package type:path", "", ""},

		// with other filters, and limits
		{"file:has.owner(dora) package", "dora", ""},
		{"repo:root|docs|lab file:^a.go$ count:3", "Ann bob@example.org cy", ""},

		// some without, all without
		{"repo:root package", "Ann bob@example.org team:lab/docs", nobody},
		{"repo:none|docs package", "dora", nobody},
		{"repo:none package", "", nowhere},
		{"repo:none nosuchword", "", ""},
		{"repo:lab type:repo", "", ""},
	} {
		text := tt.query
		if !strings.Contains(text, "select:") {
			text += " select:file.owners"
		}
		for _, s := range []search.Settings{{Workers: 1}, {Workers: 4}, {Brute: true}} {
			a := c.search(t, s, search.Options{Display: -1}, text, query.Keyword)
			if got := a.owners(); got != tt.want {
				t.Errorf("%s with %+v: got %q, want %q", text, s, got, tt.want)
			}
			switch alert := a.outcome.Alert; {
			case tt.alert == "" && alert != nil:
				t.Errorf("%s with %+v: got alert %+v, want none", text, s, alert)
			case tt.alert != "" && (alert == nil || alert.Kind != "unowned-results" || !strings.HasPrefix(alert.Description, tt.alert)):
				t.Errorf("%s with %+v: got alert %+v, want %q", text, s, alert, tt.alert)
			}
		}
	}
}

// The count limit is one of what passes.
func TestOwnedCount(t *testing.T) {
	c := ownedCorpus(t, vfs.NewMem())
	defer c.close(t)
	for n := 1; n <= 3; n++ {
		a := c.search(t, search.Settings{}, search.Options{}, fmt.Sprintf("file:has.owner(ann) package count:%d", n), query.Keyword)
		if want := min(n, 2); len(a.matches) != want {
			t.Errorf("count:%d: got %q, want %d documents", n, a.documents(), want)
		}
	}
}

// Of a repository whose rules cannot be read nothing is said, and that is reported.
func TestOwnedOnDamage(t *testing.T) {
	fs := &faultyFS{FS: vfs.NewMem()}
	testedCorpus(t, fs).close(t)
	c := &corpus{}
	c.open(t, fs)
	defer c.close(t)
	fault := func([]byte) error { return errors.New("unreadable sector") }
	fs.fault.Store(&fault)
	a := c.try(t.Context(), t, search.Settings{}, search.Options{Display: -1}, "-file:has.owner()", nil)
	fs.fault.Store(nil)
	if len(a.matches) > 0 || !strings.Contains(a.reasons(), "backend-missing") {
		t.Errorf("got %d matches and reasons %q, want none and backend-missing", len(a.matches), a.reasons())
	}
}

// A file that was uploaded counts in the place of those that the repository has, at all
// revisions, and only while it is there.
func TestUploadedOwners(t *testing.T) {
	c := ownedCorpus(t, vfs.NewMem())
	defer c.close(t)
	upload := func(repo string, f *store.OwnersFile) {
		t.Helper()
		if err := c.st.Update(func(tx *store.Tx) error {
			r, err := tx.Repository(repo)
			if err != nil {
				return err
			}
			return tx.PutOwnersFile(r.ID, f)
		}); err != nil {
			t.Fatal(err)
		}
	}
	check := func(want string) {
		t.Helper()
		for _, s := range []search.Settings{{Workers: 1}, {Workers: 4}, {Brute: true}} {
			if got := c.search(t, s, search.Options{}, "file:has.owner(ann) package", query.Keyword).documents(); got != want {
				t.Errorf("with %+v: got %q, want %q", s, got, want)
			}
		}
	}
	check("hub/a.go root/a.go")
	upload("root", &store.OwnersFile{Text: "*.md @ann\n"})
	upload("none", &store.OwnersFile{Text: "* @ANN\n"})
	upload("hub", &store.OwnersFile{})
	check("none/a.go root/b.md")
	upload("root", nil)
	upload("none", nil)
	check("root/a.go")
}
