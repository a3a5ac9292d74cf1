package main

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// sourceText has blank lines at its beginning, within and at its end.
const sourceText = "\npackage kiln\n\n\n// glaze\nfunc fire() {\n\n\treturn\n}\n\n"

// fileRepository has a file with blank lines and one that is shown in windows.
func fileRepository(t *testing.T) string {
	t.Helper()
	dir := repository(t, "kiln")
	commitFiles(t, dir, map[string]string{"a.go": sourceText, "long.txt": strings.Repeat("clay\n", 12_345)})
	return dir
}

func TestBrowserFile(t *testing.T) {
	s := newSite(t, fileRepository(t), "--editor-link", "vscode://file/src/{repository}/{path}:{line}")
	tab := s.open("/kiln/-/blob/a.go?L6")

	// What is copied is the text, blank lines too.
	copied := eval[string](tab, `(() => { getSelection().selectAllChildren(document.getElementById("source")); return getSelection().toString() })()`)
	if strings.TrimRight(copied, "\n") != strings.TrimRight(sourceText, "\n") {
		t.Errorf("copied %q, want %q", copied, sourceText)
	}

	// A line that the address names keeps its colours, which come in a part of a second
	// or not at all.
	for deadline := time.Now().Add(browserPatience); !eval[bool](tab, `document.querySelector("#L6.hit .tx .k") !== null`) && time.Now().Before(deadline); {
		tab.do(chromedp.Navigate(s.url + "/kiln/-/blob/a.go?L6"))
	}
	if !eval[bool](tab, `(() => {
		const color = e => getComputedStyle(e).color
		const [word] = document.querySelectorAll("#L6.hit .tx .k"), [other] = document.querySelectorAll("#L2 .tx .k")
		return color(word) === color(other) && color(word) !== color(word.parentElement)
	})()`) {
		t.Error("the colours of a line are gone when the address names it")
	}

	// An editor opens the file at the line that is chosen.
	tab.until(`document.querySelector(".elsewhere").getAttribute("href") === "vscode://file/src/kiln/a.go:6"`)
	tab.do(chromedp.Click(`#L5 .no a`))
	tab.until(`document.querySelector(".elsewhere").getAttribute("href") === "vscode://file/src/kiln/a.go:5"`)

	// The lines that are chosen have a history.
	tab.do(chromedp.Navigate(s.url + "/kiln/-/blob/a.go"))
	tab.until(`document.getElementById("linehistory").hidden`)
	tab.do(chromedp.Click(`#L5 .no a`))
	tab.until(`!document.getElementById("linehistory").hidden && document.getElementById("linehistory").getAttribute("href").endsWith("/kiln/-/commits/a.go?L5")`)
	tab.do(chromedp.Click(`#linehistory`))
	tab.until(`document.querySelector("h1").textContent === "History of line 5" && document.querySelectorAll(".change").length === 1`)

	// A fragment names a line of another window, which the server never hears.
	tab.do(chromedp.Navigate(s.url + "/kiln/-/blob/long.txt#L12000-12002"))
	tab.until(`location.search === "?L12000-12002" && document.querySelectorAll("#source tr.hit").length === 3`)
	if lines := eval[string](tab, `document.querySelector(".pager span").textContent`); lines != "lines 10,001–12,345 of 12,345" {
		t.Errorf("the window of line 12,000 is %q", lines)
	}
	tab.do(chromedp.Navigate(s.url + "/kiln/-/blob/long.txt"))
	tab.do(chromedp.Navigate(s.url + "/kiln/-/blob/long.txt#L7000")) // no other page is loaded
	tab.until(`location.search === "?L7000" && document.querySelector("#L7000.hit")`)
	tab.do(chromedp.Navigate(s.url + "/kiln/-/blob/long.txt#L99999"))
	tab.until(`document.getElementById("L1")`)
	tab.do(chromedp.Click(`a[rel=next]`))
	tab.until(`document.getElementById("L5001")`)
	tab.quiet()
}
