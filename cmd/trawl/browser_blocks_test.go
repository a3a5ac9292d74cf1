package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// Lines are laid out in blocks. Keys lead from one to the next, a line that the address
// names is found in any of them, and their columns stand below each other.
func TestBrowserBlocks(t *testing.T) {
	dir := repository(t, "long")
	var text strings.Builder
	for n := range 250 {
		fmt.Fprintf(&text, "glaze%d %s\n", n+1, strings.Repeat("x", n%90))
	}
	wide := text.String() + strings.Repeat("wide", 1000) + "\n"
	commitFiles(t, dir, map[string]string{"long.txt": text.String(), "wide.txt": wide, "short.txt": strings.Repeat("clay\n", 1000)})
	s := newSite(t, dir)
	tab := s.open("/long/-/blob/long.txt?L100")
	at := func(line int) {
		t.Helper()
		tab.until(fmt.Sprintf(`document.activeElement.closest("tr")?.id === "L%d"`, line))
		tab.until(fmt.Sprintf(`(b => b.top >= 0 && b.bottom <= innerHeight)(document.getElementById("L%d").getBoundingClientRect())`, line))
	}
	at(100)
	tab.keys("j")
	at(101)
	tab.keys("k", "k")
	at(99)
	tab.do(chromedp.Navigate(s.url + "/long/-/blob/long.txt?L249"))
	at(249)
	tab.keys("j", "j")
	at(250)
	// nothing stays as wide as the window has been
	tab.do(chromedp.Navigate(s.url + "/long/-/blob/short.txt"))
	tab.scrolls(kb.End, `document.getElementById("L1000").getBoundingClientRect().bottom <= innerHeight`)
	tab.scrolls(kb.Home, `document.getElementById("L1").getBoundingClientRect().top >= 0`)
	const spill = `(s => s.scrollWidth - s.clientWidth)(document.querySelector(".scroll:has(#source)"))`
	tab.until(spill + " === 0")
	tab.do(chromedp.EmulateViewport(900, 700))
	tab.until(`innerWidth === 900 && ` + spill + " === 0")

	tab.do(chromedp.Navigate(s.url + "/long/-/blob/wide.txt?L250"))
	at(250)
	if got := eval[string](tab, `[...new Set([...document.querySelectorAll("#source tr")].map(row => [row.getBoundingClientRect(), row.cells[0].getBoundingClientRect()].map(b => Math.round(b.width)).join("/")))].join()`); strings.Contains(got, ",") {
		t.Errorf("rows and their numbers are %s wide, want all the same", got)
	}
	tab.quiet()
}
