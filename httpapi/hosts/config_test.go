package hosts_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/httpapi/hosts"
	"github.com/trawlsearch/trawl/internal/hosttest"
	"github.com/trawlsearch/trawl/store/ingest"
)

func TestSources(t *testing.T) {
	tests := []struct{ config, want string }{
		{`{"url": "https://git.example.org", "repos": ["lab/kiln", "lab/glaze.git"]}`,
			"git.example.org/lab/kiln https://git.example.org/lab/kiln, git.example.org/lab/glaze https://git.example.org/lab/glaze.git"},
		{`{"url": "https://git.example.org/base/", "repos": ["/lab/kiln"], /* why */ }`, "git.example.org/base/lab/kiln https://git.example.org/base/lab/kiln"},
		{`{"repos": ["https://a.example.org/x", "http://b.example.org:8080/y"]}`, "a.example.org/x https://a.example.org/x, b.example.org/y http://b.example.org:8080/y"},
		{`{"url": "https://me:pw@git.example.org", "repos": ["x"]}`, "git.example.org/x https://git.example.org/x"},
	}
	for _, tt := range tests {
		c, err := hosts.ParseConfig("OTHER", tt.config)
		if err != nil {
			t.Errorf("%s: %v", tt.config, err)
			continue
		}
		list, err := c.List(t.Context(), &hosts.Clients{}, 1, nil)
		left := list.Left
		var got []string
		for _, listed := range list.Repositories {
			s := listed.Source
			if !s.Guarded || !s.Remote {
				t.Errorf("%s: source %+v is not guarded", tt.config, s)
			}
			got = append(got, s.Name+" "+s.Location)
		}
		if g := strings.Join(got, ", "); g != tt.want || err != nil || left != nil {
			t.Errorf("%s:\n got %s, %v, %v\nwant %s", tt.config, g, left, err, tt.want)
		}
	}
}

func TestConfigErrors(t *testing.T) {
	tests := []struct{ kind, config, want string }{
		{"PERFORCE", `{}`, "kind PERFORCE are not supported"},
		{"OTHER", `{`, "no JSON"},
		{"OTHER", `[]`, "no JSON object"},
		{"OTHER", `{"url": 1, "repos": ["x"]}`, "url is text"},
		{"OTHER", `{"url": "https://x", "repos": "y"}`, "repos a list"},
		{"OTHER", `{"url": "https://x"}`, "names no repository"},
		{"OTHER", `{"url": "https://x", "repos": ["a"], "exclude": []}`, "Additional property exclude is not allowed"},
		{"OTHER", `{"repos": ["src-serve-local"]}`, "url is missing"},
		{"OTHER", strings.Repeat(" ", 300<<10), "longer than"},
		// what would not be fetched over HTTP
		{"OTHER", `{"url": "ssh://git@x", "repos": ["a"]}`, "begins with https"},
		{"OTHER", `{"url": "file:///etc", "repos": ["a"]}`, "begins with https"},
		{"OTHER", `{"url": "ext::sh -c id", "repos": ["a"]}`, "begins with https"},
		{"OTHER", `{"repos": ["git@x:y"]}`, "cannot be used"},
		{"OTHER", `{"repos": ["/etc"]}`, "begins with https"},
		{"OTHER", `{"repos": ["file::/etc"]}`, "begins with https"},
		{"OTHER", `{"url": "https://x", "repos": ["ext::sh -c id"]}`, "no path of a repository"},
		{"OTHER", `{"url": "https://x", "repos": ["file:///etc"]}`, "begins with https"},
		// options
		{"OTHER", `{"url": "--upload-pack=x", "repos": ["a"]}`, "begins with https"},
		{"OTHER", `{"url": "https://-x", "repos": ["a"]}`, "names no host"},
		{"OTHER", `{"url": "https://x", "repos": ["--upload-pack=y"]}`, "no path of a repository"},
		{"OTHER", `{"url": "https://x/base", "repos": ["../other"]}`, "leads out of the service"},
		{"OTHER", `{"url": "https://x?a=b", "repos": ["a"]}`, "more than an address"},
		{"OTHER", `{"url": "https://x", "repos": ["a?b"]}`, "no path of a repository"},
		{"OTHER", `{"url": "https://me:secret@x:99999999", "repos": ["a b"]}`, ""},
	}
	for _, tt := range tests {
		_, err := hosts.ParseConfig(tt.kind, tt.config)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("ParseConfig(%s, %.80s) = %v, want %q in it", tt.kind, tt.config, err, tt.want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("ParseConfig(%s, %.80s) tells a password: %v", tt.kind, tt.config, err)
		}
	}
}

func TestAsk(t *testing.T) {
	var answer any
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/base/v1/list-repos" {
			http.NotFound(w, r)
			return
		}
		_ = json.NewEncoder(w).Encode(answer)
	}))
	defer s.Close()
	answer = map[string]any{"Items": []map[string]string{
		{"Name": "lab/kiln", "URI": "/repos/lab/kiln", "ClonePath": "/repos/lab/kiln"},
		{"URI": "/lab/glaze", "ClonePath": "/repos/lab/glaze/.git"},
		{"Name": "bad name", "ClonePath": "/repos/bad"},
		{"Name": "out", "ClonePath": "/../../x"},
		{"Name": "elsewhere", "ClonePath": "file:///etc"},
		{"Name": "-dash", "ClonePath": "/repos/dash"},
	}}
	for _, word := range []string{"src-serve", "src-serve-local"} {
		c, err := hosts.ParseConfig("OTHER", `{"url": "`+s.URL+`/base", "repos": ["`+word+`"]}`)
		if err != nil {
			t.Fatal(err)
		}
		sources, left, err := sourcesOf(t, c, hosts.Guard{AllowLocal: true})
		if err != nil || len(left) != 4 {
			t.Errorf("%s: left out %q, %v; want four", word, left, err)
		}
		got := fmt.Sprint(sources)
		want := "[{lab/kiln " + s.URL + "/base/repos/lab/kiln true true false false} {lab/glaze " + s.URL + "/base/repos/lab/glaze/.git true true false false}]"
		if got != want {
			t.Errorf("%s:\n got %s\nwant %s", word, got, want)
		}
	}
	c, err := hosts.ParseConfig("OTHER", `{"url": "`+s.URL+`/nothing", "repos": ["src-serve"]}`)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := sourcesOf(t, c, hosts.Guard{AllowLocal: true}); err == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("nothing there: got %v", err)
	}
	answer = "text"
	if c, err = hosts.ParseConfig("OTHER", `{"url": "`+s.URL+`/base", "repos": ["src-serve"]}`); err != nil {
		t.Fatal(err)
	}
	if _, _, err := sourcesOf(t, c, hosts.Guard{AllowLocal: true}); err == nil {
		t.Error("another answer: got nil, want an error")
	}
}

func FuzzParseConfig(f *testing.F) {
	f.Add(`{"url": "https://git.example.org", "repos": ["lab/kiln"]}`)
	f.Add(`{"repos": ["https://a@b/c", "ext::x"]}`)
	f.Fuzz(func(t *testing.T, text string) {
		c, err := hosts.ParseConfig("OTHER", text)
		_, _ = hosts.Restore(hosts.Redact(text), text)
		if err != nil || c.Asked || c.ReposURL != nil {
			return
		}
		sources, _, err := sourcesOf(t, c, hosts.Guard{})
		if err != nil {
			t.Errorf("%q: %v", text, err)
		}
		for _, s := range sources {
			if !s.Guarded || !strings.HasPrefix(s.Location, "http://") && !strings.HasPrefix(s.Location, "https://") {
				t.Errorf("%q: source %+v", text, s)
			}
		}
	})
}

// No source has the login of its configuration, which git gets at that address only.
func TestLogins(t *testing.T) {
	c, err := hosts.ParseConfig("OTHER", `{"url": "https://me:pw@git.example.org/base", "repos": ["x", "https://you:S3cr3t@b.example.org/y", "https://c.example.org/z"]}`)
	if err != nil {
		t.Fatal(err)
	}
	sources, _, err := sourcesOf(t, c, hosts.Guard{})
	if text := fmt.Sprint(sources); err != nil || len(sources) != 3 || strings.Contains(text, "pw") || strings.Contains(text, "S3cr3t") {
		t.Errorf("got %s, %v", text, err)
	}
	for source, want := range map[string]string{
		"https://git.example.org/base/x": "me:pw", "https://b.example.org/y": "you:S3cr3t", "https://b.example.org/other": "", "https://c.example.org/z": "", "http://b.example.org/y": "",
	} {
		got := ""
		if u := c.Git(source); u != nil {
			got = u.String()
		}
		if got != want {
			t.Errorf("%s: git signs in by %q, want %q", source, got, want)
		}
	}
}

// sourcesOf returns the sources of a service, and what it cannot take.
func sourcesOf(t *testing.T, c *hosts.Config, guard hosts.Guard) (sources []ingest.Source, left []string, err error) {
	t.Helper()
	clients := &hosts.Clients{Guard: guard}
	defer clients.Close()
	list, err := c.List(t.Context(), clients, 1, noneKnown{})
	for _, r := range list.Repositories {
		sources = append(sources, r.Source)
	}
	return sources, list.Left, err
}

type noneKnown struct{}

func (noneKnown) Parent(string) string { return "" }

// A code host names repositories, some of which the configuration chooses, and git
// signs in there only.
func TestCodeHost(t *testing.T) {
	server := hosttest.New(t, hosttest.GitHub, "ghp_secret")
	server.Put(hosttest.Repo{ID: 1, FullName: "acme/kiln", Stars: 3})
	server.Put(hosttest.Repo{ID: 2, FullName: "acme/glaze", Archived: true})
	server.Put(hosttest.Repo{ID: 3, FullName: "acme/-odd"})
	c, err := hosts.ParseConfig("GITHUB", `{"url": "`+server.URL+`", "token": "ghp_secret", "orgs": ["acme"], "exclude": [{"archived": true}],
		// the names of repositories
		"repositoryPathPattern": "hub/{nameWithOwner}"}`)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := sourcesOf(t, c, hosts.Guard{}); !errors.Is(err, hosts.ErrAddress) || !strings.Contains(err.Error(), "allow-local-sources") || server.Asked(0) != 0 {
		t.Errorf("a host on this machine: %v, want ErrAddress and the setting", err)
	}
	sources, left, err := sourcesOf(t, c, hosts.Guard{AllowLocal: true})
	if want := "[{hub/acme/kiln " + server.URL + "/acme/kiln.git true true false false} {hub/acme/-odd " + server.URL + "/acme/-odd.git true true false false}]"; fmt.Sprint(sources) != want || left != nil || err != nil {
		t.Errorf("got %v, left %q, %v\nwant %s", sources, left, err, want)
	}
	if u := c.Git(server.URL + "/acme/kiln.git"); u == nil || u.String() != "x-access-token:ghp_secret" {
		t.Errorf("git signs in by %s", u)
	}
	for _, other := range []string{"https://evil.example.com/x", strings.Replace(server.URL, "http:", "https:", 1) + "/acme/kiln.git", "http://127.0.0.1:1/acme/kiln.git"} {
		if u := c.Git(other); u != nil {
			t.Errorf("git signs in at %s", other)
		}
	}
}

func TestSecretsOfCodeHosts(t *testing.T) {
	full := `{"url": "https://github.com", "token": "ghp_secret", /* orgs */ "orgs": ["a"], "webhooks": [{"org": "a", "secret": "hidden-a"}, {"org": "b", "secret": "hidden-b"}], // old token: covert
}`
	shown := hosts.Redact(full)
	for _, secret := range []string{"ghp_secret", "hidden", "covert"} {
		if strings.Contains(shown, secret) {
			t.Errorf("%q is shown: %s", secret, shown)
		}
	}
	if !strings.Contains(shown, "/* orgs */") || strings.Count(shown, "REDACTED") != 3 {
		t.Errorf("got %s, want the comment and three words", shown)
	}
	changed := strings.Replace(strings.Replace(shown, `"a"]`, `"a", "c"]`, 1), `{"org": "a", "secret": "REDACTED"}, `, "", 1)
	if got, err := hosts.Restore(changed, full); err != nil || !strings.Contains(got, "ghp_secret") || !strings.Contains(got, "hidden-b") || strings.Contains(got, "hidden-a") {
		t.Errorf("Restore: got %s, %v", got, err)
	}
	for _, wrong := range []string{
		strings.Replace(shown, "https://github.com", "https://evil.example.com", 1), strings.Replace(shown, "https://github.com", "http://github.com", 1),
		strings.Replace(shown, `"orgs"`, `"url": "https://evil.example.com", "orgs"`, 1), strings.Replace(shown, `"org": "a"`, `"org": "z"`, 1),
	} {
		if got, err := hosts.Restore(wrong, full); err == nil || strings.Contains(got, "hidden") || strings.Contains(got, "ghp_") {
			t.Errorf("Restore of %s: got %s, %v; want an error", wrong, got, err)
		}
	}
	if _, err := hosts.Restore(shown, "{}"); err == nil {
		t.Error("a new configuration with the word for a token is taken")
	}
}
