package web_test

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/web"
	"github.com/trawlsearch/trawl/store/identity"
)

var testPages = web.NewTemplates(fstest.MapFS{
	"p/_shared.html": {Data: []byte(`{{define "shared"}}<b>{{.}}</b>{{end}}`)},
	"p/one.html":     {Data: []byte(`{{define "title"}}One {{.Data}}{{end}}{{define "main"}}{{template "shared" .Data}}{{end}}`)},
	"p/two.html":     {Data: []byte(`{{define "title"}}Two{{end}}{{define "main"}}{{.Data.Nothing}}{{end}}`)},
}, "p", nil)

// serve renders a page and sends it.
func serve(w http.ResponseWriter, r *http.Request, v web.View) error {
	p, err := testPages.Render(r, v, nil, nil)
	if err == nil {
		p.Send(w, 0, nil)
	}
	return err
}

func TestServe(t *testing.T) {
	for _, c := range []struct {
		what  string
		actor auth.Actor
		view  web.View
		want  []string
		never []string
	}{
		{"nobody", auth.Actor{}, web.View{Data: "<&>", Users: true, Here: "/search"},
			[]string{"<title>One &lt;&amp;&gt; - trawl</title>", "<b>&lt;&amp;&gt;</b>", `href="/sign-in">Sign in`, `href="/search" aria-current="page"`},
			[]string{"Sign out", "Settings"}},
		{"no sign-in", auth.Actor{}, web.View{}, nil, []string{"Sign in", "Sign out"}},
		{"a user", auth.Actor{User: &identity.User{Name: `a"<b>`}}, web.View{Users: true},
			[]string{`<span class="who">a&#34;&lt;b&gt;</span>`, "Sign out", "Settings"}, []string{"Sign in"}},
		{"below a path", auth.Actor{}, web.View{Base: "/code", Scripts: []string{"forms.js"}, Classic: []string{"x.js"}, Styles: []string{"search.css"}},
			[]string{`data-base="/code"`, `src="/code/-/assets/` + web.AssetVersion() + `/forms.js"`, `type="module"`, `x.js" nonce="`, `search.css" nonce="`},
			[]string{`="/-/`, `="/search"`}},
		{"a sidebar", auth.Actor{}, web.View{Here: "/b", Side: []web.Group{{Title: "G", Links: []web.Link{{Title: "A", Path: "/a"}, {Title: "B", Path: "/b"}}}}},
			[]string{`<h2>G</h2>`, `<a href="/a">A</a>`, `<a href="/b" aria-current="page">B</a>`, `<nav class="side" aria-label="Settings">`}, nil},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		w := httptest.NewRecorder()
		c.view.Page = "one.html"
		if err := serve(w, r.WithContext(auth.WithActor(r.Context(), &c.actor)), c.view); err != nil {
			t.Errorf("%s: %v", c.what, err)
		}
		page := w.Body.String()
		for _, want := range c.want {
			if !strings.Contains(page, want) {
				t.Errorf("%s: the page has no %s:\n%s", c.what, want, page)
			}
		}
		for _, never := range c.never {
			if strings.Contains(page, never) {
				t.Errorf("%s: the page has %s:\n%s", c.what, never, page)
			}
		}
	}
}

func TestPolicy(t *testing.T) {
	policy := func(v web.View) string {
		w := httptest.NewRecorder()
		v.Page = "one.html"
		if err := serve(w, httptest.NewRequest("GET", "/", nil), v); err != nil {
			t.Fatal(err)
		}
		return w.Header().Get("Content-Security-Policy")
	}
	nonce := regexp.MustCompile(`nonce-\w{26}`)
	first := policy(web.View{})
	const want = "base-uri 'none'; connect-src 'self'; default-src 'none'; form-action 'self'; frame-ancestors 'none'; " +
		"img-src 'self'; script-src 'N'; style-src 'N'"
	if got := nonce.ReplaceAllString(first, "N"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if nonce.FindString(first) == nonce.FindString(policy(web.View{})) {
		t.Error("two answers have the same nonce")
	}
	more := nonce.ReplaceAllString(policy(web.View{Policy: map[string]string{"font-src": "data:", "style-src": "'self'"}}), "N")
	if !strings.Contains(more, "font-src data:; ") || !strings.HasSuffix(more, "style-src 'N' 'self'") {
		t.Errorf("with more allowed the policy is %s", more)
	}
}

// A page that cannot be rendered is an error, of which nothing was sent.
func TestServeBroken(t *testing.T) {
	for _, name := range []string{"two.html", "none.html", "_shared.html"} {
		w := httptest.NewRecorder()
		if err := serve(w, httptest.NewRequest("GET", "/", nil), web.View{Page: name, Data: 1}); err == nil || w.Body.Len() > 0 {
			t.Errorf("%s: error %v, and %q was sent", name, err, w.Body)
		}
	}
}

// No script makes markup of text, and none asks another server.
func TestScriptsMakeNoMarkup(t *testing.T) {
	never := regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|\beval\(|new Function|https?://`)
	err := fs.WalkDir(os.DirFS("assets"), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".js") {
			return err
		}
		if strings.HasPrefix(name, "vendor/") {
			return nil
		}
		text, err := os.ReadFile("assets/" + name)
		if found := never.FindString(string(text)); found != "" {
			t.Errorf("%s has %s", name, found)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
