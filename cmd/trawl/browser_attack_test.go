package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// evil is a page of a stranger, opened in a browser in which ann, a site admin,
// is signed in at SITE. It lies on the same machine, so that the browser
// sends her cookie along: only the server stands in the way.
const evil = `<!DOCTYPE html><meta charset="utf-8"><title>evil</title>
<iframe name="hole"></iframe>
<iframe src="SITE/users/ann/settings/tokens"></iframe>
<img src="SITE/-/sign-out">
<script>
const form = (path, fields) => {
	const f = document.createElement("form")
	f.method = "post"; f.action = "SITE" + path; f.target = "hole"
	for (const [name, value] of Object.entries(fields)) {
		const i = document.createElement("input")
		i.name = name; i.value = value; f.append(i)
	}
	document.body.append(f)
	f.submit()
}
const read = async (path, options) => {
	try { return path + " " + (await (await fetch("SITE" + path, {credentials: "include", ...options})).text()) } catch { return "" }
}
window.attack = async () => {
	const posts = [
		["/users/ann/settings/tokens", {note: "evil", days: "7", sudo: "yes"}],
		["/users/ann/searches", {query: "evil"}], ["/users/ann/jobs", {query: "evil"}], ["/users/ann/contexts", {name: "evil", query: "repo:evil"}],
		["/users/ann/settings/profile", {displayName: "evil"}],
		["/site-admin/users", {name: "evil", siteAdmin: "yes"}],
		["/site-admin/users/bob/admin", {siteAdmin: "yes"}],
		["/site-admin/users/bob/delete", {confirm: "bob"}],
		["/-/sign-out", {}],
	]
	for (const [path, fields] of posts) {
		form(path, fields)
		await new Promise(done => document.querySelector("iframe").addEventListener("load", done, {once: true}))
		await read(path, {method: "POST", mode: "no-cors", body: new URLSearchParams(fields)})
		await read(path, {method: "POST", mode: "no-cors", headers: {"Content-Type": "text/plain"}, body: JSON.stringify(fields)})
	}
	const query = JSON.stringify({query: "mutation { createUser(username: \"evil\") { user { id } } }"})
	const told = []
	for (const [path, options] of [
		["/users/ann/settings/tokens"], ["/users/ann/searches"], ["/users/ann/jobs"], ["/users/ann/contexts"], ["/site-admin/users"], ["/search/stream?q=glaze"], ["/.api/search/stream?q=glaze"], ["/debug/console"],
		["/.api/mcp", {method: "POST", headers: {"Content-Type": "text/plain", "Accept": "*/*"}, body: JSON.stringify({jsonrpc: "2.0", id: 1, method: "tools/list"})}],
		["/.api/graphql", {method: "POST", body: query}],
		["/.api/graphql", {method: "POST", body: query, headers: {"X-Requested-With": "evil"}}],
		["/.api/graphql", {method: "POST", body: JSON.stringify({query: "{ currentUser { username } }"})}],
	]) told.push(await read(path, options))
	return told.join("\n")
}
</script>`

// A page of a stranger does nothing and reads nothing, by the session that a
// real browser sends along.
func TestBrowserAttack(t *testing.T) {
	s := newSite(t, repository(t, "kiln"))
	s.user("ann", "--admin")
	s.user("bob")
	s.signIn("ann")
	audit := func() string {
		t.Helper()
		var stdout, stderr bytes.Buffer
		if err := run(t.Context(), []string{"audit", "list"}, strings.NewReader(""), &stdout, &stderr); err != nil {
			t.Fatalf("audit list: %v\n%s", err, &stderr)
		}
		return stdout.String()
	}
	before := audit()
	stranger := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, strings.ReplaceAll(evil, "SITE", s.url))
	}))
	t.Cleanup(stranger.Close)
	tab := s.open("/search")
	tab.do(chromedp.Navigate(stranger.URL))
	told := eval[string](tab, `attack()`)
	for _, secret := range []string{"glaze", "ann", "Access tokens", "kiln"} {
		for line := range strings.Lines(told) {
			if _, body, _ := strings.Cut(line, " "); strings.Contains(body, secret) {
				t.Errorf("the stranger read %q in %.200s", secret, line)
			}
		}
	}
	if after := audit(); after != before {
		t.Errorf("the stranger did something:\nbefore\n%s\nafter\n%s", before, after)
	}
	tab.do(chromedp.Navigate(s.url + "/user/searches"))
	tab.until(`location.pathname === "/users/ann/searches" && document.querySelector("#searches") === null`)
	tab.do(chromedp.Navigate(s.url + "/user/jobs"))
	tab.until(`location.pathname === "/users/ann/jobs" && document.querySelector("#jobs") === null`)
	tab.do(chromedp.Navigate(s.url + "/user/contexts"))
	tab.until(`location.pathname === "/users/ann/contexts" && document.querySelector("#contexts") === null`)
	tab.do(chromedp.Navigate(s.url + "/user/settings"))
	tab.until(`location.pathname === "/users/ann/settings"`)
	// the same is done from our own page
	if got := eval[int](tab, fmt.Sprintf(`fetch(%q, {method: "POST", body: new URLSearchParams({note: "mine", days: "7"})}).then(r => r.status)`,
		"/users/ann/settings/tokens")); got != http.StatusOK {
		t.Errorf("our own page got %d", got)
	}
}
