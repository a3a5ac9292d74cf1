package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestBrowserKinds: what is no plain file, and what is not there, lead on.
func TestBrowserKinds(t *testing.T) {
	dir := repository(t, "kiln")
	commitFiles(t, dir, map[string]string{"src/kiln.go": sourceText})
	if err := os.Symlink("src/kiln.go", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	commitFiles(t, dir, map[string]string{"src/kiln.go": strings.Replace(sourceText, "package", "// fires\npackage", 1)})
	s := newSite(t, dir)
	tab := s.open("/kiln/-/blob/link")
	tab.until(`document.getElementById("linksto")?.textContent === "src/kiln.go"`)
	tab.leave(`linksto.click()`)
	tab.until(`location.pathname === "/kiln/-/blob/src/kiln.go"`)
	if got := eval[string](tab, `(async () => { const a = await fetch(download.href); return a.headers.get("Content-Disposition").toLowerCase() + " " + (await a.text()).startsWith("\n// fires") })()`); got != "attachment; filename=kiln.go true" {
		t.Errorf("the download is %q", got)
	}

	// what is not there leads to what is near, from a raw file too
	for _, kind := range []string{"blob", "raw"} {
		tab.do(chromedp.Navigate(s.url + "/kiln/-/" + kind + "/src/kil.go"))
		tab.until(`document.querySelector("main li a")`)
		tab.leave(`document.querySelector("main li a").click()`)
		tab.until(`location.pathname === "/kiln/-/blob/src/kiln.go"`)
	}

	// a commit has colours in both of its views
	for _, view := range []string{"", "?view=split"} {
		tab.openUntil(s.url+"/kiln/-/commit/main"+view, `document.querySelector(".source.diff.painted .tx .k") !== null`)
	}
}
