package store_test

import (
	"errors"
	"reflect"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/trawlsearch/trawl/store"
)

func to[T any](v T) *T { return &v }

// facts are those of the one repository that a store holds.
func facts(t *testing.T, s *store.Store) store.Repository {
	t.Helper()
	sn := s.Snapshot()
	defer sn.Close()
	r, err := sn.Repository("kiln")
	if err != nil {
		t.Fatal(err)
	}
	return store.Repository{Stars: r.Stars, Fork: r.Fork, Archived: r.Archived, Private: r.Private,
		Description: r.Description, Topics: r.Topics, Metadata: r.Metadata}
}

func TestChangeFacts(t *testing.T) {
	fs := vfs.NewMem()
	s := open(t, fs)
	if _, err := s.Repositories().New(store.Repository{Name: "kiln", Stars: 1}); err != nil {
		t.Fatal(err)
	}
	metadata := func(kv ...*string) map[string]*string {
		out := map[string]*string{}
		for i := 0; i < len(kv); i += 2 {
			out[*kv[i]] = kv[i+1]
		}
		return out
	}
	for _, c := range []struct {
		name   string
		change store.FactsChange
		want   store.Repository
	}{
		{"nothing", store.FactsChange{}, store.Repository{Stars: 1, Metadata: metadata()}},
		{"everything", store.FactsChange{
			Stars: to(41), Fork: to(true), Archived: to(true), Private: to(true), Description: to("Fires clay"),
			Topics: to([]string{"kiln", "clay", "kiln"}), Metadata: metadata(to("team"), to("glaze"), to("old"), nil),
		}, store.Repository{Stars: 41, Fork: true, Archived: true, Private: true, Description: "Fires clay",
			Topics: []string{"clay", "kiln"}, Metadata: metadata(to("team"), to("glaze"), to("old"), nil)}},
		{"some", store.FactsChange{Fork: to(false), Description: to(""), RemoveMetadata: []string{"old", "none"}, Metadata: metadata(to("new"), to(""))},
			store.Repository{Stars: 41, Archived: true, Private: true, Topics: []string{"clay", "kiln"}, Metadata: metadata(to("team"), to("glaze"), to("new"), to(""))}},
		{"none left", store.FactsChange{Stars: to(0), Archived: to(false), Private: to(false), Topics: to([]string{}), ClearMetadata: true},
			store.Repository{Topics: []string{}, Metadata: metadata()}},
	} {
		r, err := s.Repositories().ChangeFacts("kiln", c.change)
		if err != nil || r.Name != "kiln" {
			t.Fatalf("%s: got %+v, %v", c.name, r, err)
		}
		if got := facts(t, s); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s:\n got %+v\nwant %+v", c.name, got, c.want)
		}
	}

	// They are on disk, and a record from before does not bring the old ones back.
	sn := s.Snapshot()
	before, err := sn.Repository("kiln")
	if err != nil {
		t.Fatal(err)
	}
	stale := *before
	if err := sn.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Repositories().ChangeFacts("kiln", store.FactsChange{Stars: to(7), Metadata: metadata(to("team"), nil)}); err != nil {
		t.Fatal(err)
	}
	stale.Generation++
	if err := s.Commit(store.Change{Repositories: []*store.Repository{&stale}}); err != nil {
		t.Fatal(err)
	}
	closeStore(t, s)
	s = open(t, fs)
	defer closeStore(t, s)
	if got, want := facts(t, s), (store.Repository{Stars: 7, Metadata: metadata(to("team"), nil)}); !reflect.DeepEqual(got, want) {
		t.Errorf("after a commit of an older record and a restart:\n got %+v\nwant %+v", got, want)
	}
}

func TestChangeFactsRefuses(t *testing.T) {
	s := open(t, vfs.NewMem())
	defer closeStore(t, s)
	if _, err := s.Repositories().New(store.Repository{Name: "kiln"}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		change store.FactsChange
		want   string
	}{
		{store.FactsChange{Stars: to(-1)}, `repository "kiln": stars: -1 is less than none`},
		{store.FactsChange{Topics: to([]string{"a", ""})}, `repository "kiln": topics: one is empty`},
		{store.FactsChange{Metadata: map[string]*string{"": nil}}, `repository "kiln": metadata: a key is empty`},
		{store.FactsChange{Description: to("\xff")}, `repository "kiln": "\xff" is not UTF-8`},
	} {
		if _, err := s.Repositories().ChangeFacts("kiln", c.change); err == nil || err.Error() != c.want {
			t.Errorf("%+v: got %v, want %s", c.change, err, c.want)
		}
	}
	if _, err := s.Repositories().ChangeFacts("none", store.FactsChange{}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("of an unknown repository: got %v, want store.ErrNotFound", err)
	}
}
