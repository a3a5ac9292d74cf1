package main

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

func TestBrowserConsole(t *testing.T) {
	s := newSite(t, hostileRepository(t))
	s.user("ann")
	s.signIn("ann")
	t.Run("run", func(t *testing.T) { s.in(t).consoleRun() })
	t.Run("address", func(t *testing.T) { s.in(t).consoleAddress() })
	t.Run("documentation", func(t *testing.T) { s.in(t).consoleDocumentation() })
	t.Run("events", func(t *testing.T) { s.in(t).consoleEvents() })
	t.Run("signed out", func(t *testing.T) { s.in(t).consoleSignedOut() })
}

// answered is what the console shows as the answer, without white space.
const answered = `[...document.querySelectorAll(".result-window .CodeMirror-line")].map(e => e.textContent).join("").replace(/\s/g, "")`

// console opens the console with a request in its address, and runs it.
func (s *site) console(query, variables string) *tab {
	s.Helper()
	state := fmt.Sprintf(`{"query":%q,"variables":%q}`, query, variables)
	t := s.open("/debug/console#" + url.PathEscape(state))
	t.until(`document.querySelector(".graphiql-execute-button")`)
	return t
}

// A request runs as who is signed in, by the keyboard too, and nothing in an
// answer is more than text.
func (s *site) consoleRun() {
	t := s.console("{ currentUser { username } }", "")
	t.do(chromedp.Click(chromedp.CSS(".graphiql-execute-button")))
	t.until(answered + ` === '{"data":{"currentUser":{"username":"ann"}}}'`)
	for _, mode := range []string{"light", "dark"} {
		call(t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: mode}}})
		if bad := inaccessible(t); len(bad) > 0 {
			s.Errorf("%s: axe finds %q", mode, bad)
		}
	}
	t.quiet()

	t = s.console("query($query: String!) { search(query: $query) { results { results { ... on FileMatch { file { path content } } } } } }", `{"query": "glaze"}`)
	t.do(chromedp.Click(chromedp.CSS(".graphiql-query-editor .CodeMirror")), chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(kb.ModifierCtrl)))
	t.until(answered + `.includes("onerror=")`)
	if eval[bool](t, `"pwned" in window`) || eval[int](t, `document.querySelectorAll(".result-window img").length`) > 0 {
		s.Error("an answer became part of the page")
	}
	t.quiet()

	// an error is shown, one that is no JSON too
	t = s.console("{ nothing }", "")
	t.do(chromedp.Click(chromedp.CSS(".graphiql-execute-button")))
	t.until(answered + `.includes("errors")`)
}

// What is edited stands in the address, and an address is edited again.
func (s *site) consoleAddress() {
	t := s.open("/api/console?x=1#" + url.PathEscape(`{"query":"{ site { id } }","variables":"{\"a\":1}"}`))
	t.until(`location.pathname === "/debug/console" && document.querySelector(".graphiql-query-editor .CodeMirror")?.textContent.includes("site")`)
	t.until(`document.querySelector(".graphiql-editor-tool .CodeMirror")?.textContent.includes('  "a": 1')`)
	t.do(chromedp.Click(chromedp.CSS(".graphiql-query-editor .CodeMirror")), chromedp.KeyEvent(kb.End), chromedp.KeyEvent(" # more"))
	t.until(`decodeURIComponent(location.hash).includes("# more")`)

	t.do(chromedp.Click(`//nav[@aria-label="Examples"]/a[text()="Count matches"]`))
	t.until(`document.querySelector(".graphiql-query-editor .CodeMirror").textContent.includes("matchCount")`)
	t.do(chromedp.Click(chromedp.CSS(".graphiql-execute-button")))
	t.until(answered + `.includes('"matchCount":')`)
	t.quiet()
}

// The documentation is open at first, and leads from type to type; dialogs
// keep to the policy.
func (s *site) consoleDocumentation() {
	t := s.open("/search") // where nothing writes to the storage
	t.do(chromedp.Evaluate[chromedp.Void](`localStorage.clear()`), chromedp.Navigate(s.url+"/debug/console"))
	t.until(`[...document.querySelectorAll(".graphiql-doc-explorer-type-name")].some(e => e.textContent === "Query")`)
	t.do(chromedp.Click(`//a[contains(@class, "graphiql-doc-explorer-type-name")][text()="Query"]`))
	t.until(`document.querySelector(".graphiql-doc-explorer").textContent.includes("currentUser")`)
	tabs := eval[string](t, `[...document.querySelectorAll(".graphiql-tab-button")].map(e => e.textContent.trim()).join()`)
	if tabs != "Start,WhoAmI,CountMatches,FindLines,Repositories,Version" {
		s.Errorf("the tabs are %s", tabs)
	}
	t.do(chromedp.Click(chromedp.CSS(`button[aria-label="Open settings dialog"]`)))
	t.until(`document.querySelector("[role=dialog]")`)
	t.keys(kb.Escape)
	t.until(`!document.querySelector("[role=dialog]")`)
	t.quiet()
}

// Raw events are shown as they come, and as text.
func (s *site) consoleEvents() {
	t := s.open("/debug/stream")
	t.until(`document.activeElement.id === "q"`)
	t.do(chromedp.KeyEvent("glaze" + kb.Enter))
	t.until(`document.getElementById("state")?.textContent.endsWith("bytes.")`)
	names := eval[string](t, `[...document.querySelectorAll("#events code")].map(e => e.textContent).join()`)
	if !strings.Contains(names, "filters,matches,") || !strings.HasSuffix(names, "progress,done") {
		s.Errorf("the events are %s", names)
	}
	if got := eval[string](t, `curl.textContent`); !strings.Contains(got, "--data-urlencode 'q=glaze'") || !strings.Contains(got, "'cm=true'") || strings.Contains(got, "display") {
		s.Errorf("the command is %s", got)
	}
	if eval[bool](t, `"pwned" in window`) || eval[int](t, `document.querySelectorAll("#events img, #events script").length`) > 0 {
		s.Error("an event became part of the page")
	}
	if bad := inaccessible(t); len(bad) > 0 {
		s.Errorf("axe finds %q", bad)
	}
	t = s.open("/debug/stream?q=a&display=ten")
	t.until(`document.getElementById("state")?.textContent.endsWith("bytes.")`)
	if got := eval[string](t, `events.innerText`); !strings.Contains(got, "display must be an integer") {
		s.Errorf("the events of a bad parameter are %s", got)
	}
	t.quiet()
}

// Who is signed out meanwhile is told so.
func (s *site) consoleSignedOut() {
	t := s.console("{ currentUser { username } }", "")
	out := s.open("/search")
	out.do(chromedp.Click(chromedp.CSS(`.bar form button`)))
	out.until(`location.pathname === "/sign-in"`)
	t.do(chromedp.Click(chromedp.CSS(".graphiql-execute-button")))
	t.until(answered + `.includes("Privatemoderequiresauthentication.")`)
	t.until(`!document.getElementById("signed-out").hidden`)
	if got := s.open("/debug/stream?q=x"); eval[string](got, `location.pathname`) != "/sign-in" {
		s.Error("the events are not shown")
	}
}
