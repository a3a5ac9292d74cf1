package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	cdpinput "github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/trawlsearch/trawl/internal/needs"
	"github.com/trawlsearch/trawl/store/ctags"
)

// namesFiles are files with names that are defined and used.
var namesFiles = map[string]string{
	"kiln.go": `package kiln

// Fire heats the kiln.
// <script>document.title = "owned"</script>
func Fire(heat int) int { return heat }

func Cool() { glaze := Fire(1); _ = glaze + Fire(2) }
`,
	"use/use.go":                            "package use\n\n// Fire is a word here.\nfunc use() { kiln.Fire(3) }\n",
	`use/"><img src=x onerror=alert(1)>.go`: "package use\n\nfunc evil() { Fire(4) }\n",
}

// commitFiles writes files to a repository and commits them.
func commitFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, line := range []string{"add -A", "-c user.name=k -c user.email=k@example.org commit -q -m more"} {
		if out, err := exec.Command("git", append([]string{"-C", dir}, strings.Fields(line)...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v: %s", line, err, out)
		}
	}
}

// pointOf is the middle of the nth place of a word in a line of the file.
func pointOf(t *tab, line, word string, nth int) (x, y float64) {
	t.Helper()
	at := eval[[]float64](t, `(() => {
		const cell = document.querySelector("#L`+line+` .tx")
		let left = `+string(rune('0'+nth))+`
		const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT)
		while (walker.nextNode()) {
			for (const m of walker.currentNode.data.matchAll(/`+word+`/g)) {
				if (left-- > 0) continue
				const range = document.createRange()
				range.setStart(walker.currentNode, m.index)
				range.setEnd(walker.currentNode, m.index + m[0].length)
				const box = range.getBoundingClientRect()
				return [(box.left + box.right) / 2, (box.top + box.bottom) / 2]
			}
		}
		return []
	})()`)
	if len(at) != 2 {
		t.Fatalf("line %s has no %q", line, word)
	}
	return at[0], at[1]
}

// openWithOutline opens the page of a file once its definitions have been read.
func (s *site) openWithOutline(path string) *tab {
	s.Helper()
	tab := s.open(path)
	for deadline := time.Now().Add(browserPatience); !eval[bool](tab, `document.getElementById("outline") !== null`); {
		if time.Now().After(deadline) {
			s.Fatal("the page of a file has no outline")
		}
		time.Sleep(50 * time.Millisecond) // symbols are read behind the text
		tab.do(chromedp.Navigate(s.url + path))
	}
	return tab
}

// Names in a file lead to their definitions and references.
func TestBrowserNames(t *testing.T) {
	if _, err := ctags.Find(); err != nil {
		t.Skip(needs.Missing("symbols", "ctags", err))
	}
	dir := repository(t, "kiln")
	commitFiles(t, dir, namesFiles)
	s := newSite(t, dir)
	tab := s.openWithOutline("/kiln/-/blob/kiln.go")

	// The outline lists definitions, and leads to their lines.
	if got := eval[string](tab, `[...document.querySelectorAll("#outline a")].map(a => a.textContent + a.getAttribute("href")).join()`); got != "kiln#L1,Fire#L5,Cool#L7" {
		t.Errorf("the outline is %q", got)
	}
	tab.until(`document.getElementById("tools")?.hidden === false`)
	tab.keys("s")
	tab.until(`document.getElementById("outline").open && document.activeElement.textContent === "kiln"`)
	tab.do(chromedp.Click(`#outline a[href="#L7"]`))
	tab.until(`document.querySelector("#L7.hit")`)

	// A card is shown where the pointer rests.
	x, y := pointOf(tab, "7", "Fire", 1)
	call(tab, cdpinput.DispatchMouseEvent, cdpinput.DispatchMouseEventParams{Type: "mouseMoved", X: x, Y: y, PointerType: "mouse"})
	tab.until(`!document.getElementById("card").hidden`)
	if got := eval[string](tab, `[document.querySelector("#card pre").textContent, document.querySelector("#card .said").textContent, document.querySelector("#card a").textContent].join("|")`); got != `func Fire(heat int) int { return heat }|Fire heats the kiln.
<script>document.title = "owned"</script>|kiln.go:5` {
		t.Errorf("the card is %q", got)
	}
	if !eval[bool](tab, `(box => box.left >= 0 && box.right <= innerWidth && box.top >= 0)(document.getElementById("card").getBoundingClientRect())`) {
		t.Error("the card is not in the window")
	}

	// A click finds definitions, marks the word, and another button finds references.
	tab.do(chromedp.MouseClickXY(x, y))
	tab.until(`document.querySelector("#names .list li")`)
	if got := eval[string](tab, `[...document.querySelectorAll("#names li")].map(li => li.innerText).join()`); !strings.Contains(got, "5 func Fire(heat int)") || strings.Contains(got, "\n") {
		t.Errorf("the definitions are %q", got)
	}
	if n := eval[int](tab, `CSS.highlights.get("occurrences").size`); n != 4 {
		t.Errorf("%d places of Fire are marked, want 4", n)
	}
	tab.do(chromedp.Click(`#names [data-find=references]`))
	tab.until(`document.querySelectorAll("#names .list li").length === 6`)
	if got := eval[string](tab, `[...document.querySelectorAll("#names h3")].map(h => h.textContent).join()`); got != `This file,use/"><img src=x onerror=alert(1)>.go,use/use.go` && got != `This file,use/use.go,use/"><img src=x onerror=alert(1)>.go` {
		t.Errorf("the references are in %q", got)
	}
	if got := eval[string](tab, `document.querySelector("#names .hint").textContent`); !strings.Contains(got, "found by search: names are compared, types are not") {
		t.Errorf("the panel says %q of how it found", got)
	}
	for _, mode := range []string{"light", "dark"} {
		call(tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: mode}}})
		for _, width := range []int64{1280, 375} {
			tab.do(chromedp.EmulateViewport(width, 800))
			if bad := eval[[]string](tab, unreadable); len(bad) > 0 {
				t.Errorf("with a panel, %s and %d wide: %q", mode, width, bad)
			}
		}
	}
	if bad := inaccessible(tab); len(bad) > 0 {
		t.Errorf("with a panel axe finds %q", bad)
	}
	tab.keys(kb.Escape)
	tab.until(`document.getElementById("names").hidden && document.activeElement.closest("#L7")`)

	// All of it works by keyboard: from a line to its names, to the definition.
	for deadline := time.Now().Add(browserPatience); ; {
		tab.do(chromedp.Navigate(s.url + "/kiln/-/blob/use/use.go?L3"))
		tab.until(`document.activeElement.closest("#L3.hit") && document.getElementById("tools")?.hidden === false`)
		if eval[bool](tab, `document.querySelector("#L4 .tx .k") !== null`) {
			break // colours, which a busy server may have no time for, tell words of the language from names
		}
		if time.Now().After(deadline) {
			t.Fatal("the page has no colours")
		}
	}
	tab.keys("j", "w", "w")
	tab.until(`document.getElementById("said").textContent.startsWith("kiln,")`)
	tab.keys("w", "i")
	tab.until(`!document.getElementById("card").hidden && document.getElementById("said").textContent === "Fire, 2 places on this page"`)
	tab.keys("r")
	tab.until(`document.querySelectorAll("#names .list li").length === 6 && document.activeElement.closest("#names li")`)
	tab.keys(kb.Escape, "?")
	tab.until(`document.getElementById("keys").open`)
	tab.keys(kb.Escape)
	tab.until(`!document.getElementById("keys").open`)
	tab.keys("d")
	tab.until(`location.pathname === "/kiln/-/blob/kiln.go" && document.querySelector("#L5.hit")`)
	if title := eval[string](tab, `document.title`); title == "owned" {
		t.Error("a comment became a script")
	}
	tab.quiet()
}
