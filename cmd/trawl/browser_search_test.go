package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	keyinput "github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// hostile are names of files that would do something, if a page took them for
// more than text.
var hostile = []string{
	`<img src=x onerror="window.pwned=1">.txt`,
	`"onmouseover="window.pwned=1" x=".txt`,
	`javascript:window.pwned=1/a.txt`,
	`what?q=#frag&amp;%2e%2e/b.txt`,
	"right\u202etxt.exe/c.txt",
	`</script><script>window.pwned=1/d.txt`,
}

const hostileText = `glaze <script>window.pwned=1</script><img src=x onerror="window.pwned=1"> {{7*7}} ` + "</code></div>\u2028glaze\n"

// hostileRepository holds what strangers may write: names, texts, and the
// message and author of a commit.
func hostileRepository(t *testing.T) string {
	t.Helper()
	dir := repository(t, "hostile")
	for _, name := range hostile {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(hostileText), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	lines := []string{"package kiln", "", "// Fire heats the ½ glazes.", "func Fire() {"}
	for i := range 40 {
		lines = append(lines, fmt.Sprintf("\tstep(%d) // slip", i), "", "", "")
	}
	lines = append(lines, "}", "")
	if err := os.WriteFile(filepath.Join(dir, "kiln.go"), []byte(strings.Join(lines, "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
	wide := strings.Repeat("½", 20000)
	if err := os.WriteFile(filepath.Join(dir, "wide.txt"), []byte(wide+" celadon "+wide+" celadon\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"add", "-A"},
		{"-c", "user.name=<b>Eve</b>", "-c", "user.email=eve@example.org", "commit", "-q", "-m", `fire <img src=x onerror="window.pwned=1"> hotter`},
	} {
		cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
	}
	return dir
}

// search opens a search and waits for its end.
func (s *site) search(q string, more ...string) *tab {
	s.Helper()
	values := url.Values{"q": {q}}
	for i := 0; i < len(more); i += 2 {
		values.Set(more[i], more[i+1])
	}
	t := s.open("/search?" + values.Encode())
	t.until(`document.getElementById("told").textContent !== ""`)
	return t
}

// titles are the names of the results, in order.
const titles = `[...document.querySelectorAll("#results h3 .path")].map(e => e.textContent)`

func (t *tab) summary() string {
	t.Helper()
	return eval[string](t, `document.getElementById("summary").innerText.replace(/ · .*/, "")`)
}

func TestBrowserSearch(t *testing.T) {
	s := newSite(t, hostileRepository(t))
	t.Run("results", func(t *testing.T) { s.in(t).searchResults() })
	t.Run("colours", func(t *testing.T) { s.in(t).searchColours() })
	t.Run("strangers", func(t *testing.T) { s.in(t).searchStrangers() })
	t.Run("incomplete", func(t *testing.T) { s.in(t).searchIncomplete() })
	t.Run("filters", func(t *testing.T) { s.in(t).searchFilters() })
	t.Run("other kinds", func(t *testing.T) { s.in(t).searchKinds() })
	t.Run("query text", func(t *testing.T) { s.in(t).searchText() })
	t.Run("keyboard", func(t *testing.T) { s.in(t).searchKeyboard() })
	t.Run("completion", func(t *testing.T) { s.in(t).searchCompletion() })
	t.Run("query", func(t *testing.T) { s.in(t).searchReading() })
	t.Run("long lines", func(t *testing.T) { s.in(t).searchLong() })
	t.Run("typing", func(t *testing.T) { s.in(t).searchTyping() })
	t.Run("view", func(t *testing.T) { s.in(t).searchView() })
	t.Run("endless", func(t *testing.T) { s.in(t).searchEndless() })
	t.Run("one worker", func(t *testing.T) { s.in(t).searchWithOneWorker() })
	t.Run("theme", func(t *testing.T) { s.in(t).searchTheme() })
	t.Run("broken", func(t *testing.T) { s.in(t).searchBroken() })
}

// Code is coloured, and marks stay. Colours come in a part of a second or not at all,
// and a busy machine may have none of it for them.
func (s *site) searchColours() {
	changed := s.search("type:diff heats file:kiln")
	for tries := 0; tries < 10 && !eval[bool](changed, `(async () => {
			for (const end = Date.now() + 3000; !document.querySelector(".diff .plus .c-k") && Date.now() < end;) await new Promise(requestAnimationFrame)
			return document.querySelector(".diff .plus .c-k") !== null
		})()`); tries++ {
		changed = s.search("type:diff heats file:kiln")
	}
	if got := eval[string](changed, `[".diff .plus .c-k", ".diff .plus .sign", ".diff .plus .no[href]"].map(e => document.querySelector(e)?.textContent).join()`); got != "func,+,2" {
		s.Errorf("the diff has %q, want colours and numbers of lines", got)
	}
	const want = "c-f step,c-n 7,c-c // slip|step(7) // slip|step(7)"
	got := ""
	for tries := 0; tries < 10 && got != want; tries++ {
		got = eval[string](s.search("repo:hostile file:kiln step(7)"), `(async () => {
			for (const end = Date.now() + 5000; !document.querySelector(".hit [class^=c-]") && Date.now() < end;) await new Promise(requestAnimationFrame)
			const code = document.querySelector(".hit code")
			return [...code.querySelectorAll("[class^=c-]")].map(e => e.className + " " + e.textContent).join() + "|" + code.textContent.trim() + "|" + code.querySelector("mark").textContent
		})()`)
	}
	if got != want {
		s.Errorf("code is %q, want %q", got, want)
	}
}

// Every kind of result is shown, with what matched marked and links that lead
// to it.
func (s *site) searchResults() {
	for _, c := range []struct {
		query, summary string
		expression     string // of the page
		want           string
	}{
		// text, counted in characters and not in bytes
		{"½ glazes", "2 results in 1 repository", `[...document.querySelectorAll("mark")].map(e => e.textContent).join()`, "½,glazes"},
		{"repo:hostile file:kiln step(7)", "1 result in 1 repository", `document.querySelector(".hit").innerText.replace(/\s+/g, " ")`, "33 step(7) // slip"},
		{"repo:hostile file:kiln step(7)", "1 result in 1 repository", `document.querySelector(".hit .no").getAttribute("href")`, "/hostile/-/blob/kiln.go?L33&q=repo%3Ahostile+file%3Akiln+step%287%29"},
		{"repo:hostile@main heats", "1 result in 1 repository", `document.querySelector("h3 .path").getAttribute("href")`, "/hostile@main/-/blob/kiln.go?q=repo%3Ahostile%40main+heats"},
		// the matches that are not there at once come when they are asked for, and go again
		{"slip", "40 results in 1 repository", `(async () => {
			const marks = () => document.querySelectorAll("mark").length, settled = n => new Promise(done => {
				const look = () => marks() === n ? done() : requestAnimationFrame(look)
				look()
			})
			const said = [marks(), document.querySelector(".toggle").textContent]
			document.querySelector(".toggle").click()
			await settled(40)
			said.push(document.querySelector(".toggle").textContent, document.activeElement.tagName)
			document.querySelector(".toggle").click()
			await settled(5)
			return said.join()
		})()`, "5,Show 35 more matches,Show fewer,ARTICLE"},
		// the other kinds
		{"type:path kiln", "1 result in 1 repository", `document.querySelector("h3 .path").innerHTML`, "<bdi><mark>kiln</mark>.go</bdi>"},
		{"type:repo hostile", "1 result in 1 repository", `document.querySelector("h3 .path").getAttribute("href")`, "/hostile"},
		{"type:commit made", "1 result in 1 repository", `document.querySelector(".code mark").textContent + document.querySelectorAll("h3 a[href*='/-/commit/']").length`, "made2"},
		{"type:diff heats", "1 result in 1 repository", `document.querySelector(".diff .plus mark").textContent`, "heats"},
		{"type:path kiln", "1 result in 1 repository", `(async () => {
			Object.defineProperty(navigator, "clipboard", {value: {writeText: async text => { window.copied = text }}})
			const button = document.querySelector("h3 .copy")
			button.click()
			await new Promise(requestAnimationFrame)
			return window.copied + ", " + button.textContent
		})()`, "kiln.go, Copied"},
		// what the address says beside the query
		{"GLAZES", "1 result in 1 repository", `document.querySelector("mark").textContent`, "glazes"},
	} {
		t := s.search(c.query)
		if got := t.summary(); got != c.summary {
			s.Errorf("%q: the page says %q, want %q", c.query, got, c.summary)
			continue
		}
		if got := eval[string](t, c.expression); got != c.want {
			s.Errorf("%q: %s is %q, want %q", c.query, c.expression, got, c.want)
		}
		t.quiet()
	}
	// the whole answer is a file, however much of it the query asked for
	t := s.search("slip count:1", "case", "yes")
	if got := eval[string](t, `(async () => {
		const links = [...document.querySelectorAll("#summary a[download]")]
		const texts = await Promise.all(links.map(async a => (await fetch(a.href)).text()))
		return links.map((a, i) => a.download + " " + new URL(a.href).searchParams.get("q") + " " + texts[i].trimEnd().split("\n").length).join("|")
	})()`); got != "search.csv slip count:1 case:yes 3|search.jsonl slip count:1 case:yes 2" {
		s.Errorf("the files of a limited answer are %q", got)
	}
	t = s.search("slip")
	if got := eval[int](t, `(async () => (await (await fetch(document.querySelector("#summary a[download]").href)).text()).trimEnd().split("\n").length)()`); got != 41 {
		s.Errorf("the table of 40 results has %d rows", got)
	}
	if got := s.search("GLAZES", "case", "yes").summary(); !strings.HasPrefix(got, "No results") {
		s.Errorf("with case=yes the page says %q", got)
	}
	if got := s.search("gla[sz]es", "patternType", "regexp").summary(); got != "1 result in 1 repository" {
		s.Errorf("with patternType=regexp the page says %q", got)
	}
}

// What strangers wrote is shown as they wrote it, and does nothing.
func (s *site) searchStrangers() {
	for _, q := range []string{"glaze count:all", "type:path count:all", "type:commit fire", "type:diff glaze", `"></script><script>window.pwned=1</script>`, "repo:hostile@<b>x"} {
		t := s.search(q)
		if eval[bool](t, `"pwned" in window`) {
			s.Errorf("%q: a stranger's script ran", q)
		}
		if n := eval[int](t, `document.querySelectorAll("#results img, #results script, main [onmouseover], main [style]:not(#results, #results > article)").length`); n > 0 {
			s.Errorf("%q: the page has %d elements that strangers wrote", q, n)
		}
		bad := eval[[]string](t, `[...document.querySelectorAll("main a")].map(a => a.href).filter(h => !h.startsWith(location.origin + "/"))`)
		if len(bad) > 0 {
			s.Errorf("%q: the page has the links %q", q, bad)
		}
		t.quiet()
	}
	t := s.search("glaze count:all")
	t.do(chromedp.EmulateViewport(1280, 4000)) // all results are near the window
	t.until(titles + fmt.Sprintf(`.length >= %d`, len(hostile)))
	names := eval[[]string](t, titles)
	for _, name := range hostile {
		if !slices.Contains(names, name) {
			s.Errorf("the page has no result called %q, but %q", name, names)
		}
	}
	if got := eval[string](t, `document.querySelector("#results .hit code").textContent`); got != strings.TrimSuffix(hostileText, "\n") {
		s.Errorf("the page shows the line %q, want %q", got, hostileText)
	}
	// the links lead to the very files
	for i, name := range eval[[]string](t, titles) {
		href := eval[string](t, fmt.Sprintf(`document.querySelectorAll("#results h3 .path")[%d].pathname`, i))
		if got, err := url.PathUnescape(href); err != nil || got != "/hostile/-/blob/"+name {
			s.Errorf("the link of %q leads to %q (%v)", name, got, err)
		}
	}
	if n := eval[int](t, `[...document.querySelectorAll(".badge")].filter(e => e.textContent === "hidden characters").length`); n == 0 {
		s.Error("nothing warns of characters that change the order of others")
	}
}

// A page never says that there is nothing when not everything was looked at.
func (s *site) searchIncomplete() {
	for _, c := range []struct{ query, summary, more string }{
		{"nosuchword", "No results: everything was searched that the query asks for", ""},
		{"count:3 slip", "3+ results in 1 repository", "Not everything was shown: result limit hit"},
		{"nosuchword repo:nowhere", "No results: see the note below", "No repositories found"},
		{"nosuchword repo:hostile@nobranch", "No results: see the note below", "Some repositories could not be searched"},
		{"nosuchword file:has.owner(ann)", "No results: see the note below", "Some results have no owners"},
		{"count:none x", "Nothing found so far, but not everything was searched", "Unable To Process Query"},
		{"lang:nosuch x", "Nothing found so far, but not everything was searched", "Unable To Process Query"},
	} {
		t := s.search(c.query)
		if got := t.summary(); got != c.summary {
			s.Errorf("%q: the page says %q, want %q", c.query, got, c.summary)
		}
		if got := eval[string](t, `document.getElementById("alert").innerText + skipped.innerText`); !strings.Contains(got, c.more) || c.more == "" && got != "" {
			s.Errorf("%q: the page says %q, want in it %q", c.query, got, c.more)
		}
		t.quiet()
	}
	// what would lift a limit is a link away
	t := s.search("count:3 slip")
	t.do(chromedp.Click(chromedp.CSS("#skipped summary")), chromedp.Click(chromedp.CSS("#skipped a")))
	t.until(`new URLSearchParams(location.search).get("q") === "slip count:1000" && told.textContent.startsWith("40 results")`)
}

// answering has a tab ask a server that answers with what an expression of
// JavaScript makes, but for how queries are read and code is coloured.
func answering(expression string) step {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{
			Source: `const ask = window.fetch
				window.fetch = async (address, how) => /\/\.api\/(colours|search\/parse)/.test(address) ? ask(address, how) : (` + expression + ")",
		})
		return err
	})
}

// The kinds that this repository has no example of, and a server that means
// harm: its addresses lead nowhere else, and its words stay words.
func (s *site) searchKinds() {
	const matches = `[
		{type: "symbol", repository: "a b/c", path: "d#e/f.go", branches: ["v/1"], symbols: [
			{url: "/a%20b/c@v/1/-/blob/d%23e/f.go?L4:6-4:10", name: "<i>Fire", containerName: "kiln", kind: "FUNCTION", line: 4},
			{url: "javascript:window.pwned=1", name: "Evil", containerName: "", kind: "X", line: 1}]},
		{type: "repo", repository: "lab/glaze", repositoryMatches: [{start: {offset: 4, line: 0, column: 4}, end: {offset: 9, line: 0, column: 9}}],
			description: "all of <b>it", fork: true, archived: true, private: true, repoStars: 1, topics: ["clay"]},
		{type: "commit", repository: "lab/glaze", url: "//evil.example", oid: "0123456789abcdef", message: "one\ntwo", authorName: "<b>A",
			authorDate: "2031-01-31T09:30:00Z", content: "FENCEdiff\nf f\n@@ -1,1 +1,1 @@ g\n-a\n+<b>b\nold\\ .go /dev/null\n@@ -7,1 +6,0 @@\n-<i>\n/dev/null new.go\nwas.go is.go\n@@ -3,2 +4,2 @@\n c\n-d\n+e\n-@a.go -@a.go\n@@ -1,1 +1,1 @@\n--x\n+y\n\nFENCE",
			ranges: [[4, 1, 3], [8, 10, 3], [9, 4, 2]], contentTruncated: true, hiddenRanges: 2},
		{type: "path", repository: "r", path: "docs/"},
		{type: "person", handle: "<i>ann"}, {type: "team", name: "lab"}, {type: "<img src=x>"}]`
	body := `["event: matches", "data: " + JSON.stringify(` + strings.ReplaceAll(matches, "FENCE", "```") + `), "", "event: progress",
		'data: {"done":true,"matchCount":7,"durationMs":1,"skipped":[]}', "", "event: done", "data: {}", "", ""].join("\n")`
	t := s.open("/sign-in", answering(`new Response(`+body+`, {headers: {"Content-Type": "text/event-stream"}})`))
	t.do(chromedp.Navigate(s.url + "/search?q=x"))
	t.until(`told.textContent !== ""`)
	got := eval[[]string](t, `[...document.querySelectorAll("#results article")].map(e => e.innerText.replace(/\s+/g, " ").trim())`)
	want := []string{
		"a b/c @v/1 › d#e/f.go Copy path 2 symbols function <i>Fire in kiln line 4 x Evil line 1",
		"lab/glaze fork archived private 1 star all of <b>it clay",
		"lab/glaze › one <b>A 2031-01-31 0123456789 f +1 −1 shown @@ -1,1 +1,1 @@ g 1 -a 1 +<b>b old\\ .go /dev/null +0 −1 shown @@ -7,1 +6,0 @@ 7 -<i>" +
			" new.go added was.go → is.go +1 −1 shown @@ -3,2 +4,2 @@ 3 4 c 4 -d 5 +e -@a.go +1 −1 shown @@ -1,1 +1,1 @@ 1 --x 1 +y 2 more matches in the commit",
		"r › docs/ Copy path", "person <i>ann", "team lab", "A result of the kind <img src=x>, which this page does not know",
	}
	if !slices.Equal(got, want) {
		s.Errorf("the results are\n%q\nwant\n%q", got, want)
	}
	links := eval[[]string](t, `[...document.querySelectorAll("#results a")].map(a => a.getAttribute("href")).filter(h => h !== null)`)
	wantLinks := []string{
		"/a%20b/c@v/1", "/a%20b/c@v/1/-/blob/d%23e/f.go", "/a%20b/c@v/1/-/blob/d%23e/f.go?L4:6-4:10", "/lab/glaze", "/lab/glaze", "/lab/glaze@0123456789abcdef/-/blob/f", "/lab/glaze@0123456789abcdef/-/blob/f?L1", "/lab/glaze@0123456789abcdef/-/blob/new.go",
		"/lab/glaze@0123456789abcdef/-/blob/is.go", "/lab/glaze@0123456789abcdef/-/blob/is.go?L4", "/lab/glaze@0123456789abcdef/-/blob/is.go?L5",
		"/lab/glaze@0123456789abcdef/-/blob/-%40a.go", "/lab/glaze@0123456789abcdef/-/blob/-%40a.go?L1", "/r", "/r/-/tree/docs",
	}
	if !slices.Equal(links, wantLinks) {
		s.Errorf("the links are\n%q\nwant\n%q", links, wantLinks)
	}
	// a file that was folded is so when its result comes back
	fold := chromedp.Evaluate[chromedp.Void](`document.querySelector(".diff summary").click()`) // wherever it is while lines are drawn
	t.do(fold)
	t.until(`!document.querySelector(".diff details").open && document.querySelectorAll(".diff details[open]").length === 3`)
	t.do(chromedp.Click("button[data-show=shut]"), chromedp.Click("button[data-show=open]"))
	t.until(`document.querySelector(".diff details")?.open === false && document.querySelectorAll(".diff details[open]").length === 3`)
	t.do(fold)
	t.until(`document.querySelectorAll(".diff details[open]").length === 4`)
	if got := eval[string](t, `document.querySelector(".plus mark").textContent`); got != "<b>" {
		s.Errorf("the diff marks %q", got)
	}
	t.quiet()
}

// The query box proposes filters and their values, by keyboard and to those who do
// not see it.
func (s *site) searchCompletion() {
	t := s.open("/search")
	t.until(`q.role === "combobox" && q.getAttribute("aria-controls") === "proposals" && q.ariaExpanded === "false"`)
	t.do(chromedp.KeyEvent("slip re"))
	t.until(`[...proposals.children].map(e => e.firstChild.textContent).join() === "repo:,rev:"`)
	t.keys(kb.ArrowDown)
	if got := eval[string](t, `[q.ariaExpanded, document.getElementById(q.getAttribute("aria-activedescendant")).ariaSelected, document.activeElement.id, proposals.role, proposals.firstChild.role].join()`); got != "true,true,q,listbox,option" {
		s.Errorf("the first proposal is %s", got)
	}
	if bad := eval[[]string](t, unreadable); len(bad) > 0 {
		s.Errorf("with proposals: %q", bad)
	}
	t.keys(kb.Tab) // the protocol sends Enter twice, as a key and as a character
	t.until(`q.value === "slip repo:" && proposals.innerText.includes("hostile")`)
	t.do(chromedp.KeyEvent("hos"))
	t.until(`proposals.children.length === 1`)
	t.keys(kb.ArrowDown, kb.Tab)
	t.until(`q.value === "slip repo:^hostile$ " && proposals.hidden && document.activeElement.id === "q"`)
	t.do(chromedp.KeyEvent("file:kil"))
	proposed := false
	for tries := 0; tries < 20 && !proposed; tries++ { // a search has half a second, which may be little on a busy machine
		proposed = eval[bool](t, `(async () => {
			const there = () => [...proposals.children].some(e => e.innerText.includes("kiln.go") && e.innerText.includes("file"))
			for (const end = Date.now() + 3000; !there() && Date.now() < end;) await new Promise(done => setTimeout(done, 20))
			return there() || !q.dispatchEvent(new Event("input"))
		})()`)
	}
	if !proposed {
		s.Error("no file is proposed")
	}
	t.keys(kb.ArrowDown, kb.Tab)
	t.until(`q.value === "slip repo:^hostile$ file:^kiln\\.go$ "`)
	t.do(chromedp.KeyEvent("lang:g"))
	t.until(`proposals.innerText.includes("language")`)
	t.keys(kb.Escape)
	t.until(`proposals.hidden && document.activeElement.id === "q"`)
	t.do(chromedp.KeyEvent("o" + kb.Enter))
	t.until(`document.getElementById("told")?.textContent.startsWith("40 results") && ` + loaded)

	// names of strangers stay names
	t = s.open("/sign-in", answering(`new Response(JSON.stringify({from: 0, to: 1, items: [
		{text: "repo:x ", label: "<img src=x onerror='window.pwned=1'>", kind: "<b>"}]}), {headers: {"Content-Type": "application/json"}})`))
	t.do(chromedp.Navigate(s.url + "/search"))
	t.do(chromedp.KeyEvent("x"))
	t.until(`proposals.innerText.includes("<img src=x") && proposals.innerText.includes("<b>") && !proposals.querySelector("img, b") && !("pwned" in window)`)
	t.quiet()
}

// What is written in the query box is coloured as it is read, and what is wrong with
// it is said with its column and a query to go on with.
func (s *site) searchReading() {
	t := s.open("/search")
	t.until(`q.role === "combobox"`)
	coloured := func(want string) {
		s.Helper()
		t.until(fmt.Sprintf(`[...painted.children].map(e => e.className.slice(3) + " " + e.textContent).join() === %q && painted.textContent === q.value`, want))
	}
	t.do(chromedp.KeyEvent("repo:^host (<b> or /sl.p/)"))
	coloured("field repo:,regexp ^,value host,operator (,operator or,regexp /,regexp .,regexp /,operator )")
	if got := eval[string](t, `[getComputedStyle(q).color, painted.getBoundingClientRect().x + 1 - q.getBoundingClientRect().x, painted.querySelector("b")].join("|")`); got != "rgba(0, 0, 0, 0)|1|" {
		s.Errorf("the box is painted %q", got)
	}
	if bad := eval[[]string](t, unreadable); len(bad) > 0 {
		s.Errorf("with colours: %q", bad)
	}

	// the part is coloured while its reading is on its way, and moves with what is
	// typed before it
	eval[bool](t, `(q.setSelectionRange(0, 0), true)`)
	t.do(chromedp.KeyEvent("x "))
	coloured("field repo:,regexp ^,value host,operator (,operator or,regexp /,regexp .,regexp /,operator )")

	eval[bool](t, `(q.value = "", q.dispatchEvent(new Event("input")), true)`)
	t.until(`painted.hidden && getComputedStyle(q).color !== "rgba(0, 0, 0, 0)"`)
	t.do(chromedp.KeyEvent("slip langg:go"))
	t.until(`remarks.innerText.startsWith("Column 6: There is no filter langg:") && remarks.querySelector("a")?.textContent.startsWith("slip lang:go") && q.ariaInvalid !== "true"`)
	if bad := eval[[]string](t, unreadable); len(bad) > 0 {
		s.Errorf("with a remark: %q", bad)
	}
	t.do(chromedp.KeyEvent(" fork:<i>"))
	t.until(`remarks.innerText.startsWith("Column 15: invalid value") && remarks.innerText.includes("<i>") && !remarks.querySelector("i") && q.ariaInvalid === "true"`)
	eval[bool](t, `(q.value = "slip langg:go", q.dispatchEvent(new Event("input")), true)`)
	t.until(`remarks.querySelector("a")`)
	t.leave(`remarks.querySelector("a").click()`)
	t.until(`new URLSearchParams(location.search).get("q")?.startsWith("slip lang:go") && document.getElementById("told")?.textContent.startsWith("40 results")`)
	t.quiet()
}

// loaded is whether the page was loaded for its query, as Enter does, and typing does not.
const loaded = `new URL(performance.getEntriesByType("navigation")[0].name).searchParams.get("q")?.trim() === new URLSearchParams(location.search).get("q")?.trim()`

// The text of a query survives the filters that are added and removed, and
// spans of any kind mark the characters that they count.
func (s *site) searchText() {
	t := s.search("slip")
	script := func(name string) string {
		return fmt.Sprintf(`import(document.querySelector("script[src$='search.js']").src.replace("search.js", %q))`, name)
	}
	for _, c := range []struct{ script, call, want string }{
		// words stand between white space outside of quotes
		{"query.js", `m.words("a  lang:\"visual basic\" 'it s' b\"c")`, `["a","lang:\"visual basic\"","'it s'","b\"c"]`},
		{"query.js", `m.words("")`, `[]`},
		// filters of one kind stand beside each other, and are left out
		{"query.js", `m.either("x lang:go", "lang", "lang:c")`, `"x (lang:go or lang:c)"`},
		{"query.js", `m.either("x (lang:go or lang:c) y", "lang", "lang:\"d e\"")`, `"x (lang:go or lang:c or lang:\"d e\") y"`},
		{"query.js", `m.either("x", "lang", "lang:c")`, `"x lang:c"`},
		{"query.js", `m.without("(repo:^a(b)$ or repo:c) x", "repo:^a(b)$")`, `"repo:c x"`},
		{"query.js", `m.without("(repo:^a$ or repo:^c(d)$ or repo:e)", "repo:e")`, `"(repo:^a$ or repo:^c(d)$)"`},
		{"query.js", `[m.has("(repo:^a$ or repo:^c(d)$)", "repo:^c(d)$"), m.has("(repo:^a$ or repo:b)", "repo:^a$"), m.has("(a or lang:go)", "lang:go")]`, `[true,true,true]`},
		{"query.js", `m.parts("-lang:go (lang:c or lang:d) -repo:x", "lang")`, `{"left":["lang:go"],"chosen":["lang:c","lang:d"]}`},
		{"query.js", `m.excluding("x lang:go", "lang", "lang:go")`, `"x -lang:go"`},
		{"query.js", `m.excluding("a or b", "lang", "lang:go")`, `"(a or b) -lang:go"`},
		// a filter is added once
		{"query.js", `m.adding("", "lang:go")`, `"lang:go"`},
		{"query.js", `m.adding("a b", "lang:go")`, `"a b lang:go"`},
		{"query.js", `m.adding("count:5 a", "count:1000")`, `"a count:1000"`},
		{"query.js", `m.adding("a COUNT:5", "count:1000")`, `"a count:1000"`},
		{"query.js", `m.adding("file:a fork:no", "fork:yes")`, `"file:a fork:yes"`},
		{"query.js", `m.adding("\"count:5 a\"", "count:1000")`, `"\"count:5 a\" count:1000"`},
		// for both sides of an or, not for the last alone
		{"query.js", `m.adding("a or b", "lang:go")`, `"(a or b) lang:go"`},
		// an operator goes with the setting that was its operand
		{"query.js", `m.adding("x or count:all", "fork:yes")`, `"x count:all fork:yes"`},
		{"query.js", `m.adding("x and count:all or y", "fork:yes")`, `"(x or y) count:all fork:yes"`},
		{"query.js", `m.adding("x or count:all and y", "fork:yes")`, `"(x or y) count:all fork:yes"`},
		{"query.js", `m.adding("x or count:all y", "fork:yes")`, `"(x or y) count:all fork:yes"`},
		{"query.js", `m.adding("count:5 or case:yes", "fork:yes")`, `"count:5 case:yes fork:yes"`},
		{"query.js", `m.adding("x or y or count:5", "fork:yes")`, `"(x or y) count:5 fork:yes"`},
		{"query.js", `m.adding("(a OR b) c", "lang:go")`, `"(a OR b) c lang:go"`},
		{"query.js", `m.adding("repo:a x or repo:b y", "lang:go")`, `"(repo:a x or repo:b y) lang:go"`},
		{"query.js", `m.adding("repo:a x case:yes or repo:b y count:5", "lang:go")`, `"(repo:a x or repo:b y) case:yes count:5 lang:go"`},
		{"query.js", `m.adding("(x case:yes) or y", "lang:go")`, `"((x case:yes) or y) lang:go"`},
		// unless its filters are read as those of all
		{"query.js", `m.adding("repo:a x or y", "lang:go")`, `"repo:a x or y lang:go"`},
		{"query.js", `m.adding("case:yes -file:a x or not y file:b", "lang:go")`, `"case:yes -file:a x or not y file:b lang:go"`},
		{"query.js", `m.adding("repo:a x or (y)", "lang:go")`, `"(repo:a x or (y)) lang:go"`},
		{"query.js", `m.adding("\"a or b\"", "lang:go")`, `"\"a or b\" lang:go"`},
		// and removed as it was added
		{"query.js", `m.has("a lang:go b", "lang:go")`, `true`},
		{"query.js", `m.has("a -lang:go", "lang:go")`, `false`},
		{"query.js", `m.without("a lang:\"visual basic\" b", "lang:\"visual basic\"")`, `"a b"`},
		{"query.js", `m.has("a repo:^x$@v1 b", "repo:^x$@v1")`, `true`},
		// characters are code points, as the server counts them
		{"dom.js", `[...m.marked("½𝄞glaze", [[2, 7]]).childNodes].map(n => n.textContent)`, `["½𝄞","glaze",""]`},
		{"dom.js", `[...m.marked("abcdef", [[4, 9], [1, 3], [2, 4], [7, 8], [0, 0]]).querySelectorAll("mark")].map(n => n.textContent)`, `["bcdef"]`},
		{"dom.js", `m.marked("abc", []).textContent`, `"abc"`},
		// no address leads elsewhere
		{"dom.js", `["//evil.example", "/\\\\evil.example", "https://evil.example", "javascript:x", ""].map(p => m.link(p, "").getAttribute("href"))`, `[null,null,null,null,null]`},
		{"dom.js", `m.link("/" + m.escapePath("a b/?#%/<"), "").getAttribute("href")`, `"/a%20b/%3F%23%25/%3C"`},
		{"dom.js", "m.prose(\"a `b` <i>\\n* c\\n* d\").textContent", `"a b <i>cd"`},
	} {
		if got := eval[string](t, script(c.script)+`.then(m => JSON.stringify(`+c.call+`))`); got != c.want {
			s.Errorf("%s: %s is %s, want %s", c.script, c.call, got, c.want)
		}
	}
	t.quiet()
}

// All of it works without a mouse.
func (s *site) searchKeyboard() {
	t := s.open("/")
	t.until(`location.pathname === "/search" && document.activeElement.id === "q"`)
	t.do(chromedp.KeyEvent("slip" + kb.Enter))
	t.until(`location.search.includes("q=slip") && told.textContent.startsWith("40 results") && ` + loaded)

	// the first stop leads past the bar
	t.keys(kb.Tab)
	if got := eval[string](t, `document.activeElement.textContent`); got != "Skip to the content" {
		s.Errorf("the first stop is %q", got)
	}
	t.keys(kb.Enter, kb.Tab)
	t.until(`document.activeElement.id === "q"`)

	// each stop can be seen to have the focus
	var stops []string
	for range 32 {
		t.keys(kb.Tab)
		stop := eval[[]string](t, `(() => { const e = document.activeElement, c = getComputedStyle(e); return [e.textContent || e.id, c.outlineStyle, c.outlineWidth] })()`)
		if stop[1] != "solid" || stop[2] != "3px" {
			s.Errorf("the stop %q has the outline %q", stop[0], stop[1:])
		}
		stops = append(stops, stop[0])
	}
	for _, want := range []string{"case", "Search", "Go40", "kiln.go", "Copy path", "5"} {
		if !slices.Contains(stops, want) {
			s.Errorf("the stops %q lack %q", stops, want)
		}
	}
	// the stop behind the form leads past filters and views
	t.keys("/")
	for range len(stops) {
		if t.keys(kb.Tab); eval[bool](t, `document.activeElement.textContent === "Skip to the results"`) {
			break
		}
	}
	t.keys(kb.Enter, kb.Tab)
	if got := eval[string](t, `document.activeElement.textContent`); got != "hostile" {
		s.Errorf("after skipping to the results the focus is on %q", got)
	}
	t.keys("/")
	t.until(`document.activeElement.id === "q"`)

	// what was searched for is proposed, and choices act at once
	eval[bool](t, `(q.value = "", true)`)
	t.keys(kb.ArrowDown)
	t.until(`proposals.firstChild?.innerText.startsWith("slip") && q.ariaExpanded === "true"`)
	t.keys(kb.ArrowDown, kb.Tab)
	t.until(`q.value === "slip" && proposals.hidden`)
	t.do(chromedp.Click(chromedp.CSS("#case")))
	t.until(`location.search.includes("case=yes") && document.getElementById("told")?.textContent.startsWith("40 results")`)
	t.quiet()

	// keys move through the results and open them
	t = s.search("glaze count:all")
	at := func(i int) {
		s.Helper()
		t.until(fmt.Sprintf(`document.activeElement.closest("article")?.ariaPosInSet === "%d" && document.activeElement.matches(".path")`, i))
	}
	t.keys("j")
	at(1)
	t.keys("j", "j")
	at(3)
	t.keys("k")
	at(2)
	call(t, keyinput.DispatchKeyEvent, keyinput.DispatchKeyEventParams{Type: "keyDown", Key: "k", Code: "KeyK", Modifiers: 2})
	t.until(`document.activeElement.id === "q"`)
	t.keys(kb.Escape)
	at(1)
	t.keys("?")
	t.until(`document.getElementById("keys").open && document.getElementById("keys").matches(":modal")`)
	t.keys(kb.Escape)
	t.until(`!document.getElementById("keys").open`)
	path := eval[string](t, `document.querySelector("article[aria-posinset='2'] .path").pathname`)
	t.keys("j", "o")
	t.until(`location.pathname.startsWith("/hostile/-/blob/")`)
	if got := eval[string](t, `location.pathname`); got != path {
		s.Errorf("o opens %q, want %q", got, path)
	}
	t.quiet()
}
