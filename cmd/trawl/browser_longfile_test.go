package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestBrowserLongFile: a text of any length is read by scrolling, both ways, and the page
// holds a few windows of it. Lines that it does not hold any more come back.
func TestBrowserLongFile(t *testing.T) {
	dir := repository(t, "long")
	var text strings.Builder
	for n := range 32_000 {
		fmt.Fprintf(&text, "glaze%d\n", n+1)
	}
	commitFiles(t, dir, map[string]string{"long.txt": text.String()})
	s := newSite(t, dir)
	tab := s.open("/long/-/blob/long.txt?L16000&q=glaze16&patternType=literal")
	const rows = `[...document.querySelectorAll("#source tr")].map(row => Number(row.id.slice(1)))`
	whole := func() {
		t.Helper()
		if got := eval[string](tab, `(n => n.every((line, i) => line === n[0] + i) && n[0] == source.dataset.first && n.at(-1) == source.dataset.last ? "" : n[0] + "-" + n.at(-1) + " of " + n.length)(`+rows+`)`); got != "" {
			t.Errorf("the page has lines %s, want all between, as many as it says", got)
		}
		if n := eval[int](tab, rows+`.length`); n > 20_000 {
			t.Errorf("the page holds %d lines, want 20,000 at most", n)
		}
	}
	seen := func(line int) string {
		return fmt.Sprintf(`(row => row && (b => b.top >= 0 && b.bottom <= innerHeight)(row.getBoundingClientRect()))(document.getElementById("L%d"))`, line)
	}
	scroll := func(row string) {
		t.Helper()
		eval[bool](tab, row+`.scrollIntoView() === undefined`)
	}
	tab.until(seen(16000) + ` && document.getElementById("find-told").textContent.includes(" of ")`) // which scrolls to a match
	// the line in view stays there while others come before and behind it
	scroll(`document.getElementById("L19999")`)
	tab.until(rows + `.includes(20001)`)
	tab.until(seen(19999))
	whole()
	tab.until(`CSS.highlights.has("found")`)
	for line := 20_000; line < 32_000; line += 5000 {
		scroll(fmt.Sprintf(`document.getElementById("L%d")`, line))
		tab.until(fmt.Sprintf(rows+`.includes(%d)`, min(line+5000, 32_000)))
		whole()
	}
	scroll(`document.getElementById("L32000")`)
	tab.until(`[...document.querySelectorAll('.pager a[rel="next"]')].every(a => a.hidden) && document.querySelector(".pager span").textContent.endsWith("32,000 of 32,000")`)
	if eval[bool](tab, rows+`.includes(10000)`) {
		t.Error("lines far away stay on the page")
	}
	for line := 15_001; line > 0; line -= 5000 {
		scroll(fmt.Sprintf(`[...document.querySelectorAll("#source tr")].find(row => Number(row.id.slice(1)) >= %d)`, line+1))
		tab.until(fmt.Sprintf(rows+`[0] <= %d`, max(line-5000, 1)))
		whole()
	}
	scroll(`document.getElementById("L1")`)
	tab.until(`document.querySelector(".pager span").textContent.startsWith("lines 1\u2013")`)
	tab.until(seen(1))

	// what cannot be fetched is a link away
	tab.do(chromedp.Navigate(s.url + "/long/-/blob/long.txt"))
	tab.until(`document.getElementById("L5000")`)
	eval[bool](tab, `window.fetched = 0, window.fetch = () => (window.fetched++, Promise.resolve(new Response("", { status: 503 }))), document.getElementById("L5000").scrollIntoView() === undefined`)
	tab.until(`window.fetched === 1`)
	tab.leave(`[...document.querySelectorAll('.pager a[rel="next"]')].at(-1).click()`)
	tab.until(`location.search === "?from=5001" && document.getElementById("L5001")`)
	tab.quiet()
}
