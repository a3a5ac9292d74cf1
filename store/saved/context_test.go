package saved_test

import (
	"errors"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/saved"
)

// Contexts are found by owner and name in any letter case, also after a restart; a name
// is had once, and one that was given up is free.
func TestContexts(t *testing.T) {
	fs := vfs.NewMem()
	st := open(t, fs)
	b := saved.Open(st, saved.Options{})
	ann, lab := saved.Subject{Kind: saved.SubjectUser, ID: 1}, saved.Subject{Kind: saved.SubjectOrg, ID: 1}
	for _, owner := range []saved.Subject{ann, lab} {
		if _, err := b.Contexts.Add(saved.Context{Name: "Kilns", Owner: owner, Query: "repo:kiln"}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.Contexts.Add(saved.Context{Name: "kILNS", Owner: ann}); !errors.Is(err, store.ErrExists) {
		t.Errorf("the name again: %v, want ErrExists", err)
	}
	other, err := b.Contexts.Add(saved.Context{Name: "other", Owner: ann})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Contexts.Change(ann, "other", func(c *saved.Context) { c.Name = "KILNS" }); !errors.Is(err, store.ErrExists) {
		t.Errorf("renamed to one that is there: %v, want ErrExists", err)
	}
	if c, err := b.Contexts.Change(ann, "OTHER", func(c *saved.Context) { c.ID, c.Owner, c.Name = 9, lab, "ovens" }); err != nil || c.ID != other.ID || c.Owner != ann {
		t.Errorf("renamed: %+v, %v; want the ID and owner as before", c, err)
	}
	if err := b.Contexts.Choose(7, func(c *saved.ContextChoice) { c.User, c.Default, c.Starred = 9, other.ID, []uint32{1} }); err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	st = open(t, fs)
	defer st.Close()
	b = saved.Open(st, saved.Options{})
	if _, err := b.Contexts.Get(ann, "other"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("by the old name: %v, want ErrNotFound", err)
	}
	if c, err := b.Contexts.Get(ann, "Ovens"); err != nil || c.ID != other.ID {
		t.Errorf("by the new name: %+v, %v", c, err)
	}
	if err := b.Contexts.Remove(ann, "kilns"); err != nil {
		t.Fatal(err)
	}
	if c, err := b.Contexts.Add(saved.Context{Name: "kilns", Owner: ann}); err != nil || c.ID != 4 {
		t.Errorf("the name that is free again: %+v, %v; want ID 4", c, err)
	}
	if c, err := b.Contexts.Choice(7); err != nil || c.User != 7 || c.Default != other.ID {
		t.Errorf("chosen: %+v, %v", c, err)
	}
	if c, err := b.Contexts.Choice(8); err != nil || c.User != 8 || c.Default != 0 {
		t.Errorf("chosen by who chose nothing: %+v, %v", c, err)
	}
}
