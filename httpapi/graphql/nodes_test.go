package graphql_test

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/browse"
	"github.com/trawlsearch/trawl/httpapi/graphql"
	"github.com/trawlsearch/trawl/httpapi/graphql/cost"
	"github.com/trawlsearch/trawl/httpapi/worldtest"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/cluster/memorylog"
	"github.com/trawlsearch/trawl/store/cluster/runs"
	"github.com/trawlsearch/trawl/store/ingest"
	"github.com/trawlsearch/trawl/store/object"
	"github.com/trawlsearch/trawl/store/saved"
	"github.com/trawlsearch/trawl/store/spool"
)

// clusterNode serves a store that it shares with other nodes.
type clusterNode struct {
	*world
	moved chan struct{}
}

func newClusterNode(t *testing.T, log *memorylog.Log, folder *object.Folder) *clusterNode {
	t.Helper()
	// One commit has its diff kept; those of the others are read through git.
	kit := worldtest.New(t, worldtest.Options{Store: store.Options{Log: log, Runs: runs.New(folder)}, Ingest: ingest.Options{HistoryDiffs: 1}})
	n := &clusterNode{&world{World: kit}, make(chan struct{}, 1)}
	st := n.Store
	space, err := spool.Open(filepath.Join(n.Dir, "spool"), spool.Options{})
	n.Must(err)
	t.Cleanup(func() { _ = space.Close() })
	st.Subscribe(func(store.Applied) {
		select {
		case n.moved <- struct{}{}:
		default:
		}
	})
	n.searcher = search.New(st, search.Settings{Workers: 2})
	data := &graphql.Data{Store: st, Book: saved.Open(st, saved.Options{}), Registry: n.Registry, Repositories: n, Services: n, Notice: func() string { return "" }}
	api := &graphql.Endpoint{Data: func() *graphql.Data { return data }, Searcher: n, Limits: cost.NewCurrent(cost.Limits{})}
	n.api = &httpapi.Server{Searcher: n, Gate: n.Gate, Log: zerolog.Nop()}
	pages := &browse.Endpoint{Store: func() *store.Store { return st }, Spool: func() *spool.Space { return space }, Pages: n.api, Registry: n.Gate.Registry}
	n.api.Extra = append(api.Routes(), pages.Routes()...)
	n.Listen(n.api.Handler())
	return n
}

// follow waits until the node has the record that another has.
func (n *clusterNode) follow(r *store.Repository) {
	n.Helper()
	for {
		sn := n.Store.Snapshot()
		here := sn.RepositoryByID(r.ID)
		_ = sn.Close()
		if here != nil && here.Generation == r.Generation && here.History.Tip == r.History.Tip {
			return
		}
		select {
		case <-n.moved:
		case <-n.Context().Done():
			n.Fatal("the node does not follow")
		}
	}
}

// own are the parts of an answer that belong to one request or server.
var own = regexp.MustCompile(`"(durationMs|elapsedMilliseconds|trace)":[^,}]*|nonce="?-?[^" ]*|127\.0\.0\.1:\d+`)

// get returns the status and body of a path without what belongs to one request, and
// the body as it is of a file.
func (n *clusterNode) get(path string) string {
	n.Helper()
	resp, body := n.Send(http.MethodGet, path, "", "Accept", "text/html, */*")
	text := own.ReplaceAllString(body, "")
	if strings.HasPrefix(path, "/.api/search/stream") {
		text = settled(text)
	}
	return resp.Status + "\n" + text
}

// settled returns what a stream says in the end: all matches, and the last event of each
// other kind. How matches are divided among events, and how often the others come,
// depends on time.
func settled(stream string) string {
	var matches []string
	last := map[string]string{}
	for event := range strings.SplitSeq(stream, "\n\n") {
		kind, data, _ := strings.Cut(event, "\n")
		if kind == "event: matches" {
			matches = append(matches, strings.TrimSuffix(strings.TrimPrefix(data, "data: ["), "]"))
		} else {
			last[kind] = data
		}
	}
	if len(matches) > 0 {
		last["event: matches"] = strings.Join(matches, ",")
	}
	return fmt.Sprintf("%q", last)
}

const nodeDocument = `query($rev: String!) { repository(name: "lab/kiln") { commit(rev: $rev) {
	oid subject
	ancestors(first: 5) { nodes { oid } }
	tree(path: "") { entries { path } }
	blob(path: "main.go") { content blame { startLine endLine commit { oid } } }
} comparison(base: "HEAD~2", head: $rev) { fileDiffs { rawDiff } } } }`

// TestNodesAnswerAlike asks two nodes, one of which has never synced, for what only git
// knows: the answers are the same bytes. They are after each sync of the first, and the
// other says what it lacks while the source is away.
func TestNodesAnswerAlike(t *testing.T) {
	log, folder := memorylog.New(1, false), object.NewFolder(vfs.NewMem(), "shared")
	first, other := newClusterNode(t, log, folder), newClusterNode(t, log, folder)
	kiln := first.git("kiln")
	for i, text := range []string{"one\n", "one\ntwo\n", "one\nglaze\ntwo\n", "glaze\n"} {
		kiln.Write("main.go", text)
		kiln.Write("docs/"+strings.Fields(text)[0]+".md", "# "+text)
		kiln.Write("photo.png", "\x89PNG\r\n\x1a\n"+text)
		kiln.commit("Fire it "+text, i+1)
	}
	kiln.Git("tag", "v1.0", "HEAD~1")
	kiln.Git("branch", "side", "HEAD~2")
	first.AddSource("lab/kiln=file://" + kiln.Dir)
	sync := func() *store.Repository {
		t.Helper()
		first.Sync("lab/kiln")
		if _, err := first.Indexer.Histories.Read(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		sn := first.Store.Snapshot()
		defer sn.Close()
		r, err := sn.Repository("lab/kiln")
		if err != nil {
			t.Fatal(err)
		}
		other.follow(r)
		return r
	}
	queries := []string{"rev:HEAD~1 glaze", "rev:HEAD~2 one", "rev:v1.0 two", "rev:*refs/heads/* one", "type:diff two", "type:diff rev:side one", "type:commit rev:HEAD~1 fire",
		"file:has.owner() glaze", "rev:HEAD~1 type:path docs", "rev:v1.0 repo:has.commit.after(2001-01-01) two", "rev:at.time(2096-12-01) glaze"}
	same := func(step string) {
		t.Helper()
		var paths []string
		for _, q := range queries {
			paths = append(paths, "/.api/search/stream?v=V3&q="+url.QueryEscape("repo:kiln "+q))
		}
		for _, rev := range []string{"", "@HEAD~1", "@v1.0", "@side"} {
			for _, rest := range []string{"", "/-/blob/main.go", "/-/raw/main.go", "/-/raw/photo.png", "/-/raw?format=zip", "/-/raw?format=tar", "/-/commits", "/-/tree/docs"} {
				paths = append(paths, "/lab/kiln"+rev+rest)
			}
		}
		paths = append(paths, "/lab/kiln/-/compare/HEAD~2...HEAD", "/lab/kiln/-/branches", "/lab/kiln/-/commit/"+kiln.Git("rev-parse", "HEAD~1"))
		for _, path := range paths {
			got, want := other.get(path), first.get(path)
			if got != want || !strings.HasPrefix(want, "200") {
				t.Errorf("%s: %s: got %.2000q, want %.2000q", step, path, got, want)
			}
			if strings.Contains(path, "/stream") && !strings.Contains(want, "event: matches") && !strings.Contains(path, "owner") {
				t.Errorf("%s: %s finds nothing: %s", step, path, want)
			}
		}
		for _, rev := range []string{"HEAD", "HEAD~1", "v1.0"} {
			got, want := other.ask(nodeDocument, map[string]any{"rev": rev}), first.ask(nodeDocument, map[string]any{"rev": rev})
			if got != want || strings.Contains(want, `"errors"`) || !strings.Contains(want, "startLine") {
				t.Errorf("%s: blame at %s: got %s, want %s", step, rev, got, want)
			}
		}
	}
	sync()
	// The source is away before the other node has looked at it.
	if err := os.Rename(kiln.Dir, kiln.Dir+"-away"); err != nil {
		t.Fatal(err)
	}
	if got := other.get("/.api/search/stream?v=V3&q=" + url.QueryEscape("repo:kiln rev:HEAD~1 glaze")); !strings.Contains(got, "repository-missing") {
		t.Errorf("a search while the source is away: got %s, want repository-missing", got)
	}
	if got := other.get("/lab/kiln@HEAD~1/-/raw/main.go"); !strings.HasPrefix(got, "503") || !strings.Contains(got, "cannot be found") {
		t.Errorf("a file while the source is away: got %s, want 503", got)
	}
	if got, want := other.get("/lab/kiln/-/raw/main.go"), first.get("/lab/kiln/-/raw/main.go"); got != want {
		t.Errorf("a file that is indexed, while the source is away: got %s, want %s", got, want)
	}
	if err := os.Rename(kiln.Dir+"-away", kiln.Dir); err != nil {
		t.Fatal(err)
	}
	kiln.Write("main.go", "glaze\nmore glaze\none\n")
	kiln.commit("Mix two", 6)
	sync()
	same("first")
	kiln.Write("main.go", "glaze\nless\none two\n")
	kiln.commit("Mix two again", 7)
	sync()
	same("after a commit")
	kiln.Git("reset", "-q", "--hard", "HEAD~2")
	kiln.Write("main.go", "glaze\nfired one two\n")
	kiln.commit("Fire two", 8)
	sync()
	same("rewritten")
}
