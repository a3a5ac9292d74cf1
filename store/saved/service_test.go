package saved_test

import (
	"errors"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/saved"
)

func TestServices(t *testing.T) {
	fs := vfs.NewMem()
	st := open(t, fs)
	b := saved.Open(st, saved.Options{})
	for _, name := range []string{"one", "two"} {
		if _, err := b.Services.Add(saved.Service{Kind: "OTHER", DisplayName: name, Creator: 3}); err != nil {
			t.Fatal(err)
		}
	}
	if v, err := b.Services.Change(2, func(v *saved.Service) error { v.ID, v.LastError = 7, "away"; return nil }); err != nil || v.ID != 2 {
		t.Fatalf("Change: %+v, %v; want ID 2", v, err)
	}
	if err := b.Services.Remove(2); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Services.Get(2); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Service of what was removed: %v, want ErrNotFound", err)
	}
	if _, err := b.Services.Change(2, func(*saved.Service) error { return nil }); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Change of what was removed: %v, want ErrNotFound", err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	st = open(t, fs)
	defer st.Close()
	b = saved.Open(st, saved.Options{})
	if v, err := b.Services.Add(saved.Service{DisplayName: "three"}); err != nil || v.ID != 3 {
		t.Errorf("Add: %+v, %v; want ID 3, which nothing had", v, err)
	}
	all, err := b.Services.All()
	if err != nil || len(all) != 2 || all[0].DisplayName != "one" || all[0].Creator != 3 || all[0].Created.IsZero() || all[1].ID != 3 {
		t.Errorf("Services: %+v, %v; want one and three", all, err)
	}
}
