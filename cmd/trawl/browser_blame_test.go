package main

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	cdpinput "github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// press presses a key as a keyboard does, for which a page may prevent the character.
// The protocol sends that by itself.
func (t *tab) press(key string) {
	t.Helper()
	for _, kind := range []cdpinput.DispatchKeyEventType{cdpinput.DispatchKeyEventTypeRawKeyDown, cdpinput.DispatchKeyEventTypeKeyUp} {
		call(t, cdpinput.DispatchKeyEvent, cdpinput.DispatchKeyEventParams{Type: kind, Key: key, Code: "Key" + strings.ToUpper(key)})
	}
}

// A file tells who wrote it, at each revision, and can be copied, wrapped and named.
func TestBrowserBlame(t *testing.T) {
	dir := repository(t, "kiln")
	commitFiles(t, dir, map[string]string{"src/a.go": sourceText})
	commitFiles(t, dir, map[string]string{"src/a.go": sourceText + "// slip\n", "latin.txt": "une poign\xe9e de terre cuite\n"})
	s := newSite(t, dir)
	tab := s.open("/kiln/-/blob/src/a.go")
	onPage := func(path string) {
		t.Helper()
		tab.until(`location.pathname === "` + path + `" && document.getElementById("tools")?.hidden === false`)
	}

	// Blame names commits, and leads to the file before them.
	tab.do(chromedp.Click(`.facts a[href$="/-/blame/src/a.go"]`))
	onPage("/kiln/-/blame/src/a.go")
	if got := eval[string](tab, `[...document.querySelectorAll(".by")].map(td => td.rowSpan + " " + td.querySelector("span").textContent + Boolean(td.querySelector(".before"))).join()`); got != "10 kfalse,1 ktrue" {
		t.Errorf("the hunks are %q", got)
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
	tab.do(chromedp.EmulateViewport(1280, 800))
	tab.do(chromedp.Click(`.before`))
	tab.until(`location.pathname.startsWith("/kiln@") && document.querySelectorAll(".by").length === 1 && !document.getElementById("tools").hidden`)

	// The switch keeps the path and the view; it lists, finds and takes any revision.
	tab.press("v")
	tab.until(`document.querySelectorAll(".switch li").length === 1`)
	if bad := inaccessible(tab); len(bad) > 0 {
		t.Errorf("with a switch axe finds %q", bad)
	}
	tab.keys(kb.ArrowDown, kb.Enter)
	onPage("/kiln@main/-/blame/src/a.go")
	tab.do(chromedp.Click(`#switch`))
	tab.until(`document.activeElement.id === "switch-rev"`)
	tab.do(chromedp.SendKeys(`#switch-rev`, "main~1"+kb.Enter))
	onPage("/kiln@main~1/-/blame/src/a.go")

	// Branches and tags to compare are proposed.
	for _, page := range []string{"/kiln/-/branches", "/kiln/-/compare/main~1...main"} {
		tab.do(chromedp.Navigate(s.url + page))
		tab.until(`document.getElementById("comparehead")?.list`)
		eval[string](tab, `comparehead.value = ""`)
		tab.do(chromedp.SendKeys(`#comparehead`, "mai"))
		tab.until(`[...comparehead.list.options].map(o => o.value + " " + o.label).join() === "main branch"`)
		tab.do(chromedp.SendKeys(`#comparebase`, "none"))
		tab.until(`comparebase.list.options.length === 0`)
	}
	if bad := inaccessible(tab); len(bad) > 0 {
		t.Errorf("with proposals axe finds %q", bad)
	}

	// y names the commit, with the lines.
	tab.do(chromedp.Navigate(s.url + "/kiln/-/blob/src/a.go?L6"))
	onPage("/kiln/-/blob/src/a.go")
	tab.do(chromedp.Click(`#L5 .no a`))
	tab.keys("y")
	tab.until(`/^\/kiln@[0-9a-f]{40}\/-\/blob\/src\/a.go$/.test(location.pathname) && location.search === "?L5"`)

	// What is copied is what there is.
	tab.until(`document.getElementById("tools")?.hidden === false`)
	eval[bool](tab, `(Object.defineProperty(navigator, "clipboard", { value: { writeText: async text => { window.copied = text } } }), true)`)
	tab.do(chromedp.Click(`[data-copy=path]`))
	tab.until(`window.copied === "src/a.go"`)
	tab.do(chromedp.Click(`[data-copy=permalink]`))
	tab.until(`window.copied === location.href`)
	tab.do(chromedp.Click(`[data-copy=content]`))
	tab.until(`window.copied.endsWith("// slip\n")`)
	if got := eval[string](tab, `window.copied`); got != sourceText+"// slip\n" {
		t.Errorf("the content is copied as %q", got)
	}

	tab.do(chromedp.Navigate(s.url + "/kiln/-/blob/latin.txt"))
	onPage("/kiln/-/blob/latin.txt")
	eval[bool](tab, `(Object.defineProperty(navigator, "clipboard", { value: { writeText: async text => { window.copied = text } } }), true)`)
	tab.do(chromedp.Click(`[data-copy=content]`))
	tab.until(`window.copied === "une poignée de terre cuite\n"`)

	// Wrapping holds for the next file.
	tab.keys("z")
	tab.until(`document.getElementById("source").classList.contains("wrapped")`)
	tab.do(chromedp.Navigate(s.url + "/kiln/-/blob/a.txt"))
	tab.until(`document.getElementById("source").classList.contains("wrapped") && document.getElementById("wrap").ariaPressed === "true"`)
	tab.do(chromedp.Click(`#wrap`))
	tab.until(`!document.getElementById("source").classList.contains("wrapped")`)
	tab.quiet()
}
