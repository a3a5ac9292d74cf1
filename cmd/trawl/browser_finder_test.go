package main

import (
	"strconv"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/trawlsearch/trawl/internal/needs"
	"github.com/trawlsearch/trawl/store/ctags"
)

// Files are found by letters of their paths, in the repository or in all, by keyboard.
func TestBrowserFinder(t *testing.T) {
	kiln, other := repository(t, "kiln"), repository(t, "other")
	commitFiles(t, kiln, map[string]string{"src/firing/glaze_table.go": "package firing\n", "docs/glaze.md": "# Glaze\n", `x/"><img src=x onerror=alert(1)>.go`: "package x\n"})
	commitFiles(t, other, map[string]string{"lib/glaze_table.py": "pass\n"})
	s := newSite(t, kiln, other)
	tab := s.open("/kiln")
	for _, path := range []string{"/kiln", "/kiln/-/tree/src", "/kiln/-/blob/docs/glaze.md", "/kiln/-/commits"} {
		tab.do(chromedp.Navigate(s.url + path))
		tab.until(`document.getElementById("findfile")?.hidden === false`)
		tab.press("t")
		tab.until(`document.querySelector(".finder").open && document.activeElement.id === "find-file" && document.activeElement.value === ""`)
	}
	tab.keys("glztab")
	tab.until(`document.querySelectorAll(".finder li").length === 1 && document.querySelector(".finder li").innerText + " " + [...document.querySelectorAll(".finder mark")].map(m => m.textContent).join("") === "src/firing/glaze_table.go glztab"`)
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
	// all repositories, and the keys from the field to a file
	tab.do(chromedp.Click("#find-all"))
	tab.until(`document.querySelectorAll(".finder li").length === 2 && document.activeElement.id === "find-file"`)
	tab.keys(kb.ArrowDown, kb.ArrowDown)
	tab.until(`document.activeElement.closest(".finder li:nth-child(2)")`)
	tab.keys(kb.ArrowUp, kb.ArrowUp)
	tab.until(`document.activeElement.id === "find-file"`)
	tab.empty("#find-file")
	tab.do(chromedp.SendKeys("#find-file", "other glaze"))
	tab.until(`document.querySelectorAll(".finder li").length === 1 && document.querySelector(".finder li").innerText.includes("other")`)
	tab.keys(kb.Enter)
	tab.until(`location.pathname === "/other/-/blob/lib/glaze_table.py"`)

	// Names do nothing, an answer that is not there yet is waited for, Escape closes.
	tab.do(chromedp.Navigate(s.url + "/kiln@main"))
	tab.until(`document.getElementById("findfile")?.hidden === false`)
	tab.do(chromedp.Click("#findfile"))
	tab.keys("onerror")
	tab.until(`document.querySelectorAll(".finder li").length === 1`)
	tab.keys(kb.Escape)
	tab.until(`!document.querySelector(".finder").open`)
	tab.press("t")
	tab.keys("nosuchfile")
	tab.until(`document.querySelector(".finder [role=status]").textContent === "No path has these letters in this order."`)
	tab.empty("#find-file")
	tab.do(chromedp.SendKeys("#find-file", "onerror"+kb.Enter))
	tab.until(`location.pathname.startsWith("/kiln@main/-/blob/x/") && document.querySelector("h1").textContent === '"><img src=x onerror=alert(1)>.go'`)
	tab.quiet()
}

// Definitions are found by parts of their names, behind # or by that key.
func TestBrowserSymbolFinder(t *testing.T) {
	if _, err := ctags.Find(); err != nil {
		t.Skip(needs.Missing("symbols", "ctags", err))
	}
	kiln := repository(t, "kiln")
	commitFiles(t, kiln, namesFiles)
	s := newSite(t, kiln)
	tab := s.openWithOutline("/kiln/-/blob/kiln.go")
	tab.until(`document.getElementById("findfile")?.hidden === false`)
	// A search that had no time for all is asked for again, as a person would.
	finds := func(what string) {
		t.Helper()
		asked := time.Now()
		tab.await(what, func() {
			if time.Since(asked) > browserPatience/10 {
				eval[bool](tab, `document.getElementById("find-file").dispatchEvent(new Event("input"))`)
				asked = time.Now()
			}
		})
	}
	tab.press("#")
	tab.until(`document.querySelector(".finder").open && document.activeElement.value === "#"`)
	tab.until(`document.querySelector(".finder [role=status]").textContent === "Parts of the name of a definition, in their order."`)
	tab.keys("FI re")
	const marks = `[...document.querySelectorAll(".finder mark")].map(m => m.textContent).join()`
	finds(`document.querySelectorAll(".finder li").length === 1 && document.querySelector(".finder li").innerText === "Fire function kiln.go:5" && ` + marks + ` === "Fire"`)
	if bad := inaccessible(tab); len(bad) > 0 {
		t.Errorf("axe finds %q", bad)
	}
	tab.do(chromedp.Click("#find-all"))
	finds(`document.querySelector(".finder li")?.innerText === "Fire function kiln.go:5 kiln"`)
	tab.empty("#find-file")
	tab.do(chromedp.SendKeys("#find-file", "#nosuch"))
	finds(`document.querySelector(".finder [role=status]").textContent === "No definition has these parts in its name."`)
	// Files and definitions keep what was written for them, and no more.
	tab.keys(kb.Escape)
	tab.until(`!document.querySelector(".finder").open`)
	tab.press("t")
	tab.until(`document.querySelector(".finder").open && document.activeElement.value === ""`)
	tab.keys(kb.Escape)
	tab.until(`!document.querySelector(".finder").open`)
	tab.press("#")
	tab.until(`document.querySelector(".finder").open && document.activeElement.value === "#"`)
	tab.keys("cool")
	finds(`document.querySelector(".finder li")?.innerText.startsWith("Cool ")`)
	tab.keys(kb.Enter)
	tab.until(`location.pathname === "/kiln/-/blob/kiln.go" && location.search === "?L7"`)
	tab.quiet()
}

// empty empties a field, as if nothing had been typed.
func (t *tab) empty(selector string) {
	t.Helper()
	eval[bool](t, `(document.querySelector(`+strconv.Quote(selector)+`).value = "", true)`)
}
