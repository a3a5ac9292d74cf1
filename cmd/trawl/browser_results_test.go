package main

import (
	"strings"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// What is chosen about the list holds, and a list is found again where it was left.
func (s *site) searchView() {
	t := s.search("slip")
	t.do(chromedp.Click(chromedp.CSS(`[data-show=shut]`)))
	t.until(`document.querySelectorAll("#results > article").length === 1 && document.querySelectorAll("#results .line").length === 0`)
	t.do(chromedp.Click(chromedp.CSS(`[data-show=capped]`)))
	t.until(`document.querySelectorAll("#results .hit").length === 5`)
	if n := eval[int](t, `document.querySelectorAll("#results .line").length`); n != 15 {
		s.Errorf("five matches with a line around each take %d lines", n)
	}
	for _, c := range []struct {
		around string
		lines  int
	}{{"0", 5}, {"3", 20}} {
		t.do(chromedp.SetValue(chromedp.CSS("#cl"), c.around))
		t.until(`new URLSearchParams(location.search).get("cl") === "` + c.around + `" && document.getElementById("told")?.textContent.startsWith("40 results")`)
		if n := eval[int](t, `document.querySelectorAll("#results .line").length`); n < c.lines || n > 5*7 {
			s.Errorf("with %s lines around the page has %d lines", c.around, n)
		}
	}

	t.do(chromedp.Click(chromedp.CSS(".toggle")))
	t.until(`document.querySelectorAll("#results .hit").length === 40`)
	eval[bool](t, `(scrollTo({top: 1500, behavior: "instant"}), true)`)
	t.until(`history.state?.at?.[1] > 0`)
	t.do(chromedp.Navigate(s.url + "/help"))
	t.leave(`history.back()`)
	t.until(`location.pathname === "/search" && history.state?.at && document.getElementById("told")?.textContent.startsWith("40 results")`)
	t.quiet()
}

// A match far along a line is seen, with what is around it, on a phone too.
func (s *site) searchLong() {
	for _, width := range []int64{1280, 375} {
		t := s.open("/search")
		t.do(chromedp.EmulateViewport(width, 800))
		t.do(chromedp.Navigate(s.url + "/search?q=celadon"))
		t.until(`document.getElementById("told")?.textContent.startsWith("2 results")`)
		seen := eval[string](t, `(mark => {
			const box = mark.getBoundingClientRect()
			const top = document.elementFromPoint((box.left + box.right) / 2, (box.top + box.bottom) / 2)
			return [mark.textContent, top === mark, box.right <= innerWidth, document.documentElement.scrollWidth <= innerWidth].join()
		})(document.querySelector("mark"))`)
		if seen != "celadon,true,true,true" {
			s.Errorf("%d wide: the match in the long line is %s", width, seen)
		}
		line := eval[string](t, `document.querySelector(".hit code").textContent`)
		if !strings.Contains(line, "½½ celadon ½½") || len([]rune(line)) > 400 {
			s.Errorf("%d wide: the line is %q", width, line)
		}
		if got := eval[string](t, `document.querySelector(".hit code").className`); got != "before behind" {
			s.Errorf("%d wide: the line is marked %q as cut", width, got)
		}
		// the page of the file shows the part of the line that has it
		t.do(chromedp.Click(chromedp.CSS("#results h3 .path")))
		t.until(`/[?&]L\d+:\d+/.test(location.search) && [...CSS.highlights?.get("found-now") ?? []].join() === "celadon"`)
		if got := eval[string](t, `document.querySelector(".early").textContent + " " + document.querySelector(".left:not(.early)").textContent`); !strings.Contains(got, "bytes before") || !strings.Contains(got, "more bytes") {
			s.Errorf("%d wide: beside the part of the line is %q", width, got)
		}
		t.quiet()
	}
}

// endless is a server that finds 30,000 files: each with eight matches far apart, and one
// with 20,000 more. It sends 500 at a time, 80 MB in all. It counts the workers
// that the page starts from then on.
const endless = `(window.workers = 0, window.Worker = class extends Worker { constructor(...a) { super(...a); workers++ } }, new Response(new ReadableStream({ sent: 0, pull(stream) {
	const chunk = line => ({content: "before\nlime " + line + "\nbehind \u00fc\n", contentStart: {offset: 0, line: line - 1, column: 0},
		ranges: [{start: {offset: 0, line, column: 0}, end: {offset: 0, line, column: 4}}], unknown: "x".repeat(120)})
	const file = i => ({type: "content", path: "f/" + i + ".go", repository: "lab/lime", branches: [""], commit: "c", language: "Go",
		chunkMatches: Array.from({length: i === 20000 ? 20008 : 8}, (_, k) => chunk(10 * k + 1))})
	const event = (name, data) => {
		const bytes = new TextEncoder().encode("event: " + name + "\ndata: " + JSON.stringify(data) + "\n\n")
		for (let at = 0; at < bytes.length; at += 60001) stream.enqueue(bytes.slice(at, at + 60001))
	}
	if (this.sent < 30000) return event("matches", Array.from({length: 500}, () => file(this.sent++)))
	event("progress", {done: true, matchCount: 260000, repositoriesCount: 1, durationMs: 1, skipped: []})
	event("done", {})
	stream.close()
} }), {headers: {"Content-Type": "text/event-stream"}}))`

// shownAt is the first article that is in the window, whole or in part.
const shownAt = `[...document.querySelectorAll("#results > article")].find(a => a.getBoundingClientRect().bottom > 0)`

// Where no other worker starts, the first one keeps the answer.
func (s *site) searchWithOneWorker() {
	t := s.open("/sign-in", answering(strings.Replace(endless, "super(...a)", `super("/nothing.js", a[1])`, 1)))
	t.do(chromedp.Navigate(s.url + "/search?q=lime+count:all"))
	t.until(`told.textContent.startsWith("260,000 results")`)
	t.until(`workers === 2`) // one before the end was to take over, and one at the end
	t.scrolls(kb.End, `document.querySelector("article[aria-posinset='30000'] .path")?.textContent === "f/29999.go"`)
}

// All results can be reached, and the page holds those only that are near the window.
func (s *site) searchEndless() {
	t := s.open("/sign-in", answering(endless))
	t.do(chromedp.Navigate(s.url + "/search?q=lime+count:all"))
	t.until(`told.textContent.startsWith("260,000 results")`)
	few := func(when string) {
		s.Helper()
		t.until(`document.querySelectorAll("article.blank").length === 0`)
		if n := eval[int](t, `document.querySelectorAll("#results .line").length`); n == 0 || n > 1000 {
			s.Errorf("%s: the page has %d lines", when, n)
		}
		if n := eval[int](t, `document.querySelectorAll("#results > article").length`); n == 0 || n > 120 {
			s.Errorf("%s: the page has %d results", when, n)
		}
		if !eval[bool](t, `[...document.querySelectorAll("#results > article")].every(a => a.querySelector(".path").textContent === "f/" + (a.ariaPosInSet - 1) + ".go"
			&& !a.textContent.includes("\ufffd"))`) {
			s.Errorf("%s: results are not what was sent", when)
		}
	}
	few("at first")
	t.until(`workers === 2`) // one took over before the end, and one at the end

	// the end of the scroll bar is the last result; the page does not scroll before that
	// movement is over, which would end it and the next
	eval[bool](t, `(window.early = 0, (() => {
		const own = scrollTo, ends = () => { window.scrollTo = own }
		window.scrollTo = (...to) => { early++; own(...to) }
		addEventListener("scrollend", ends, { once: true })
	})(), true)`)
	t.scrolls(kb.End, `(e => e && e.getBoundingClientRect().bottom <= innerHeight)(document.querySelector("article[aria-posinset='30000']"))`)
	few("at the end")
	if n := eval[int](t, `early`); n != 0 {
		s.Errorf("the page scrolled %d times while End led to its end", n)
	}
	t.scrolls(kb.Home, `(e => e?.getBoundingClientRect().top > 0)(document.querySelector("article[aria-posinset='1']"))`)

	// steps lead through all in between, one after the other
	seen := eval[int](t, `(async () => {
		const frame = () => new Promise(requestAnimationFrame)
		let last = 0
		for (let k = 0; k < 30; k++) {
			scrollBy({top: 0.8 * innerHeight, behavior: "instant"})
			do { await frame(); await frame() } while (!`+shownAt+` || document.querySelector("article.blank"))
			const at = Number(`+shownAt+`.ariaPosInSet)
			if (at < last || at > last + 8) return -at
			last = at
		}
		return last
	})()`)
	if seen < 30 {
		s.Errorf("30 steps lead to result %d", seen)
	}

	// open, every match is there: the last of the largest file, too
	t.do(chromedp.Click(chromedp.CSS(`[data-show=open]`)))
	t.until(`document.querySelectorAll(".toggle").length > 0 && [...document.querySelectorAll(".toggle")].every(b => b.textContent === "Show fewer")`)
	few("open")
	last := eval[bool](t, `(async () => {
		const frame = () => new Promise(requestAnimationFrame)
		const drawn = async () => { do { await frame(); await frame() } while (!`+shownAt+` || document.querySelector("article.blank")) }
		let low = 0, high = document.getElementById("results").offsetHeight
		while (high - low > 4 * innerHeight) {
			const middle = (low + high) / 2
			scrollTo({top: middle, behavior: "instant"})
			await drawn()
			const first = `+shownAt+`, at = Number(first.ariaPosInSet)
			if (at > 20001 || at === 20001 && first.getBoundingClientRect().bottom < innerHeight) high = middle
			else low = middle
		}
		scrollTo({top: low, behavior: "instant"})
		for (let k = 0; k < 60; k++) {
			await drawn()
			if (document.querySelector("article[aria-posinset='20001']")?.innerText.includes("lime 200071")) return true
			scrollBy({top: innerHeight / 2, behavior: "instant"})
		}
		return false
	})()`)
	if !last {
		s.Errorf("the last match of the largest file is not there, but %q", eval[string](t, shownAt+`.innerText.slice(-200)`))
	}
	few("in the largest file")

	t.do(chromedp.Click(chromedp.CSS(`[data-show=shut]`)))
	t.until(`document.querySelectorAll("#results > article").length > 0 && document.querySelectorAll("#results .line").length === 0`)
	t.quiet()
}
