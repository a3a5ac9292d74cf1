package config_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/cmd/trawl/config"
	"github.com/trawlsearch/trawl/httpapi/graphql/cost"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/ingest"
)

func to[T any](v T) *T { return &v }

func TestFile(t *testing.T) {
	s, err := resolve(t, `
# everything a file can hold
data: data
memory: 1GiB
sync-interval: 0
rateLimits:
  graphQLMaxAliases: 7
  GraphqlMaxUniqueFieldCount: 9
repositories:
  - source: https://git.example.org/lab/kiln.git
  - source: ../src/glaze
    name: lab/glaze
    branches: [main, v2]
  - {source: /src/clay, branches: }
  - source: /src/cup
    stars: 41
    fork: true
    archived: no
    private: Yes
    description: "Holds: tea"
    topics: [tea, 2]
    metadata: {team: kiln, legacy: , "a.b": "", n: ~}
    readers: [org:lab, user:ann]
  - {source: /src/pot, description: "", topics: , metadata: , readers: nobody}
`, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if s.Data != "/etc/trawl/data" || s.Memory != 1<<30 || s.SyncInterval != 0 {
		t.Errorf("got %+v: want what the file says, with data beside it", s)
	}
	if want := (cost.Limits{Aliases: 7, UniqueFields: 9}); s.RateLimits != want {
		t.Errorf("rate limits: got %+v, want %+v", s.RateLimits, want)
	}
	want := []config.Repository{
		{Source: ingest.Source{Name: "git.example.org/lab/kiln", Location: "https://git.example.org/lab/kiln.git", Remote: true}},
		{Source: ingest.Source{Name: "lab/glaze", Location: "/etc/src/glaze"}, Facts: store.FactsChange{Branches: &[]string{"main", "v2"}}},
		{Source: ingest.Source{Name: "clay", Location: "/src/clay"}, Facts: store.FactsChange{Branches: new([]string)}},
		{Source: ingest.Source{Name: "cup", Location: "/src/cup"}, Facts: store.FactsChange{
			Stars: to(41), Fork: to(true), Archived: to(false), Private: to(true), Description: to("Holds: tea"), Topics: &[]string{"tea", "2"},
			ClearMetadata: true, Metadata: map[string]*string{"team": to("kiln"), "legacy": nil, "a.b": to(""), "n": nil},
		}, Readers: []string{"org:lab", "user:ann"}},
		{Source: ingest.Source{Name: "pot", Location: "/src/pot"}, Facts: store.FactsChange{
			Description: to(""), Topics: new([]string), ClearMetadata: true,
		}, Readers: []string{"nobody"}},
	}
	if !reflect.DeepEqual(s.Repositories, want) {
		t.Errorf("repositories:\n got %+v\nwant %+v", s.Repositories, want)
	}
}

func TestFileErrors(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		// keys
		{"unknown key", "x: 1", `:1: unknown key "x": known are repositories, code-hosts, rateLimits, backup, data, `},
		{"nearly known", "listn: :1", `:1: unknown key "listn": did you mean "listen"?`},
		{"underscores", "\nsync_interval: 1m", `:2: unknown key "sync_interval": did you mean "sync-interval"?`},
		{"case", "Memory: 1GiB", `:1: unknown key "Memory": did you mean "memory"?`},
		{"twice", "data: a\nlisten: :1\ndata: b", ":3: data stands here again, it is in line 1 already"},
		{"a key that is a list", "[a]: b", ":1: unknown key"},

		// values
		{"no value", "data:", ":1: data: expected one value"},
		{"a list for a value", "data: [a]", ":1: data: expected one value"},
		{"a bad value", "a: &x 1\n", ":1: unknown key"},
		{"a size that is none", "\n\nmemory: lots", `:3: memory: "lots" is no size`},
		{"a list at the top", "- a", ":1: expected keys with values"},
		{"a word at the top", "hello", ":1: expected keys with values"},

		// repositories
		{"no list", "repositories: x", ":1: repositories: expected a list"},
		{"an entry that is a word", "repositories:\n- x", ":2: expected keys with values"},
		{"no source", "repositories:\n- name: x", ":2: this repository has no source"},
		{"unknown key of an entry", "repositories:\n- source: x\n  branch: main", `:3: unknown key "branch": did you mean "branches"?`},
		{"a name that cannot be", "repositories:\n- source: /x\n  name: a b", `:2: "a b" cannot be the name of a repository`},
		{"one name for two", "repositories:\n- source: /a/x\n- source: /b/x", `:3: there are two repositories called "x"`},
		{"branches that are lists", "repositories:\n- source: /x\n  branches: [[a]]", ":3: branches: expected one value"},

		// facts
		{"stars that are none", "repositories:\n- source: /x\n  stars: -1", `:3: stars: "-1" is no number of stars`},
		{"neither true nor false", "repositories:\n- source: /x\n  fork: maybe", `:3: fork: "maybe" is neither true nor false`},
		{"a description that is a list", "repositories:\n- source: /x\n  description: [a]", ":3: description: expected one value"},
		{"one topic", "repositories:\n- source: /x\n  topics: a", ":3: topics: expected a list"},
		{"a list of keys", "repositories:\n- source: /x\n  metadata: [a]", ":3: metadata: expected keys with values"},
		{"a key twice", "repositories:\n- source: /x\n  metadata:\n    a: b\n    a: c", `:5: metadata: "a" stands here twice`},
		{"a value that is a list", "repositories:\n- source: /x\n  metadata: {a: [b]}", ":3: metadata: expected one value"},
		{"no readers", "repositories:\n- source: /x\n  readers:", ":3: readers: say who"},
		{"readers with keys", "repositories:\n- source: /x\n  readers: {a: b}", ":3: readers: expected a list"},
		{"an unknown fact", "repositories:\n- source: /x\n  star: 1", `:3: unknown key "star": did you mean "stars"?`},

		// limits of GraphQL requests
		{"limits that are a list", "rateLimits: [1]", ":1: rateLimits: expected keys with values"},
		{"an unknown limit", "rateLimits: {graphQLMaxDeph: 1}", `:1: unknown key "graphQLMaxDeph": did you mean "graphQLMaxDepth"?`},
		{"a limit of none", "rateLimits:\n  graphQLMaxDepth: 0", `:2: graphQLMaxDepth: "0" is no limit`},
		{"a limit below", "rateLimits: {graphQLMaxDepth: -1}", `"-1" is no limit`},
		{"a limit in both spellings", "rateLimits:\n  graphQLMaxAliases: 1\n  GraphQLMaxAliases: 2", ":3: rateLimits: GraphQLMaxAliases stands here twice"},

		// no YAML
		{"a tab", "a: b\n\tc: d", ":2: not YAML: "},
		{"two documents", "data: a\n---\ndata: b", "more than one document"},
	} {
		_, err := resolve(t, c.text, nil, nil)
		if err == nil || !strings.HasPrefix(err.Error(), "/etc/trawl/trawl.yaml:") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s:\n%s\n got %v\nwant ...%s", c.name, c.text, err, c.want)
		}
	}
}

func TestEmptyFile(t *testing.T) {
	for _, text := range []string{" ", "# nothing\n", "---\n", "~"} {
		if _, err := resolve(t, text, nil, nil); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// A file that people wrote must never crash the program, and what is wrong
// with it must be one line that names the file.
func FuzzParseFile(f *testing.F) {
	for _, seed := range []string{
		"data: a\nmemory: 1GiB", "repositories:\n- source: x\n  branches: [a]", "repositories:\n- source: x\n  topics: [a]\n  metadata: {a: , b: c}", "a: &x [*x]", "a: &x {b: *x}",
		"<<: {data: x}", "? [a]\n: b", "- - -", "data: !!binary x", "&a data: *a", "\"\\x00\": 1",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := config.ParseFile("trawl.yaml", text)
		if err == nil {
			_, _ = config.Resolve(config.Machine{Home: "/"}, config.Said{File: file, Env: func(string) string { return "" }})
			return
		}
		if !strings.HasPrefix(err.Error(), "trawl.yaml:") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: got %q, want one line that begins with the file's name", text, err)
		}
	})
}
