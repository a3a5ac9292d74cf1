package main

import (
	"strconv"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// The files of the repository stand beside a file: folders open when they are asked to,
// by keyboard too, and stay as they are on the next page.
func TestBrowserTree(t *testing.T) {
	dir := repository(t, "kiln")
	commitFiles(t, dir, map[string]string{
		"src/deep/er/fire.go": "package er\n", "src/deep/glaze.go": "package deep\n", "src/clay.go": "package src\n", "docs/a.md": "a\n",
		`x/"><img src=x onerror=alert(1)>&lt;/b.go`: "package x\n",
	})
	s := newSite(t, dir)
	tab := s.open("/search")
	tab.do(chromedp.EmulateViewport(1400, 860), chromedp.Navigate(s.url+"/kiln/-/blob/src/deep/glaze.go"))
	await := func(want string) {
		t.Helper()
		tab.until(`[...document.querySelectorAll("#tree [role=treeitem]")].filter(a => a.checkVisibility()).map(a => " ".repeat(a.ariaLevel - 1) + a.textContent + ({ true: "-", false: "+" }[a.ariaExpanded] ?? "")).join("|") === ` + strconv.Quote(want))
	}
	const first = `docs+|src-| deep-|  er+|  glaze.go| clay.go|x+|a.txt`
	await(first)
	tab.until(`document.querySelector("#tree [aria-current]")?.textContent === "glaze.go" && document.querySelector("#tree [tabindex='0']")?.textContent === "glaze.go"`)
	if bad := inaccessible(tab); len(bad) > 0 {
		t.Errorf("axe finds %q", bad)
	}
	for _, mode := range []string{"light", "dark"} {
		call(tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: mode}}})
		if bad := eval[[]string](tab, unreadable); len(bad) > 0 {
			t.Errorf("%s: %q", mode, bad)
		}
	}

	// by keyboard: up to a folder, into it, out of it, and to a file
	tab.do(chromedp.Focus(`#tree [tabindex="0"]`))
	tab.keys(kb.ArrowUp, kb.ArrowRight)
	await(`docs+|src-| deep-|  er-|   fire.go|  glaze.go| clay.go|x+|a.txt`)
	tab.keys(kb.ArrowRight)
	tab.until(`document.activeElement.textContent === "fire.go"`)
	tab.keys(kb.ArrowLeft, kb.ArrowLeft, kb.ArrowLeft, kb.ArrowLeft)
	await(`docs+|src-| deep+| clay.go|x+|a.txt`)
	tab.keys(kb.ArrowRight, kb.ArrowDown, kb.ArrowRight, kb.ArrowRight, kb.Enter)
	tab.until(`location.pathname === "/kiln/-/blob/src/deep/er/fire.go"`)
	await(`docs+|src-| deep-|  er-|   fire.go|  glaze.go| clay.go|x+|a.txt`)

	// A click opens a folder, names do nothing, and what is open stays.
	tab.do(chromedp.Click(`#tree a[data-path="x"]`))
	tab.until(`document.querySelector("#tree a[data-path='x']").ariaExpanded === "true" && document.querySelectorAll("#tree [role=treeitem]").length === 10`)
	tab.do(chromedp.Navigate(s.url + "/kiln/-/blob/docs/a.md"))
	await(`docs-| a.md|src-| deep-|  er-|   fire.go|  glaze.go| clay.go|x-| "><img src=x onerror=alert(1)>&lt;+|a.txt`)

	// It goes, for the next file too, and comes back.
	tab.keys("e")
	tab.until(`document.getElementById("tree").hidden`)
	tab.do(chromedp.Navigate(s.url + "/kiln@main/-/blob/a.txt"))
	tab.until(`document.getElementById("showtree")?.hidden === false && document.getElementById("tree").hidden && document.getElementById("showtree").ariaExpanded === "false"`)
	tab.do(chromedp.Click(`#showtree`))
	await(`docs+|src+|x+|a.txt`)
	tab.do(chromedp.Click(`#tree a[data-path="docs"]`))
	await(`docs-| a.md|src+|x+|a.txt`)
	tab.do(chromedp.EmulateViewport(375, 800), chromedp.Navigate(s.url+"/kiln@main/-/blob/a.txt"))
	tab.until(`document.getElementById("showtree")?.hidden === false && document.getElementById("tree").hidden`)
	if bad := eval[[]string](tab, unreadable); len(bad) > 0 {
		t.Errorf("375 wide: %q", bad)
	}
	tab.quiet()
}
