package main

import (
	_ "embed"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// unreadable finds, in a page, what some people cannot read or reach: texts
// with less contrast than 4.5 to 1 (3 to 1 if they are large), fields and
// buttons without a name, and what every page has once.
const unreadable = `(() => {
	const bad = []
	const rgb = color => (color.match(/[\d.]+/g) ?? []).map(Number)
	const light = ([r, g, b]) => {
		const [x, y, z] = [r, g, b].map(v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
		return 0.2126 * x + 0.7152 * y + 0.0722 * z
	}
	const ground = e => {
		for (; e; e = e.parentElement) {
			const c = rgb(getComputedStyle(e).backgroundColor)
			if (c.length === 3 || c[3] === 1) return c
		}
		return matchMedia("(prefers-color-scheme: dark)").matches ? [0, 0, 0] : [255, 255, 255]
	}
	for (const e of document.querySelectorAll("body *")) {
		const text = [...e.childNodes].filter(n => n.nodeType === 3).map(n => n.data.trim()).join("")
		if (!text || !e.checkVisibility() || e.closest(".unseen, .skip, script, option") || e.disabled) continue
		const style = getComputedStyle(e), a = light(rgb(style.color)), b = light(ground(e))
		const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
		const size = parseFloat(style.fontSize)
		if (ratio < (size >= 24 || size >= 18.66 && style.fontWeight >= 700 ? 3 : 4.5)) bad.push(ratio.toFixed(1) + ": " + text.slice(0, 40))
	}
	for (const e of document.querySelectorAll("input:not([type=hidden]):not(.hidden), select, textarea")) {
		if (!e.labels.length && !e.ariaLabel) bad.push("no label: " + e.outerHTML)
	}
	for (const e of document.querySelectorAll("button, a[href]")) {
		if (!e.textContent.trim() && !e.ariaLabel) bad.push("no name: " + e.outerHTML)
	}
	for (const one of ["h1", "main", "header", "title", "html[lang=en]"]) {
		if (document.querySelectorAll(one).length !== 1) bad.push(document.querySelectorAll(one).length + " " + one)
	}
	const ids = [...document.querySelectorAll("[id]")].map(e => e.id)
	bad.push(...ids.filter((id, i) => ids.indexOf(id) !== i).map(id => "twice: " + id))
	if (document.documentElement.scrollWidth > innerWidth) bad.push("wider than the window: " + document.documentElement.scrollWidth)
	return bad
})()`

// Every page can be read in light and dark, and on a small screen.
//
//go:embed testdata/axe/axe.min.js
var axe string

// inaccessible returns what axe finds on the page of a tab: the rule, and the first
// elements that break it. It knows the rules of WCAG 2.2 AA and good practice.
func inaccessible(t *tab) []string {
	t.Helper()
	eval[bool](t, axe+"; true")
	return eval[[]string](t, `axe.run(document, {resultTypes: ["violations"]}).then(r => r.violations.map(v =>
		v.id + ": " + v.help + ": " + v.nodes.slice(0, 3).map(n => n.target.join(" ")).join(", ")))`)
}

func TestBrowserReading(t *testing.T) {
	dir := hostileRepository(t)
	if err := errors.Join(os.Rename(filepath.Join(dir, "a.txt"), filepath.Join(dir, "moved.txt")), os.Symlink("moved.txt", filepath.Join(dir, "link"))); err != nil {
		t.Fatal(err)
	}
	commitFiles(t, dir, map[string]string{"binary": "a\x00b"})
	s := newSite(t, dir)
	s.user("ann", "--admin")
	s.user("bob")
	tab := s.open("/sign-in")
	read := func(path string) {
		t.Helper()
		tab.do(chromedp.Navigate(s.url + path))
		for _, mode := range []string{"light", "dark"} {
			call(tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: mode}}})
			for _, width := range []int64{1280, 390} {
				tab.do(chromedp.EmulateViewport(width, 800))
				if bad := eval[[]string](tab, unreadable); len(bad) > 0 {
					t.Errorf("%s, %s and %d wide: %q", path, mode, width, bad)
				}
			}
		}
		if bad := inaccessible(tab); len(bad) > 0 {
			t.Errorf("%s: axe finds %q", path, bad)
		}
	}
	read("/sign-in")
	s.keepSearches()
	for _, path := range []string{
		"/search", "/users/ann/settings", "/users/ann/settings/tokens", "/users/ann/searches?query=x", "/users/ann/searches/1", "/users/ann/jobs?query=x", "/users/ann/jobs/1", "/users/ann/contexts", "/users/ann/contexts/1", "/site-admin/users", "/site-admin/users/bob", "/site-admin/organizations",
		"/site-admin/repositories", "/site-admin/repositories/1", "/site-admin/external-services", "/site-admin/audit", "/site-admin/nodes", "/site-admin/backups", "/site-admin/configuration", "/site-admin/overview", "/site-admin/oauth-apps", "/debug/stream", "/help/api", "/help",
		"/-/repositories", "/-/repositories?q=nowhere", "/hostile", "/hostile/-/blob/kiln.go?L4", "/hostile/-/blame/kiln.go", "/hostile/-/commits", "/hostile/-/commits/kiln.go?L3-9", "/hostile/-/commits/kiln.go?L3-9&view=split", "/hostile/-/commits/kiln.go?L99999999", "/hostile/-/branches",
		"/hostile/-/commits/moved.txt", "/hostile/-/blob/link", "/hostile/-/blob/binary", "/hostile/-/commit/HEAD~1", "/hostile/-/commit/HEAD~1?view=split&w=1",
		"/search/list?q=glaze", "/search/list?q=type:diff+glaze+count:1", "/search/list?q=fork:x",
	} {
		read(path)
	}
	tab.do(chromedp.Navigate(s.url + "/hostile/-/commits/moved.txt"))
	tab.do(chromedp.Click(`.commits li:nth-child(2) a[href$="/-/blob/a.txt"]`))
	tab.until(`/^\/hostile@[0-9a-f]{40}\/-\/blob\/a\.txt$/.test(location.pathname) && document.getElementById("source").innerText.includes("glaze")`)
	for _, q := range []string{"glaze", "type:diff+glaze", "type:symbol+fire", "count:3+slip", "x+repo:nowhere"} {
		tab.do(chromedp.Navigate(s.url + "/search?q=" + q))
		tab.until(`document.getElementById("told").textContent !== ""`)
		for _, mode := range []string{"light", "dark"} {
			call(tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: mode}}})
			if bad := eval[[]string](tab, unreadable); len(bad) > 0 {
				t.Errorf("/search?q=%s in %s: %q", q, mode, bad)
			}
		}
		if bad := inaccessible(tab); len(bad) > 0 {
			t.Errorf("/search?q=%s: axe finds %q", q, bad)
		}
	}
	tab.quiet()
}
