package gitobject

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/trawlsearch/trawl/httpapi/graphql/account"
	"github.com/trawlsearch/trawl/httpapi/graphql/budget"
	"github.com/trawlsearch/trawl/store"
)

// Each repository that is read has a git process: however many repositories an
// answer is about, only the last used ones keep theirs.
func TestReadersAreFew(t *testing.T) {
	st, err := store.Open("data", store.Options{FS: vfs.NewMem(), CacheBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	s := New(&account.Session{Budget: budget.New(nil, 1000, 0), Store: st}, nil, nil)
	defer func() {
		s.Close(t.Context())
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	}()
	first, _ := s.reader(&store.Repository{ID: 1})
	for id := uint32(2); id <= maxReaders; id++ {
		if _, idle := s.reader(&store.Repository{ID: id}); idle != nil {
			t.Fatalf("reader %d: one is to be closed already", id)
		}
	}
	second := s.recent[1]
	if again, idle := s.reader(&store.Repository{ID: 1}); again != first || idle != nil {
		t.Errorf("the first reader again: got another one, or one to be closed")
	}
	if _, idle := s.reader(&store.Repository{ID: maxReaders + 1}); idle != second {
		t.Errorf("one reader too many: the one not used for longest is not closed")
	}
	if again, idle := s.reader(&store.Repository{ID: 2}); again == second || idle == nil {
		t.Errorf("the reader that was closed: got it with all that it has read, or none to be closed")
	}
	if len(s.recent) != maxReaders {
		t.Errorf("%d readers may have a process, want %d", len(s.recent), maxReaders)
	}
}
