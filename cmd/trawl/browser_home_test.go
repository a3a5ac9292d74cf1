package main

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// The page leads from nothing to a search: the first user, a repository, an example
// that finds something.
func TestBrowserHome(t *testing.T) {
	kiln := repository(t, "kiln")
	t.Chdir(t.TempDir()) // the directory of a test is a repository, which would be served
	s := newSite(t, "--allow-local-sources=true")
	tab := s.open("/search")
	tab.until(`document.querySelector("#begin li a")?.pathname === "/sign-in"`)
	if eval[bool](tab, `document.querySelector("#here, #recent, #indexing") !== null`) {
		t.Error("an empty server has repositories")
	}
	tab.do(chromedp.Click(chromedp.CSS("#begin a")))
	tab.until(`location.pathname === "/sign-in"`)
	s.user("ann", "--admin")
	s.signIn("ann")
	tab.do(chromedp.Navigate(s.url + "/search"))
	tab.until(`document.querySelector("#begin a")?.pathname === "/site-admin/repositories"`)

	// by keyboard alone, on the page of site admins
	tab.do(chromedp.Focus(chromedp.CSS("#begin a")))
	tab.keys(kb.Enter)
	tab.until(`location.pathname === "/site-admin/repositories" && document.getElementById("source") !== null`)
	tab.do(chromedp.Focus(chromedp.CSS("#source")))
	tab.keys(kiln, kb.Enter)
	tab.until(`document.querySelector("[role=status]")?.textContent.startsWith("It is there") && repositories.tBodies[0].rows[0].innerText.startsWith("kiln")`)
	tab.until(`document.querySelector("#repositories .badge.good") !== null`) // the list follows the sync
	tab.liveRepositories()
	tab.reindex()
	tab.do(chromedp.Navigate(s.url + "/search"))
	tab.until(`document.querySelectorAll("#recent li a, #here dt a").length >= 2 && document.querySelector("#begin") === null`)
	if got := eval[string](tab, `document.querySelector("#recent li a").textContent`); got != "kiln" {
		t.Errorf("the repository is called %q", got)
	}
	tab.homeProgress()

	// by keyboard alone: the first example finds something
	tab.do(chromedp.Navigate(s.url+"/search"), chromedp.Focus(chromedp.CSS("#here a")))
	tab.keys(kb.Enter)
	tab.until(`document.querySelectorAll("#results article, #results [role=article]").length > 0`)
	tab.quiet()
}

// The list of repositories follows syncs, and takes the focus from nobody. Rows that come
// later ask before they remove.
func (t *tab) liveRepositories() {
	t.until(`document.querySelectorAll("#repositories tr[id]").length === 1`)
	eval[bool](t, `(() => {
		const page = document.documentElement.cloneNode(true)
		const row = page.querySelector("#repositories tr[id]"), other = row.cloneNode(true)
		row.cells[0].insertAdjacentHTML("beforeend", "<div>indexing 7 of 40</div>")
		row.cells[5].insertAdjacentHTML("beforeend", "<div>not while it is used</div>")
		other.id = "r0"
		row.before(other)
		page.querySelector("#counts").textContent = "counted anew"
		window.setTimeout = (f) => requestAnimationFrame(f)
		window.fetch = async () => new Response("<!doctype html>" + page.outerHTML)
		window.confirm = (text) => { window.asked = text }
		source.value = "half an addr"
		window.used = document.querySelector("#repositories button.danger")
		window.used.focus()
		return true
	})()`)
	t.until(`repositories.tBodies[0].rows[1]?.cells[0].innerText.includes("indexing 7 of 40") && counts.textContent === "counted anew"`)
	if !eval[bool](t, `document.activeElement === window.used && window.used.closest("tr") === repositories.tBodies[0].rows[1] && !repositories.innerText.includes("not while") && source.value === "half an addr"`) {
		t.Error("what is used did not stay")
	}
	eval[bool](t, `document.querySelector("#r0 button.danger").click(), true`)
	t.until(`window.asked?.startsWith("Remove kiln and")`)
	eval[bool](t, `window.used.blur(), true`)
	t.until(`repositories.innerText.includes("not while it is used")`)
}

// The page of a repository has the log of its last sync, and follows one that reads all
// again.
func (t *tab) reindex() {
	t.do(chromedp.Click(`#repositories tr:last-child a[href*="site-admin"]`))
	t.until(`document.getElementById("sync")?.innerText.includes("Read files") && sync.innerText.includes("1 written, 0 removed")`)
	eval[bool](t, `(() => {
		window.confirm = (text) => text.includes("Searches go on")
		document.querySelector("form[action$='/reindex'] button").click()
		return true
	})()`)
	t.until(`document.querySelector("[role=status]")?.textContent.startsWith("All of it is read again") && sync.innerText.includes("to read all of it again")`)
}

// Progress moves while something is indexed, and goes away with its end.
func (t *tab) homeProgress() {
	t.until(`document.getElementById("indexing")?.hidden === true`)
	eval[bool](t, `(() => {
		let done = 0
		window.setTimeout = (f) => queueMicrotask(() => requestAnimationFrame(f))
		window.fetch = async () => new Response(JSON.stringify(++done > 40 ? { repositories: 2, indexed: 2, waiting: 0, failing: 0 }
			: { repositories: 2, indexed: 1, waiting: 1, failing: 0, running: [{ name: "<img src=x>", phase: "index", done, total: 40 }] }))
		window.seen = new Set()
		new MutationObserver(() => window.seen.add(document.querySelector("#indexing-now li")?.innerText.trim() + " " + document.querySelector("#indexing-now progress")?.value)).observe(
			document.getElementById("indexing"), { childList: true, subtree: true, attributes: true })
		return true
	})()`)
	t.until(`window.seen.has("<img src=x>: indexing 7 of 40 7") && window.seen.has("<img src=x>: indexing 8 of 40 8")`)
	t.until(`document.getElementById("indexing").hidden && document.getElementById("indexing-count").textContent === "2 of 2 repositories can be searched"`)
}
