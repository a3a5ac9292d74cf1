package config

import (
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// settingsOf resolves what a file, the environment and flags say.
func settingsOf(t *testing.T, site Site, file string, env, flags map[string]string) Settings {
	t.Helper()
	f, err := ParseFile(filepath.Join("/etc", "trawl.yaml"), []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	s, err := Resolve(Machine{Home: "/home/ann"}, Said{Site: site, File: f, Env: func(name string) string { return env[name] }, Flags: flags})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The default of a live setting is a value: what is not set any more goes back to it.
func TestLiveDefaultsAreValues(t *testing.T) {
	for _, name := range liveNames {
		k, ok := Find(name)
		if !ok || !k.Live() {
			t.Errorf("there is no live setting %s", name)
			continue
		}
		got, want := Defaults(Machine{}), Defaults(Machine{})
		if err := k.set(&got, k.Default); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s set to its default %q is another setting, or %v", name, k.Default, err)
		}
	}
}

func TestParseSite(t *testing.T) {
	inForce := settingsOf(t, Site{Values: map[string]string{"lockout-after": "9"}}, "max-timeout: 30s\nmemory: 1GiB\nrateLimits: {graphQLMaxDepth: 7}",
		map[string]string{"TRAWL_MCP": "false"}, map[string]string{"log-level": "warn", "listen": ":1"})
	for _, c := range []struct {
		contents string
		want     string // Site.JSON, or a part of the error
	}{
		{`{}`, `{"rateLimits":{},"values":{}}`},
		{`{"lockout-after": 9}`, `{"rateLimits":{},"values":{"lockout-after":"9"}}`},
		{`{"lockout-after": 5}`, `{"rateLimits":{},"values":{}}`}, // the default
		{"{\n// for tests\n\"slow-query\": \"1s\",}", `{"rateLimits":{},"values":{"slow-query":"1s"}}`},
		{`{"access-token-days": [7, 30], "rename-self": false}`, `{"rateLimits":{},"values":{"access-token-days":"7,30","rename-self":"false"}}`},
		{`{"rateLimits": {"graphqlMaxAliases": 3, "graphQLMaxDepth": 7, "graphQLMaxFieldCount": 500000}}`, `{"rateLimits":{"graphQLMaxAliases":3},"values":{}}`},
		// What is said elsewhere stays there, and may be repeated.
		{`{"max-timeout": "30000ms", "mcp": false, "log-level": "warn", "memory": "1024MiB", "listen": ":1"}`, `{"rateLimits":{},"values":{}}`},
		{`{"max-timeout": "31s"}`, "max-timeout is set at /etc/trawl.yaml:1: change it there"},
		{`{"mcp": true}`, "mcp is set at TRAWL_MCP: change it there"},
		{`{"log-level": "info"}`, "log-level is set at --log-level: change it there"},
		{`{"memory": "2GiB"}`, "memory is set at /etc/trawl.yaml:2: change it there"},
		{`{"rateLimits": {"graphQLMaxDepth": 8}}`, "graphQLMaxDepth is 7 in /etc/trawl.yaml: change it there"},
		{`{"max-text-bytes": "1MiB"}`, "max-text-bytes takes effect when the server starts: set it in the configuration file, as TRAWL_MAX_TEXT_BYTES, or as --max-text-bytes"},
		{`{"allow-local-sources": true}`, "allow-local-sources takes effect when the server starts"},
		{`{"audit-entries": 1}`, "audit-entries takes effect when the server starts"},
		{`{"externalURL": "https://evil.example"}`, "external-url takes effect when the server starts"},
		// Nonsense.
		{`{"slow-query": "soon"}`, `slow-query: "soon" is no length of time`},
		{`{"slow-query": {}}`, "slow-query: expected one value"},
		{`{"slow-query": null}`, "slow-query: expected one value"},
		{`{"lockout-after": 1e300}`, "lockout-after: expected one value"},
		{`{"lockout-after": 1.5}`, "lockout-after: expected one value"},
		{`{"access-token-days": [[7]]}`, "access-token-days: expected a list of values"},
		{`{"slow-querry": "1s"}`, `unknown key "slow-querry": did you mean "slow-query"?`},
		{`{"nothing-like-it": 1}`, `unknown key "nothing-like-it": known are max-timeout`},
		{`{"rateLimits": []}`, "rateLimits: expected keys with values"},
		{`{"rateLimits": {"graphQLMaxWidth": 8}}`, `rateLimits: unknown key "graphQLMaxWidth"`},
		{`{"rateLimits": {"graphQLMaxDepth": 0}}`, `graphQLMaxDepth: "0" is no limit`},
		{`{"rateLimits": {"graphQLMaxAliases": 3, "graphqlmaxaliases": 4}}`, "stands here twice"},
		{`[]`, "cannot unmarshal"},
		{`{`, "unexpected EOF"},
		{``, "unexpected EOF"},
		{strings.Repeat(`{"a":`, 20000), "deep"},
	} {
		got := ""
		site, err := ParseSite(c.contents, &inForce)
		if err == nil {
			got, err = site.JSON()
		}
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%.80s: got %s; want %s", c.contents, got, c.want)
		}
	}
}

// TestSiteOf: what was stored is read again, but for what this program does not take.
func TestSiteOf(t *testing.T) {
	site, problems := SiteOf(`{"values": {"slow-query": "7s", "memory": "1GiB", "gone": "1", "max-timeout": "soon"}, "rateLimits": {"graphQLMaxDepth": 9, "graphQLMaxAliases": -1}}`)
	if text, err := site.JSON(); err != nil || text != `{"rateLimits":{"graphQLMaxDepth":9},"values":{"slow-query":"7s"}}` || len(problems) != 3 {
		t.Errorf("got %s, %v and problems %q", text, err, problems)
	}
	if _, problems := SiteOf("{"); len(problems) != 1 {
		t.Errorf("problems of no JSON are %q", problems)
	}
	if site, problems := SiteOf(""); len(site.Values) != 0 || len(problems) != 0 {
		t.Errorf("nothing stored is %v, %q", site, problems)
	}
}

// TestFollow: live settings are in force, in the order of their places; others wait.
func TestFollow(t *testing.T) {
	s := settingsOf(t, Site{}, "max-timeout: 20s\nhistory-diffs: 7", nil, map[string]string{"log-level": "warn"})
	site := Site{Values: map[string]string{"max-timeout": "9s", "slow-query": "7s", "log-level": "debug"}}
	site.RateLimits.Depth = 9
	for _, step := range []struct {
		site             Site
		file             string
		changes, waiting []string
	}{
		{site, "max-timeout: 20s\nhistory-diffs: 7", []string{"slow-query: 5s -> 7s", "graphQLMaxDepth: 30 -> 9"}, nil},
		{site, "history-diffs: 8\nbackup: {to: /b, every: 1h}", []string{"max-timeout: 20s -> 9s"}, []string{"history-diffs", "backup"}},
		{site, "max-timeout: 9000ms\nrateLimits: {graphQLMaxDepth: 4}", []string{"graphQLMaxDepth: 9 -> 4"}, []string{"history-diffs"}},
		{Site{}, "history-diffs: 7", []string{"max-timeout: 9000ms -> 1m", "slow-query: 7s -> 5s", "graphQLMaxDepth: 4 -> 30"}, nil},
	} {
		next := settingsOf(t, step.site, step.file, nil, map[string]string{"log-level": "warn"})
		changes, waiting := s.Follow(&next)
		if !slices.Equal(changes, step.changes) || !slices.Equal(waiting, step.waiting) {
			t.Errorf("%s: changes %q, waiting %q; want %q, %q", step.file, changes, waiting, step.changes, step.waiting)
		}
		if s.LogLevel != "warn" || s.HistoryDiffs != 7 {
			t.Errorf("%s: log level %s, diffs %d are in force", step.file, s.LogLevel, s.HistoryDiffs)
		}
	}
	if o := s.Origins["slow-query"]; o.Place != PlaceDefault {
		t.Errorf("slow-query is from %+v in the end", o)
	}
}
