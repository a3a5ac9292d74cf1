package main

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestBrowserKept has what people keep of their searches.
func TestBrowserKept(t *testing.T) {
	s := newSite(t, repository(t, "kiln"), repository(t, "oven"))
	s.user("ann", "--admin")
	t.Run("saved searches", func(t *testing.T) { s.in(t).savedSearches() })
	t.Run("search contexts", func(t *testing.T) { s.in(t).searchContexts() })
	t.Run("search jobs", func(t *testing.T) { s.in(t).searchJobs() })
}

// send posts a form from a page of this server, and returns the status and path that it led to.
func (t *tab) send(path string, pairs ...string) string {
	t.Helper()
	values := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		values.Set(pairs[i], pairs[i+1])
	}
	return eval[string](t, fmt.Sprintf(`fetch(%q, {method: "POST", body: new URLSearchParams(%q)}).then(r => r.status + " " + new URL(r.url).pathname)`, path, values.Encode()))
}

// keepSearches signs ann in and has her save a search and begin a job.
func (s *site) keepSearches() {
	s.Helper()
	t := s.signIn("ann")
	if got := t.send("/users/ann/searches", "query", `"<b>glaze`, "description", "What is <i>glazed</i>"); got != "200 /users/ann/searches" {
		s.Fatalf("save a search: %s", got)
	}
	if got := t.send("/users/ann/jobs", "query", "<b>glaze"); got != "200 /users/ann/jobs" {
		s.Fatalf("begin a search job: %s", got)
	}
	if got := t.send("/users/ann/contexts", "name", "glazes", "query", "repo:hostile", "description", "<b>Glazes"); got != "200 /users/ann/contexts" {
		s.Fatalf("make a search context: %s", got)
	}
}

// accept says yes to all that the page asks.
func (t *tab) accept() {
	t.Helper()
	if err := chromedp.Listen(t.ctx, func(event any) {
		if _, ok := event.(*page.EventJavascriptDialogOpening); ok {
			go func() {
				_, _ = chromedp.Call(t.ctx, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: true})
			}()
		}
	}); err != nil {
		t.Fatal(err)
	}
}

// A search is saved from its page, run, changed and deleted with the keyboard, and
// without scripts.
func (s *site) savedSearches() {
	s.signIn("ann")
	t := s.open("/search?q=glaze&patternType=regexp&case=yes")
	t.accept()
	t.do(chromedp.Focus(chromedp.CSS("#keep a")))
	t.keys(kb.Enter)
	t.until(`location.pathname === "/users/ann/searches" && document.getElementById("query")?.value === "patternType:regexp glaze case:yes"`)
	t.do(chromedp.Focus(chromedp.CSS("#description")))
	t.keys("<b>Glazes", kb.Enter)
	t.until(`document.querySelector("[role=status]")?.textContent === "The search is saved."`)
	if got := eval[string](t, `searches.tBodies[0].rows[0].innerText.replace(/\s+/g, " ")`); !strings.HasPrefix(got, "<b>Glazes patternType:regexp glaze case:yes ann ") {
		s.Errorf("the list says %q", got)
	}
	t.do(chromedp.Focus(chromedp.CSS("#searches a")))
	t.keys(kb.Enter)
	t.until(`location.pathname === "/search" && document.getElementById("told")?.textContent.startsWith("2 results")`)
	t.do(chromedp.Navigate(s.url+"/user/searches"), chromedp.Focus(chromedp.CSS("#searches .button")))
	t.keys(kb.Enter)
	t.until(`location.pathname === "/users/ann/searches/1" && document.getElementById("description")?.value === "<b>Glazes"`)

	// all of it works without scripts
	call(t, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	t.do(chromedp.SetValue(chromedp.CSS("#description"), "<b>Glazes again"), chromedp.Click(chromedp.CSS("form.stack button")))
	t.until(`document.querySelector("[role=status]")?.textContent === "Saved."`)
	t.do(chromedp.Navigate(s.url + "/users/ann/searches"))
	t.until(`document.querySelector("#searches a")?.textContent === "<b>Glazes again"`)
	t.do(chromedp.Navigate(s.url+"/users/ann/searches/1"), chromedp.SetValue(chromedp.CSS("#slack"), "https://chat.example.org/secret"))
	t.do(chromedp.Click(chromedp.CSS("form[action$='/monitor'] button")))
	t.until(`document.querySelector("[role=status]")?.textContent === "The search is monitored." && document.getElementById("slack").value === "https://chat.example.org/\u2026"`)
	call(t, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{})

	t.do(chromedp.Navigate(s.url + "/users/ann/searches/1"))
	t.until(`document.querySelector("form[action$='/unmonitor'] button")`)
	if bad := append(eval[[]string](t, unreadable), inaccessible(t)...); len(bad) > 0 {
		s.Errorf("the page of a monitor: %q", bad)
	}
	t.do(chromedp.Navigate(s.url+"/users/ann/searches"), chromedp.Focus(chromedp.CSS("#searches .danger")))
	t.keys(kb.Enter)
	t.until(`document.querySelector("[role=status]")?.textContent === "The search is deleted."`)
	t.quiet()
}

// A job is begun from the search page; its progress moves, and what it found is
// downloaded.
func (s *site) searchJobs() {
	s.signIn("ann")
	t := s.open("/search?q=glaze+count:7")
	t.accept()
	t.do(chromedp.Focus(chromedp.CSS("#keep a:last-child")))
	t.keys(kb.Enter)
	t.until(`location.pathname === "/users/ann/jobs" && document.getElementById("query")?.value === "patternType:keyword glaze"`)
	t.do(chromedp.Focus(chromedp.CSS("form.stack button")))
	t.keys(kb.Enter)
	t.until(`document.querySelector("#jobs [data-of=state]")?.textContent === "done"`)
	if got := eval[string](t, `jobs.tBodies[0].rows[0].innerText.replace(/\s+/g, " ")`); !strings.HasPrefix(got, "patternType:keyword glaze done 2 of 2 ") {
		s.Errorf("the list says %q", got)
	}
	t.do(chromedp.Focus(chromedp.CSS("#jobs a")))
	t.keys(kb.Enter)
	t.until(`location.pathname === "/users/ann/jobs/1" && document.querySelector("#steps td")?.innerText === "kiln"`)
	for _, c := range [][2]string{{".jsonl", `"path":"a.txt"`}, {".log", "kiln,"}} {
		if got := eval[string](t, `fetch(document.querySelector("a[href$='`+c[0]+`']").href).then(r => r.text())`); !strings.Contains(got, c[1]) {
			s.Errorf("%s: got %q, want %q in it", c[0], got, c[1])
		}
	}
	t.do(chromedp.Focus(chromedp.CSS("main .danger")))
	t.keys(kb.Enter)
	t.until(`document.querySelector("[role=status]")?.textContent === "The search job is deleted."`)

	// a page that is open follows
	if got := t.send("/users/ann/jobs", "query", "glaze"); got != "200 /users/ann/jobs" {
		s.Fatal(got)
	}
	t.do(chromedp.Navigate(s.url + "/users/ann/jobs/2"))
	t.until(`document.querySelector("[data-of=state]")?.textContent === "done" && document.querySelector("a[href$='.jsonl']") !== null`)
	t.quiet()
}

// A context is made, chosen on the search page, used by default, and deleted.
func (s *site) searchContexts() {
	s.signIn("ann")
	t := s.open("/user/contexts")
	t.accept()
	t.until(`location.pathname === "/users/ann/contexts"`)
	t.do(chromedp.Focus(chromedp.CSS("#name")))
	t.keys("ovens", kb.Tab, "<b>Hot", kb.Tab, "oven", kb.Tab, kb.Tab, kb.Tab, kb.Tab, kb.Enter)
	t.until(`document.querySelector("[role=status]")?.textContent === "The search context is there."`)

	t.do(chromedp.Navigate(s.url + "/search?q=glaze"))
	t.until(`document.getElementById("told").textContent.startsWith("2 results")`)
	t.do(chromedp.Focus(chromedp.CSS("#context")))
	t.keys("@")
	t.until(`new URLSearchParams(location.search).get("context") === "@ann/ovens" && document.getElementById("told")?.textContent.startsWith("1 result in 1 repository")`)

	t.do(chromedp.Navigate(s.url+"/users/ann/contexts"), chromedp.Focus(chromedp.CSS("#contexts button")))
	t.keys(kb.Enter)
	t.until(`document.querySelector("#contexts .good")?.textContent === "default"`)
	t.do(chromedp.Navigate(s.url + "/search"))
	t.until(`document.getElementById("context")?.value === "@ann/ovens"`)

	t.do(chromedp.Navigate(s.url+"/users/ann/contexts/1"), chromedp.Focus(chromedp.CSS("main .danger")))
	t.keys(kb.Enter)
	t.until(`document.querySelector("[role=status]")?.textContent === "The search context is deleted."`)
	t.do(chromedp.Navigate(s.url + "/search?q=glaze&context=@ann/ovens"))
	t.until(`document.getElementById("alert").innerText.includes("search context \"@ann/ovens\" not found")`)
	t.quiet()
}
