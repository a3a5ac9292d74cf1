package graphql_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/httpapi/graphql/cost"
	"github.com/trawlsearch/trawl/internal/race"
	"github.com/trawlsearch/trawl/store/identity"
)

// copies asks for a field under n names of its own.
func copies(n int, field string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "a%d: %s ", i, field)
	}
	return b.String()
}

// wheel is a repository with files that answers are large of.
func (w *world) wheel() {
	s := w.git("wheel")
	s.Write("long.txt", strings.Repeat("clay on the wheel\n", 60_000))
	s.Write("lines.txt", strings.Repeat("\n", 400_000))
	s.Write("wide.txt", strings.Repeat("clay ", 60_000)+"\n")
	s.Write("turned.txt", strings.Repeat("clay on the wheel\n", 20_000))
	s.Write("one.txt", strings.Repeat("clay ", 180_000)+"wheelhouse\n")
	for i := range 150 {
		s.Write(fmt.Sprintf("many/%d.txt", i), "clay\n")
	}
	message := filepath.Join(w.TempDir(), "message")
	if err := os.WriteFile(message, []byte("Throw\n\n"+strings.Repeat("round and round\n", 20_000)), 0o644); err != nil {
		w.Fatal(err)
	}
	s.at(1, "commit", "-q", "-F", message)
	s.Write("turned.txt", strings.Repeat("clay off the wheel\n", 20_000))
	s.commit("Take it off", 2)
	w.AddSource("lab/wheel=" + s.Dir)
	w.Sync("lab/wheel")
}

// TestAnswersAreBounded: a document that passes the limits of what it asks for
// may still ask for the same text under hundreds of names, or for lists of
// lists. The answer says what is too much, and is not made in memory first.
func TestAnswersAreBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("makes answers of many megabytes")
	}
	const (
		text   = "the text of this answer has more than 64 MiB"
		fields = "the answer has more than"
		calls  = "searches and git commands"
	)
	w := newWorld(t)
	w.wheel()
	at := func(selection string) string {
		return `{ repository(name: "lab/wheel") { commit(rev: "") { ` + selection + ` } } }`
	}
	file := func(name, selection string) string { return at(`file(path: "` + name + `") { ` + selection + ` }`) }
	search := func(query, selection string) string {
		return `{ search(version: V3, query: "` + query + `") { results { results { ` + selection + ` } } } }`
	}
	match := func(selection string) string {
		return search("repo:wheel wheelhouse", "... on FileMatch { "+selection+" }")
	}
	tests := []struct {
		about, document string
		limit           int // of fields; 0 is the default
		calls           int // of searches and commands; 0 is the default
		want            string
	}{
		// the same text again and again
		{"content", file("long.txt", copies(70, "content")), 0, 0, text},
		{"lines", file("long.txt", copies(70, "content(startLine: 2)")), 0, 0, text},
		{"highlight", file("lines.txt", copies(5, "highlight(disableTimeout: true) { html }")), 0, 0, text},
		{"html of highlight", file("long.txt", "highlight(disableTimeout: true) { "+copies(20, "html")+" }"), 0, 0, text},
		{"ranges", file("long.txt", "highlight(disableTimeout: true) { lineRanges(ranges: ["+strings.Repeat("{startLine: 0, endLine: 60000} ", 499)+"]) }"), 0, 0, text},
		{"message", at("parents { " + copies(230, "message") + " }"), 0, 0, text},
		{"raw diff", at("diff { fileDiffs { " + copies(120, "rawDiff") + " } }"), 0, 0, text},
		{"hunks", at("diff { fileDiffs { nodes { " + copies(120, "hunks { body }") + " } } }"), 0, 0, text},
		{"one hunk", at("diff { fileDiffs { nodes { hunks { " + copies(120, "body") + " } } } }"), 0, 0, text},
		{"line matches", match(copies(99, "lineMatches { preview }")), 0, 0, text},
		{"one line match", match("lineMatches { " + copies(99, "preview") + " }"), 0, 0, text},
		{"chunk matches", match(copies(99, "chunkMatches { content }")), 0, 0, text},
		{"offsets", search("repo:wheel clay file:wide.txt count:all", "... on FileMatch { "+copies(99, "lineMatches { offsetAndLengths }")+" }"), 0, 0, text},
		{"commits", search("repo:wheel type:commit round count:all", "... on CommitSearchResult { "+copies(400, "matches { body { text } }")+" }"), 0, 0, text},

		// lists of lists
		{"entries", at(copies(99, "tree { entries(recursive: true) { path } }")), 1000, 0, fields},
		{"one long list", at(`tree(path: "many") { entries { ` + copies(99, "path") + " } }"), 1000, 0, fields},
		{"organisations of members", `{ organization(name: "clay") { ` + strings.Repeat("members { nodes { organizations { nodes { ", 6) + "name" + strings.Repeat("} } } } ", 6) + "} }", 500, 0, fields},
		{"the schema of the schema", `{ __schema { types { ` + strings.Repeat("fields { type { ofType { ", 6) + "name" + strings.Repeat(" } } }", 6) + ` } } }`, 500, 0, fields},

		// work for other programs
		{"searches", `{ ` + copies(20, `search(query: "clay") { results { matchCount } }`) + ` }`, 0, 10, calls},
		{"revisions", `{ repository(name: "lab/wheel") { ` + copies(20, `commit(rev: "main") { oid }`) + ` } }`, 0, 10, calls},
		{"history", at(`tree(path: "many") { entries(first: 20) { history(first: 1) { nodes { oid } } } }`), 0, 10, calls},
		{"symbols", at(`tree(path: "many") { entries(first: 20) { symbols(first: 1) { nodes { name } } } }`), 0, 10, calls},
	}
	w.organizations(12)
	for i, tt := range tests {
		if race.Enabled && tt.want == text && i%4 != 2 {
			continue // one goroutine makes dozens of megabytes
		}
		w.endpoint.Limits.Set(cost.Limits{Fields: tt.limit})
		w.endpoint.MaxCalls = 2000
		if tt.calls > 0 {
			w.endpoint.MaxCalls = tt.calls
		}
		body, err := json.Marshal(map[string]any{"query": tt.document})
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		began := time.Now()
		resp, answer := w.post(string(body), "Authorization", "token "+w.Tokens["root"])
		runtime.ReadMemStats(&after)
		if resp.StatusCode != 200 || !strings.Contains(answer, tt.want) || !strings.HasPrefix(answer, `{"errors":`) {
			t.Errorf("%s: got %d %.300s\nwant an error with %q", tt.about, resp.StatusCode, answer, tt.want)
		}
		t.Logf("%s: %s, %d MB allocated, %d bytes answered", tt.about, time.Since(began).Round(time.Millisecond), (after.TotalAlloc-before.TotalAlloc)>>20, len(answer))
	}
}

// organizations makes n organisations with n members each.
func (w *world) organizations(n int) {
	w.Helper()
	operator := identity.Operator
	clay, err := w.Registry.OrgNamed("clay")
	if err != nil {
		w.Fatal(err)
	}
	orgs := []uint32{clay.ID}
	for i := range n {
		o, err := w.Registry.CreateOrg(operator, fmt.Sprint("guild", i), "")
		if err != nil {
			w.Fatal(err)
		}
		orgs = append(orgs, o.ID)
	}
	for i := range n {
		u, err := w.Registry.CreateUser(operator, identity.NewUser{Name: fmt.Sprint("potter", i)})
		if err != nil {
			w.Fatal(err)
		}
		for _, o := range orgs {
			if err := w.Registry.AddMember(operator, o, u.ID); err != nil {
				w.Fatal(err)
			}
		}
	}
}
