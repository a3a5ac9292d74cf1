package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestBrowserAdmin: site admins change settings and facts, add a code host, and make and
// verify backups on pages.
func TestBrowserAdmin(t *testing.T) {
	dir := repository(t, "kiln")
	file := filepath.Join(t.TempDir(), "trawl.yaml")
	if err := os.WriteFile(file, fmt.Appendf(nil, "backup:\n  to: %s\n  every: 24h\n", filepath.Join(t.TempDir(), "backups")), 0o600); err != nil {
		t.Fatal(err)
	}
	s := newSite(t, dir, "--config", file)
	s.user("ann", "--admin")
	tab := s.signIn("ann")
	tab.accept()
	send := func(form, says string) {
		t.Helper()
		eval[bool](tab, "window.asked = true")
		tab.leave(fmt.Sprintf("document.querySelector(%q).closest('form').requestSubmit(document.querySelector(%q))", form, form))
		tab.until(fmt.Sprintf("!window.asked && document.querySelector('main [role=status], main [role=alert]')?.textContent.includes(%q)", says))
	}

	// a setting, which is refused and then taken
	tab.do(chromedp.Navigate(s.url + "/site-admin/configuration"))
	eval[string](tab, `document.querySelector('[name="slow-query"]').value = "soon"`)
	send("#configuration button", "slow-query")
	eval[string](tab, `document.querySelector('[name="slow-query"]').value = "3s"`)
	send("#configuration button", "Saved, and in force.")
	tab.until(`document.querySelector('[name="slow-query"]').value === "3s"`)

	// facts and metadata of a repository
	tab.do(chromedp.Navigate(s.url + "/site-admin/repositories/1"))
	eval[string](tab, `document.getElementById("description").value = "<b>Fires</b> clay"`)
	send("form[action$='/facts'] button", "Saved.")
	eval[string](tab, `document.getElementById("key").value = "team"`)
	eval[string](tab, `document.getElementById("value").value = "lab"`)
	send("form[action$='/metadata'] button", "Saved.")
	tab.until(`/team[^]*lab/.test(document.querySelector("main").innerText)`)
	tab.do(chromedp.Navigate(s.url + "/-/repositories"))
	tab.until(`document.querySelector("main").innerText.includes("<b>Fires</b> clay")`)

	// a code host: what it would bring, a mistake, and its end
	tab.do(chromedp.Navigate(s.url + "/site-admin/external-services"))
	fill := func(config string) {
		t.Helper()
		eval[string](tab, `document.getElementById("kind").value = "OTHER"`)
		eval[string](tab, `document.getElementById("name").value = "<i>lab</i>"`)
		eval[string](tab, fmt.Sprintf(`document.getElementById("config").value = %q`, config))
	}
	fill(`{"repos": `)
	send("form.stack button:not([formaction])", "is no JSON")
	const config = `{"url": "http://me:t0ps3cret@127.0.0.1:1", "repos": ["lab/kiln"]}`
	fill(config)
	send("form.stack button[formaction]", "127.0.0.1/lab/kiln")
	if got := eval[string](tab, `document.getElementById("config").value`); got != config {
		t.Errorf("after a preview the form has %q", got)
	}
	send("form.stack button:not([formaction])", "It is there")
	tab.leave(`document.querySelector("#services tbody a").click()`)
	tab.until(`document.querySelector("h1")?.textContent === "<i>lab</i>"`)
	if eval[bool](tab, `document.documentElement.outerHTML.includes("t0ps3cret")`) {
		t.Error("the page has a password")
	}
	if bad := append(eval[[]string](tab, unreadable), inaccessible(tab)...); len(bad) > 0 {
		t.Errorf("the page of a service: %q", bad)
	}
	send("form[action$='/remove'] button", "It is deleted")

	// the first backup is made by the server, another one when asked, and one is verified
	tab.do(chromedp.Navigate(s.url + "/site-admin/backups"))
	again := func() { tab.do(chromedp.Navigate(s.url + "/site-admin/backups")) }
	tab.await(`document.querySelectorAll("#backups tbody tr").length === 1 && !document.getElementById("running")`, again)
	send("form:not([action$='/verify']) button:not([class])", "A backup begins")
	tab.await(`document.querySelectorAll("#backups tbody tr").length === 2 && !document.getElementById("running")`, again)
	send("#backups form button", "The backup is read in the background")
	tab.await(`[...document.querySelectorAll("#backups tbody tr")].some(row => row.cells[6].innerText.includes("sound"))`, again)
	for _, said := range tab.complaints() {
		if !strings.Contains(said, "status of 422") { // of the two that were refused
			t.Errorf("the browser said %q", said)
		}
	}
}
