package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/trawlsearch/trawl/internal/needs"
	"github.com/trawlsearch/trawl/store/ctags"
)

// outline lists what the elements show that selectors find, a line for each element and
// text that can be seen: names, classes, what leads where and what is pressed. Times
// and the colours of their age are left out, as they change with the clock.
const outline = `(selectors => {
	const lines = []
	const told = ["id", "href", "for", "type", "name", "role", "title", "placeholder", "aria-label", "aria-expanded", "aria-pressed", "aria-current", "aria-selected"]
	const walk = (node, depth) => {
		const indent = "  ".repeat(depth)
		if (node.nodeType === Node.TEXT_NODE) {
			const text = node.data.replace(/\s+/g, " ").trim()
			if (text) lines.push(indent + "| " + text)
			return
		}
		if (node.nodeType !== Node.ELEMENT_NODE || !node.checkVisibility({visibilityProperty: true}) && getComputedStyle(node).display !== "contents") return
		const classes = [...node.classList].filter(c => !/^heat\d$/.test(c)).sort().map(c => "." + c).join("")
		const attributes = told.filter(a => node.localName !== "time" && node.hasAttribute(a)).map(a => " " + a + "=" + JSON.stringify(node.getAttribute(a)))
		if ("value" in node && node.type !== "hidden" && node.localName !== "button" && node.localName !== "li") attributes.push(" value=" + JSON.stringify(String(node.value)))
		if (node.checked) attributes.push(" checked")
		lines.push(indent + node.localName + classes + attributes.join(""))
		if (node.localName !== "time" && node.localName !== "select" && node.localName !== "svg") node.childNodes.forEach(child => walk(child, depth + 1))
	}
	for (const selector of selectors) {
		const found = document.querySelectorAll(selector)
		lines.push("# " + selector + (found.length ? "" : " finds nothing"))
		found.forEach(e => walk(e, 0))
	}
	return lines.join("\n") + "\n"
})`

// TestBrowserGolden holds what the pages show, element by element, against
// testdata/pages. -update writes the files anew.
func TestBrowserGolden(t *testing.T) {
	// Commits have the same ids wherever they are made.
	for _, who := range []string{"AUTHOR", "COMMITTER"} {
		t.Setenv("GIT_"+who+"_DATE", "2026-01-02T03:04:05Z")
		t.Setenv("GIT_"+who+"_NAME", "k")
		t.Setenv("GIT_"+who+"_EMAIL", "k@example.org")
	}
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	t.Setenv("GIT_DEFAULT_HASH", "sha1")
	if _, err := ctags.Find(); err != nil {
		t.Skip(needs.Missing("outlines", "ctags", err))
	}
	dir := repository(t, "kiln")
	commitFiles(t, dir, map[string]string{
		"README.md":   "# Kiln\n\nFires *clay*, see [the source](src/kiln.go).\n\n- [x] glaze\n- [ ] cool\n\n```go\nfunc fire() {}\n```\n",
		"src/kiln.go": "package kiln\n\n// Fire heats clay.\nfunc Fire(clay int) int {\n\treturn clay + 1\n}\n",
		"src/use.go":  "package kiln\n\nvar hot = Fire(7)\n",
	})
	commitFiles(t, dir, map[string]string{"src/kiln.go": "package kiln\n\n// Fire heats clay.\nfunc Fire(clay int) int {\n\treturn clay + 2\n}\n"})
	s := newSite(t, dir)
	tab := s.open("/")
	const inTree = `document.querySelector('#tree a[href$="/src/use.go"]') && document.querySelector("#source .k") && !document.querySelector("#tools[hidden]")`
	for _, c := range []struct {
		name, path, ready string
		selectors         []string
	}{
		{"home", "/", `document.querySelector("main a[href*='search?q=']")`, []string{"header", "main"}},
		{"results", "/search?q=fire", `document.getElementById("told").textContent && document.querySelector("#results article:first-of-type .hit .c-k")`, []string{"#tabs", "#filters", "#results article:first-of-type"}},
		{"commits-found", "/search?q=type:commit+made", `document.getElementById("told").textContent`, []string{"#results"}},
		{"repository", "/kiln", `document.querySelector("main .readme pre .k")`, []string{"main"}},
		{"file", "/kiln/-/blob/src/kiln.go", inTree, []string{"main"}},
		{"blame", "/kiln/-/blame/src/kiln.go", inTree, []string{"main"}},
		{"history", "/kiln/-/commits/src/kiln.go", `document.querySelector(".commits li")`, []string{"main"}},
		{"commit", "/kiln/-/commit/main", `document.querySelector(".painted")`, []string{"main"}},
		{"commit-split", "/kiln/-/commit/main?view=split", `document.querySelector(".painted")`, []string{".diff"}},
		{"branches", "/kiln/-/branches", `document.querySelector("main a")`, []string{"main"}},
		{"missing", "/kiln/-/blob/src/klin.go", `document.querySelector("main a")`, []string{"main"}},
		{"repositories", "/-/repositories", `document.querySelector("main a")`, []string{"main"}},
		{"list", "/search/list?q=fire", `document.querySelector("main a")`, []string{"main"}},
	} {
		tab.openUntil(s.url+c.path, c.ready)
		selectors, err := json.Marshal(c.selectors)
		if err != nil {
			t.Fatal(err)
		}
		got := eval[string](tab, fmt.Sprintf("%s(%s)", outline, selectors))
		file := filepath.Join("testdata", "pages", c.name+".golden")
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(got, " finds nothing\n") {
			t.Errorf("%s: a selector finds nothing", c.path)
		}
		if diff := firstDifference(string(want), got); diff != "" {
			t.Errorf("%s: %s", c.path, diff)
		}
	}
}

// openUntil opens a page, and opens it again until an expression is true of it: a page whose
// colours took too long on a busy machine is plain.
func (t *tab) openUntil(address, expression string) {
	t.Helper()
	var last time.Time
	t.await(expression, func() {
		if time.Since(last) > browserPatience/10 {
			t.do(chromedp.Navigate(address))
			last = time.Now()
		}
	})
}

// firstDifference names the first line in which two texts differ, "" for none.
func firstDifference(want, got string) string {
	if want == got {
		return ""
	}
	wants, gots := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(wants), len(gots)) {
		if wants[i] != gots[i] {
			return fmt.Sprintf("line %d is\n%s\nwant\n%s", i+1, gots[i], wants[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(gots), len(wants))
}
