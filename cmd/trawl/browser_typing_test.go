package main

import (
	"context"
	"fmt"

	"github.com/chromedp/cdproto/cdp"
	keyinput "github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// watched has a tab keep which queries were searched for and read. A search for what
// sessionStorage.busy says is refused; one for what sessionStorage.held says ends when
// release is called, even if the page does not want it any more.
func watched() step {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: `
			const ask = window.fetch
			Object.assign(window, { streams: [], readings: [], announced: [] })
			const held = q => new Response(new ReadableStream({ start(stream) {
				window.release = () => {
					const event = (name, data) => stream.enqueue(new TextEncoder().encode("event: " + name + "\ndata: " + JSON.stringify(data) + "\n\n"))
					event("matches", [{type: "path", repository: "r", path: q}])
					event("progress", {done: true, matchCount: 1, durationMs: 1, skipped: []})
					event("done", {})
					stream.close()
				}
			} }), {headers: {"Content-Type": "text/event-stream"}})
			window.fetch = async (address, how) => {
				const at = new URL(address, location), q = at.searchParams.get("q")
				if (at.pathname.endsWith("/search/stream")) {
					streams.push(q)
					if (q === sessionStorage.busy) return new Response("too many searches", {status: 429})
					if (q === sessionStorage.held) return held(q)
				}
				const answer = await ask(address, how)
				if (at.pathname.endsWith("/search/parse")) readings.push(q)
				return answer
			}
			addEventListener("DOMContentLoaded", () => new MutationObserver(records => records.forEach(({target}) => target.id === "told" && announced.push(target.textContent)))
				.observe(document.body, {childList: true, subtree: true}))`})
		return err
	})
}

// write writes a text at the caret, at once.
func (t *tab) write(text string) {
	t.Helper()
	call(t, keyinput.InsertText, keyinput.InsertTextParams{Text: text})
}

// shows waits for the page of a query with its results.
func (t *tab) shows(query, told string) {
	t.Helper()
	t.until(fmt.Sprintf(`new URLSearchParams(location.search).get("q") === %q && document.getElementById("told")?.textContent.startsWith(%q)`, query, told))
}

// searched waits until the server has read a query, and then for longer than typing pauses.
// Whether it was searched for is what it reports.
func (t *tab) searched(query string) bool {
	t.Helper()
	t.until(fmt.Sprintf(`readings.includes(%q)`, query))
	return eval[bool](t, fmt.Sprintf(`new Promise(done => setTimeout(() => done(streams.includes(%q)), 1500))`, query))
}

// Results follow what is typed.
func (s *site) searchTyping() {
	t := s.open("/search?q=slip", watched())
	t.shows("slip", "40 results")
	entries := eval[int](t, `(window.same = true, q.focus(), q.select(), history.length)`)
	t.write("celadon")
	t.shows("celadon", "2 results")
	here := func(caret int) {
		s.Helper()
		if got := eval[string](t, `[document.activeElement.id, q.selectionStart, q.selectionEnd, window.same, history.length].join()`); got != fmt.Sprintf("q,%d,%d,true,%d", caret, caret, entries) {
			s.Errorf("after typing the focus, the caret, the page and the history are %s", got)
		}
	}
	here(7)
	eval[bool](t, `(q.setSelectionRange(0, 0), true)`)
	t.write("file:wide ")
	t.shows("file:wide celadon", "2 results")
	here(10)
	t.until(titles + `.join() === "wide.txt" && document.title.startsWith("file:wide celadon") && document.querySelector("#results .path").search.includes("file%3Awide")`)
	if got := eval[int](t, `announced.filter(text => text.includes("result")).length`); got != 3 {
		s.Errorf("three searches were announced %d times: %q", got, eval[[]string](t, `announced`))
	}
	if bad := append(eval[[]string](t, unreadable), inaccessible(t)...); len(bad) > 0 {
		s.Errorf("after typing: %q", bad)
	}

	if got := eval[string](t, `[...document.querySelectorAll("#keep a")].map(a => new URL(a.href).searchParams.get("query")).join("|")`); got != "patternType:keyword file:wide celadon|patternType:keyword file:wide celadon" {
		s.Errorf("after typing what is kept is %q", got)
	}

	// Enter leads to a page of its own, and back from it to the search before
	t.keys(kb.Enter)
	t.until(`!window.same`)
	t.shows("file:wide celadon", "2 results")
	t.leave(`history.back()`)
	t.until(`window.q?.value === "slip" && document.querySelectorAll("#results .hit").length === 5`)
	t.shows("slip", "40 results")
	t.quiet()

	s.typingBegins()
	s.typingWaits()
	s.typingLate()
	s.typingRefused()
}

// The first search needs no Enter, and proposals stay while results come.
func (s *site) typingBegins() {
	t := s.open("/search", watched())
	t.until(`q.role === "combobox" && document.activeElement.id === "q"`)
	t.write("sl")
	if t.searched("sl") {
		s.Error("two letters were searched for")
	}
	t.write("ip re")
	t.until(`proposals.children.length === 2`)
	t.keys(kb.ArrowDown)
	t.until(`q.getAttribute("aria-activedescendant") && document.getElementById("told")?.textContent`)
	t.until(`document.querySelector("#proposals [aria-selected]")?.textContent.startsWith("repo:") && document.activeElement.id === "q"`)
	t.keys(kb.Tab)
	t.until(`q.value === "slip repo:" && proposals.innerText.includes("hostile")`)
	t.write("hos")
	t.shows("slip repo:hos", "40 results")
	t.until(`document.getElementById("welcome").hidden && !proposals.hidden`)
	t.keys(kb.Escape, kb.Escape)
	t.until(`document.activeElement.matches("#results .path")`)
	t.quiet()
}

// What costs much, what is wrong and what a person does not want waits for Enter.
func (s *site) typingWaits() {
	t := s.open("/search?q=slip", watched())
	t.shows("slip", "40 results")
	for _, query := range []string{"type:diff heats", "heats count:all", "/[a-z]+ef/", "heats langg:go", "heats fork:maybe"} {
		eval[bool](t, `(q.focus(), q.select(), true)`)
		t.write(query)
		if t.searched(query) {
			s.Errorf("%q did not wait for Enter", query)
		}
	}
	eval[bool](t, `(q.focus(), q.select(), true)`)
	t.write("type:diff heats")
	t.keys(kb.Enter)
	t.shows("type:diff heats", "1 result")

	t.do(chromedp.Click(chromedp.CSS("#typing")))
	for range 2 { // the browser remembers it
		t.do(chromedp.Navigate(s.url + "/search?q=slip"))
		t.shows("slip", "40 results")
		t.until(`!typing.checked`)
		eval[bool](t, `(q.focus(), q.select(), true)`)
		t.write("celadon")
		if t.searched("celadon") {
			s.Error("what is typed is searched for, though it is not wanted")
		}
	}
	t.do(chromedp.Click(chromedp.CSS("#typing")))
	eval[bool](t, `(q.focus(), q.select(), true)`)
	t.write("glazes")
	t.shows("glazes", "1 result")
	t.quiet()
}

// The older of two searches never takes the place of the newer, and what is shown stays
// until there is something else.
func (s *site) typingLate() {
	t := s.open("/search?q=slip", watched())
	t.shows("slip", "40 results")
	eval[bool](t, `(sessionStorage.held = "older", q.focus(), q.select(), true)`)
	t.write("older")
	t.until(`streams.includes("older") && summary.innerText.startsWith("Searching")`)
	if got := eval[string](t, titles+`.join() + new URLSearchParams(location.search).get("q")`); got != "kiln.goslip" {
		s.Errorf("before there are results the page shows %q", got)
	}
	eval[bool](t, `(q.select(), true)`)
	t.write("celadon")
	t.shows("celadon", "2 results")
	eval[bool](t, `(release(), true)`)
	if got := eval[string](t, `new Promise(done => setTimeout(() => done(`+titles+`.join() + told.textContent.slice(0, 9) + new URLSearchParams(location.search).get("q")), 1000))`); got != "wide.txt2 resultsceladon" {
		s.Errorf("after the end of the older search the page shows %q", got)
	}

	// what was asked for before is there again, without a search that is late
	eval[bool](t, `(q.select(), true)`)
	t.write("older")
	t.until(`streams.filter(q => q === "older").length === 2`)
	eval[bool](t, `(q.select(), true)`)
	t.write("celadon")
	t.until(`summary.innerText.startsWith("2 results")`)
	t.quiet()
}

// A search that is refused says so after Enter, not over what is shown.
func (s *site) typingRefused() {
	t := s.open("/search?q=slip", watched())
	t.shows("slip", "40 results")
	eval[bool](t, `(sessionStorage.busy = "celadon", q.focus(), q.select(), true)`)
	t.write("celadon")
	if !t.searched("celadon") {
		t.until(`streams.includes("celadon")`)
	}
	t.until(`summary.innerText.startsWith("40 results")`)
	if got := eval[string](t, titles+`.join() + document.getElementById("alert").innerText + new URLSearchParams(location.search).get("q")`); got != "kiln.goslip" {
		s.Errorf("after a search that was refused the page shows %q", got)
	}
	t.keys(kb.Enter)
	t.until(`document.getElementById("alert")?.innerText.includes("too many searches")`)
}
