package main

import (
	"fmt"
	"strings"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// A filter is a link that adds it to the query, and takes it away again.
func (s *site) searchFilters() {
	t := s.search("glaze or slip")
	t.do(chromedp.Click(chromedp.CSS(`#filters a[title="add lang:go"]`)))
	t.until(`new URLSearchParams(location.search).get("q") === "(glaze or slip) lang:go" && told.textContent.startsWith("41 results")`)
	if got := eval[string](t, `document.querySelector("#filters [aria-current]").title`); got != "remove lang:go" {
		s.Errorf("the filter that holds is called %q", got)
	}
	t.do(chromedp.Click(chromedp.CSS(`#filters a[aria-current]`)))
	t.until(`new URLSearchParams(location.search).get("q") === "(glaze or slip)" && told.textContent !== ""`)

	// a value is left out, another stands beside the one that was chosen, and both go
	// one by one
	query := func(want, told string) {
		s.Helper()
		t.until(fmt.Sprintf(`new URLSearchParams(location.search).get("q") === %q && document.getElementById("told")?.textContent && told.textContent.startsWith(%q)`, want, told))
	}
	click := func(title string) {
		s.Helper()
		t.until(fmt.Sprintf(`[...document.querySelectorAll("#filters a")].some(a => a.title.startsWith(%q))`, title))
		t.leave(fmt.Sprintf(`[...document.querySelectorAll("#filters a")].find(a => a.title.startsWith(%q)).click()`, title))
	}
	langs := eval[string](t, `[...document.querySelectorAll("#filters a[title^='add lang:']")].map(a => a.title.slice(4)).join()`)
	other := strings.Split(strings.Replace(langs, "lang:go,", "", 1), ",")[0]
	click("leave out lang:go")
	query("(glaze or slip) -lang:go", "")
	if got := eval[string](t, `document.querySelector("#filters a.out").textContent + getComputedStyle(document.querySelector("#filters a.out bdi")).textDecorationLine`); got != "not goline-through" {
		s.Errorf("what was left out is shown as %q", got)
	}
	click("remove -lang:go")
	query("(glaze or slip)", "")
	click("add lang:go")
	query("(glaze or slip) lang:go", "41 results")
	click("or " + other)
	both := "(glaze or slip) (lang:go or " + other + ")"
	query(both, "")
	if n := eval[int](t, `document.querySelectorAll("#filters a.on").length`); n != 2 {
		s.Errorf("of %s %d filters hold, want 2", both, n)
	}
	click("remove lang:go")
	query("(glaze or slip) "+other, "")

	// kinds of results are tabs
	t.leave(`[...document.querySelectorAll("#tabs a")].find(a => a.textContent === "Paths").click()`)
	query("(glaze or slip) "+other+" type:path", "")
	if got := eval[string](t, `document.querySelector("#tabs [aria-current]").textContent`); got != "Paths" {
		s.Errorf("the tab at hand is %q", got)
	}

	// results are counted by what they have in common
	t = s.search("/(gla|sl)[a-z]+/")
	group := func(by, until string) {
		s.Helper()
		eval[bool](t, fmt.Sprintf(`(by.value = %q, by.dispatchEvent(new Event("change")), true)`, by))
		t.until(until)
	}
	group("capture", `[...document.querySelectorAll("#groups li")].map(e => e.innerText.replace(/\s+/g, " ")).join().startsWith("sl 40,gla ")`)
	if got := eval[string](t, `document.querySelector("#groups li:nth-child(2) .bar-of").getBoundingClientRect().width < document.querySelector("#groups .bar-of").getBoundingClientRect().width && document.querySelector("#groups p").innerText`); !strings.HasPrefix(got, "2 groups") {
		s.Errorf("the chart says %q", got)
	}
	if bad := append(eval[[]string](t, unreadable), inaccessible(t)...); len(bad) > 0 {
		s.Errorf("with a chart: %q", bad)
	}
	group("file", `document.querySelector("#groups li")?.innerText.startsWith("hostile \u203a kiln.go")`)
	t.leave(`document.querySelector("#groups li a").click()`)
	query(`/(gla|sl)[a-z]+/ repo:^hostile$ file:^kiln\.go$`, "")
	group("author", `document.getElementById("groups").innerText.includes("in none")`)
	group("", `document.getElementById("groups").hidden`)
	t.quiet()
}

// Pages look as the system does, or as a person has chosen in this browser.
func (s *site) searchTheme() {
	t := s.open("/search")
	ground := func(name, want string) {
		s.Helper()
		t.until(fmt.Sprintf(`document.getElementById("theme").textContent === "Theme: %s" && getComputedStyle(document.body).backgroundColor === %q`, name, want))
	}
	const light, dark = "rgb(255, 255, 255)", "rgb(18, 23, 28)"
	call(t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}})
	ground("auto", dark)
	t.do(chromedp.Click(chromedp.CSS("#theme")))
	ground("light", light)
	t.do(chromedp.Navigate(s.url + "/help"))
	ground("light", light)
	t.do(chromedp.Click(chromedp.CSS("#theme")))
	ground("dark", dark)
	call(t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "light"}}})
	ground("dark", dark)
	t.do(chromedp.Click(chromedp.CSS("#theme")))
	ground("auto", light)
	t.quiet()
}
