package main

import (
	"bytes"
	"image"
	"image/png"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// hostileReadme would run scripts, ask other servers, and leave its place on the page.
const hostileReadme = `# Kiln

[guide](docs/guide.md), [part](#some-part), ![pixels](img/pixels.png), <img src="img/drawn.svg" onerror="window.pwned=1" onload="window.pwned=1">

![elsewhere](https://evil.example/x.png) [![badge](//evil.example/b.svg)](https://evil.example/)

<script>window.pwned=1</script><svg onload="window.pwned=1"></svg><a href="javascript:window.pwned=1">run</a><iframe src="https://evil.example/"></iframe>
<style>main{display:none}</style><form action="/-/sign-out"><button>out</button></form></div></section></main><p style="position:fixed;inset:0" class="skip" id="main">over</p>

## Some part

| a | b |
|---|---|
| 1 | ` + "`<script>`" + ` |
`

// READMEs and images are shown, and do nothing.
func TestBrowserReadme(t *testing.T) {
	var pixels bytes.Buffer
	if err := png.Encode(&pixels, image.NewGray(image.Rect(0, 0, 7, 5))); err != nil {
		t.Fatal(err)
	}
	drawn := `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="8" onload="parent.pwned=1"><script>parent.pwned=1;fetch("/x")</script><image href="https://evil.example/x.png" width="9" height="9"/><rect width="9" height="8"/></svg>`
	dir := repository(t, "kiln")
	commitFiles(t, dir, map[string]string{"README.md": hostileReadme, "docs/guide.md": "# Guide\n", "docs/README.md": "[up](../README.md)\n", "img/pixels.png": pixels.String(), "img/drawn.svg": drawn, "main.go": "package main\n"})
	s := newSite(t, dir)
	tab := s.open("/kiln")
	tab.until(`document.querySelectorAll(".prose img").length === 2 && [...document.querySelectorAll(".prose img")].every(i => (i.loading = "eager") && i.complete && i.naturalWidth > 0)`)
	if got := eval[string](tab, `[...document.querySelectorAll(".prose img")].map(i => i.naturalWidth + "x" + i.naturalHeight).join()`); got != "7x5,9x8" {
		t.Errorf("the images are %s", got)
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
	if bad := inaccessible(tab); len(bad) > 0 {
		t.Errorf("axe finds %q", bad)
	}
	if !eval[bool](tab, `getComputedStyle(document.querySelector("main")).display !== "none" && !document.querySelector(".prose script, .prose svg, .prose iframe, .prose form, .prose style, .prose [style], .prose [class], .prose [onload]") && document.querySelector(".prose").closest("main") !== null && [...document.querySelectorAll(".prose p")].some(p => p.textContent === "over")`) {
		t.Error("the README has left its place")
	}
	if got := eval[string](tab, `performance.getEntriesByType("resource").filter(r => new URL(r.name).host !== location.host).map(r => r.name).join()`); got != "" {
		t.Errorf("the page asks %s", got)
	}
	tab.do(chromedp.Click(`.prose a[href="#md-some-part"]`))
	tab.until(`location.hash === "#md-some-part" && document.querySelector(":target").textContent === "Some part"`)
	tab.do(chromedp.Click(`.prose a[href="/kiln/-/blob/docs/guide.md"]`))
	tab.until(`location.pathname === "/kiln/-/blob/docs/guide.md" && document.querySelector(".prose h3")?.textContent === "Guide"`)
	if bad := inaccessible(tab); len(bad) > 0 {
		t.Errorf("rendered: axe finds %q", bad)
	}
	tab.do(chromedp.Click(`.facts a[href$="?view=source"]`))
	tab.until(`document.getElementById("source")?.innerText.includes("# Guide") && !document.querySelector(".prose")`)
	tab.do(chromedp.Click(`.facts a[href="/kiln/-/blob/docs/guide.md"]`))
	tab.until(`document.querySelector(".prose h3")?.textContent === "Guide" && location.search === ""`)
	tab.until(`document.getElementById("tools")?.hidden === false`)
	tab.do(chromedp.Navigate(s.url + "/kiln/-/blob/docs/guide.md#L1")) // which no server sees
	tab.until(`location.search === "?L1" && document.querySelector("#L1.hit")`)
	tab.do(chromedp.Navigate(s.url + "/kiln@main/-/tree/docs"))
	tab.until(`document.querySelector('.prose a[href="/kiln@main/-/blob/README.md"]')`)

	// An image on the page of its file; an SVG beside its source, and by itself as text.
	tab.do(chromedp.Navigate(s.url + "/kiln/-/blob/img/drawn.svg"))
	tab.until(`document.querySelector(".picture img")?.naturalWidth === 9 && document.getElementById("source").innerText.includes("<script>")`)
	tab.do(chromedp.Navigate(s.url + "/kiln/-/blob/img/pixels.png"))
	tab.until(`document.querySelector(".picture img")?.naturalWidth === 7 && !document.getElementById("tools").hidden && !document.querySelector("[data-copy=content], #wrap, #showfind")`)
	eval[bool](tab, `(Object.defineProperty(navigator, "clipboard", { value: { writeText: async text => { window.copied = text } } }), true)`)
	tab.do(chromedp.Click(`[data-copy=path]`))
	tab.until(`window.copied === "img/pixels.png"`)
	tab.do(chromedp.Click(`[data-copy=permalink]`))
	tab.until(`/\/kiln@[0-9a-f]{40}\/-\/blob\/img\/pixels\.png$/.test(window.copied)`)
	if eval[bool](tab, `Boolean(window.pwned)`) {
		t.Error("the README or an image ran a script")
	}
	tab.quiet()
	tab.do(chromedp.Navigate(s.url + "/kiln/-/raw/img/drawn.svg?as=image"))
	tab.until(`document.contentType === "text/plain"`)
}
