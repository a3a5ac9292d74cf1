package search_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/store/shard"
)

// TestTablesAreReadForCandidates: a search reads the table of documents of a shard, which
// is large, only if its lists leave documents there, or it has some without text that the
// answer tells of.
func TestTablesAreReadForCandidates(t *testing.T) {
	files := []doc{
		{repo: "r", path: "000/kiln", text: "fire the kiln\n", indexed: true},
		{repo: "r", path: "001/pot", text: "glaze the pot\n", indexed: true},
		{repo: "r", path: "002/picture", reason: shard.ReasonBinary},
		{repo: "r", path: "003/huge", reason: shard.ReasonTooLarge},
		{repo: "r", path: "004/older", text: "an older shard\n", indexed: true, folded: true},
	}
	fs := vfs.NewMem()
	newCorpusOn(t, fs, 1, nil, files).close(t)
	for _, tt := range []struct {
		query string
		// read are the shards whose tables are read, by the first digits of their paths.
		read, reasons string
	}{
		// The shard of the older program does not say what lacks text.
		{"zebra", "003 004", "content-unsearchable"},
		{"zebra file:/p", "002 003 004", "content-unsearchable"},
		{"type:file kiln", "000", ""},
		{"glaze.*pot patterntype:regexp", "001", ""},
		{"file:picture", "002", ""},
		{"type:path zebra", "", ""},
		{"zebra or kiln", "000", ""},
		{"not zebra", "000 001 002 003 004", ""},
	} {
		t.Run(tt.query, func(t *testing.T) {
			c := &corpus{files: files}
			c.open(t, fs)
			defer c.close(t)
			a := c.try(t.Context(), t, search.Settings{Workers: 1}, search.Options{Display: -1}, tt.query, nil)
			if !strings.HasPrefix(a.reasons(), tt.reasons) || (a.reasons() == "") != (tt.reasons == "") {
				t.Errorf("tells of %q, want %q", a.reasons(), tt.reasons)
			}
			sn := c.st.Snapshot()
			defer sn.Close()
			var read []string
			for n, v := range sn.Shards() {
				if v.Loaded() {
					read = append(read, fmt.Sprintf("%03d", n))
				}
			}
			if got := strings.Join(read, " "); got != tt.read {
				t.Errorf("tables of shards %q are read, want %q", got, tt.read)
			}
		})
	}
}

// TestQuarantinedShardIsTold: a search tells of a shard that is out of service, although
// its lists can be read and have nothing.
func TestQuarantinedShardIsTold(t *testing.T) {
	c := newCorpus(t, 1, nil, []doc{{repo: "r", path: "kiln", text: "fire\n", indexed: true}, {repo: "r", path: "pot", text: "glaze\n", indexed: true}})
	sn := c.st.Snapshot()
	id := sn.Shards()[1].ID
	sn.Close()
	if _, err := c.st.SetAside(id, errors.New("a test"), time.Now()); err != nil {
		t.Fatal(err)
	}
	for _, q := range []string{"zebra", "type:path zebra", "type:symbol zebra", "zebra file:zebra", "zebra (file:kiln or kiln)"} {
		a := c.try(t.Context(), t, search.Settings{Workers: 1}, search.Options{Display: -1}, q, nil)
		if !strings.Contains(a.reasons(), "backend-missing") {
			t.Errorf("%s: tells of %q, want a shard that is out of service", q, a.reasons())
		}
	}
}
