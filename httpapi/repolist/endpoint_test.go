package repolist_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/code"
	"github.com/trawlsearch/trawl/httpapi/repolist"
	"github.com/trawlsearch/trawl/httpapi/worldtest"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a server with lab/kiln, which is indexed, lab/secret, which only ann may
// see, and 120 others that are not indexed.
type world struct{ *worldtest.World }

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{worldtest.New(t, worldtest.Options{})}
	kiln := w.Git("kiln")
	kiln.Write("main.go", "package main\n\nfunc main() {}\n")
	kiln.Write("x.py", "pass\n")
	kiln.Commit("Begin")
	for i := range 120 {
		w.AddSource(fmt.Sprintf("many/r%03d=https://git.example.org/many/r%03d.git", i, i))
	}
	w.AddSource("lab/secret=https://git.example.org/lab/secret.git")
	w.AddGit("kiln")
	stars, description := 12_345, `<img src=x onerror=alert(1)> "fires" `+strings.Repeat("clay ", 200)
	w.Facts("lab/kiln", store.FactsChange{Stars: &stars, Description: &description})
	w.Sync("lab/kiln")
	w.Users(identity.NewUser{Name: "ann"})
	w.Readers("lab/secret", "user:ann")
	s := &httpapi.Server{Gate: w.Gate, Log: zerolog.Nop(), Admission: httpapi.NewAdmission(2, 64<<20), ExternalURL: "https://example.org/under"}
	e := &repolist.Endpoint{Store: func() *store.Store { return w.Store }, Pages: s, Languages: &code.Languages{}}
	s.Extra = e.Routes()
	w.Listen(s.Handler())
	return w
}

func (w *world) get(query, user string) (int, string) {
	w.Helper()
	resp, body := w.Send(http.MethodGet, repolist.Path+query, "", w.As(user)...)
	return resp.StatusCode, body
}

func TestPage(t *testing.T) {
	w := newWorld(t)
	for query, want := range map[string][]string{
		"": {"121 repositories", `href="/under/lab/kiln"><bdi>lab/kiln`, "12,345", "&lt;img src=x onerror=alert(1)&gt;", "<td>Go</td>", "@main", "1&ndash;50 of 121",
			`<a rel="next" href="/under/-/repositories?from=50">`, "not indexed yet", "never"},
		"?from=100":          {"101&ndash;121 of 121", `<a rel="prev" href="/under/-/repositories?from=50">`},
		"?from=99999":        {"101&ndash;121 of 121"},
		"?from=x":            {"1&ndash;50 of 121"},
		"?q=KILN":            {"1 repository found", "lab/kiln"},
		"?q=r01&sort=name":   {"10 repositories found", `name="sort" value="name"`, `href="/under/-/repositories?q=r01&amp;sort=name" aria-current="true"`},
		"?q=fires+clay":      {"1 repository found"},
		"?q=nowhere":         {"0 repositories found", "No name and no description has that."},
		`?q="><script>`:      {`value="&#34;&gt;&lt;script&gt;"`},
		"?q=%ff%00":          {"found"},
		"?sort=lag":          {"121 repositories"},
		"?sort=x%22&q=%22x":  {"0 repositories found"},
		"?sort=name&from=50": {"51&ndash;100 of 121", "sort=name"},
	} {
		status, body := w.get(query, "")
		if status != http.StatusOK {
			t.Errorf("%s: %d %.300s", query, status, body)
		}
		for _, part := range want {
			if !strings.Contains(body, part) {
				t.Errorf("%s: the page has no %s:\n%.3000s", query, part, body[strings.Index(body, "<main"):])
			}
		}
		if strings.Contains(body, "<img") || strings.Contains(body, "lab/secret") || len(body) > 100_000 {
			t.Errorf("%s: the page of %d bytes has what it must not", query, len(body))
		}
	}
}

// Nobody is told of a repository that they may not see, not by a number either.
func TestPageHides(t *testing.T) {
	w := newWorld(t)
	if _, body := w.get("?q=secret", ""); !strings.Contains(body, "0 repositories found") {
		t.Errorf("others find it: %.3000s", body)
	}
	if _, body := w.get("?q=secret", "ann"); !strings.Contains(body, "1 repository found") || !strings.Contains(body, `<bdi>lab/secret</bdi></a> <span class="badge">private`) {
		t.Errorf("ann does not find it: %.3000s", body)
	}
}
