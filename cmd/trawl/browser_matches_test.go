package main

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// What was searched for is marked in the file, and any text can be found in it: in the
// whole file, whatever part of it the page has.
func TestBrowserMatches(t *testing.T) {
	dir := repository(t, "kiln")
	long := strings.Repeat("clay\n", 3000) + "½\u202e glaze 𝄞 Glaze\n" + strings.Repeat("clay\n", 5000) + "<script>glaze</script> a(b) \"c\" and\n"
	commitFiles(t, dir, map[string]string{"long.txt": long, "odd$(name)/[x] \"y\".txt": "glaze or glaze\n", "wide.txt": strings.Repeat("x", 5000) + "glaze\n"})
	s := newSite(t, dir)
	tab := s.open("/search?q=repo:kiln+glaze+file:long")
	tab.until(`document.querySelector("#results .hit .no")`)
	marked := `[...(CSS.highlights.get("found") ?? [])].map(r => r.toString()).join()`
	now := `[...(CSS.highlights.get("found-now") ?? [])].map(r => r.toString()).join()`
	told := `document.getElementById("find-told").textContent`

	// from a result: all letter cases, and the next one on another page of the file
	tab.do(chromedp.Click("#results .hit .no"))
	tab.until(`location.pathname === "/kiln/-/blob/long.txt" && location.search.startsWith("?L3001&q=") && ` + told + ` === "1 of 3 matches of the search"`)
	if got := eval[string](tab, marked+` + "|" + `+now); got != "glaze,Glaze|glaze" {
		t.Errorf("marked are %q", got)
	}
	tab.keys("n")
	tab.until(told + ` === "2 of 3 matches of the search" && ` + now + ` === "Glaze"`)
	tab.keys("n")
	tab.until(`location.search.startsWith("?L8002&q=") && ` + told + ` === "3 of 3 matches of the search" && ` + now + ` === "glaze"`)
	tab.keys("n")
	tab.until(`location.search.startsWith("?L3001&q=") && ` + told + ` === "1 of 3 matches of the search"`)
	tab.keys("p")
	tab.until(`location.search.startsWith("?L8002&q=") && ` + told + ` === "3 of 3 matches of the search"`)

	// a text to find takes their place, as it stands
	tab.do(chromedp.SendKeys("#find-text", `a(b) "c" AND`))
	tab.until(told + ` === "1 of 1" && ` + now + ` === 'a(b) "c" and'`)
	if got := eval[string](tab, `new URLSearchParams(location.search).get("find") + [...new URLSearchParams(location.search).keys()].join()`); got != `a(b) "c" ANDL8002,find` {
		t.Errorf("the address is %q", got)
	}
	if bad := inaccessible(tab); len(bad) > 0 {
		t.Errorf("axe finds %q", bad)
	}
	for _, mode := range []string{"light", "dark"} {
		call(tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: mode}}})
		for _, width := range []int64{1280, 375} {
			tab.do(chromedp.EmulateViewport(width, 800))
			if bad := eval[[]string](tab, unreadable); len(bad) > 0 {
				t.Errorf("%s and %d wide: %q", mode, width, bad)
			}
		}
	}
	tab.do(chromedp.EmulateViewport(1280, 800), chromedp.Click("#find-case"))
	tab.until(told + ` === "No matches"`)
	tab.keys(kb.Escape)

	// by keyboard alone, in a file with an odd name and at a revision
	tab.do(chromedp.Navigate(s.url + "/kiln@main/-/blob/odd$(name)/%5Bx%5D%20%22y%22.txt"))
	tab.until(`document.getElementById("tools")?.hidden === false`)
	tab.press("f")
	tab.until(`document.activeElement.id === "find-text"`)
	tab.keys("glaze")
	tab.until(told + ` === "1 of 2" && new URLSearchParams(location.search).get("find") === "glaze"`) // not what was found for a part of it
	tab.keys(kb.Enter)
	tab.until(told + ` === "2 of 2"`)
	tab.keys(" or")
	tab.until(told + ` === "1 of 1" && ` + now + ` === "glaze or"`)
	tab.keys(kb.Escape)
	tab.until(`document.getElementById("find").hidden && location.search === "" && ` + marked + ` === ""`)

	// A match far to the right comes into sight.
	tab.do(chromedp.Navigate(s.url + "/kiln/-/blob/wide.txt?L1&q=glaze"))
	tab.until(told + ` === "1 of 1 matches of the search" && (box => box.left > 0 && box.right < innerWidth)([...CSS.highlights.get("found-now")][0].getBoundingClientRect())`)
	tab.quiet()
}
