package main

import (
	"context"
	"strings"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// What broke is told, and is not taken for an answer.
func (s *site) searchBroken() {
	for what, c := range map[string]struct{ answer, want string }{
		"cut off":   {`new Response("event: progress\ndata: {\"done\":false,\"matchCount\":0,\"durationMs\":1,\"skipped\":[]}\n\n", {headers: {"Content-Type": "text/event-stream"}})`, "broke off"},
		"no stream": {`new Response("opening data directory", {status: 503})`, "opening data directory"},
		"sign in":   {`Object.defineProperty(new Response(""), "type", {value: "opaqueredirect"})`, "not signed in any more"},
		"nobody":    {`(() => { throw new TypeError("refused") })()`, "cannot be reached"},
	} {
		t := s.open("/sign-in", answering(c.answer))
		t.do(chromedp.Navigate(s.url + "/search?q=slip"))
		t.until(`told.textContent !== ""`)
		goOn := "Search again"
		if what == "sign in" {
			goOn = "Sign in again"
		}
		if got := eval[string](t, `summary.innerText + document.getElementById("alert").innerText`); !strings.Contains(got, "not everything was searched") || !strings.Contains(got, c.want) || !strings.Contains(got, goOn) {
			s.Errorf("%s: the page says %q, want in it %q and %q", what, got, c.want, goOn)
		}
		if what == "cut off" {
			t.do(chromedp.Click(chromedp.CSS("#alert button")))
			t.until(`performance.getEntriesByType("navigation")[0].type === "reload" && told.textContent !== ""`)
		}
	}
	s.searchStalled()
	s.findNotSearched()
	t := s.open("/search?q=slip", chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return err
	}))
	call(t, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{})
	if got := eval[string](t, `document.querySelector("noscript").innerText`); !strings.Contains(got, "curl -N") {
		s.Errorf("without scripts the page says %q", got)
	}

	// without scripts the results are a list
	t = s.open("/search?q=slip")
	call(t, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	t.do(chromedp.Navigate(s.url+"/search?q=slip&case=yes"), chromedp.Click(chromedp.CSS("noscript a")))
	call(t, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{})
	t.until(`location.pathname === "/search/list" && document.querySelectorAll(".listed mark").length > 0`)
	if got := eval[string](t, `document.getElementById("summary").innerText + "|" + document.querySelector(".listed .path").pathname + "|" + document.getElementById("case").checked`); got != "40 results in 1 repository, listed 1 to 1|/hostile/-/blob/kiln.go|true" {
		s.Errorf("without scripts: %q", got)
	}
}

// Of a server of which nothing is heard any more the page says so, also of a search that
// typing began on a page without an answer.
func (s *site) searchStalled() {
	const stalled = `(() => {
		const later = window.setTimeout
		window.setTimeout = (what, wait) => later(what, wait > 9000 ? 900 : wait)
		const text = "event: progress\ndata: {\"done\":false,\"matchCount\":3,\"durationMs\":1,\"skipped\":[]}\n\n"
		return new Response(new ReadableStream({start: stream => stream.enqueue(new TextEncoder().encode(text))}), {headers: {"Content-Type": "text/event-stream"}})
	})()`
	for _, page := range []string{"/search?q=slip", "/search"} {
		t := s.open("/sign-in", answering(stalled))
		t.do(chromedp.Navigate(s.url + page))
		if page == "/search" {
			t.until(`document.getElementById("q") === document.activeElement`)
			t.write("slip")
		}
		t.until(`document.getElementById("summary")?.textContent === "3+ results so far, but nothing has come for 15 seconds Search again" && !document.getElementById("stop").hidden`)
		t.quiet()
	}
}

// What was not searched for a text to find in a file is not said not to be there.
func (s *site) findNotSearched() {
	t := s.open("/sign-in", answering(`new Response('event: progress\ndata: {"done":true,"matchCount":0,"durationMs":1,"skipped":[{"reason":"document-too-large","title":"1 file too large"}]}\n\nevent: done\ndata: {}\n\n', {headers: {"Content-Type": "text/event-stream"}})`))
	t.do(chromedp.Navigate(s.url + "/hostile/-/blob/kiln.go?find=nowhere"))
	t.until(`document.getElementById("find-told")?.textContent === "Not searched: 1 file too large"`)
}
