package main

import (
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// The list of repositories follows what is typed, and works as a form without scripts.
func TestBrowserRepositories(t *testing.T) {
	s := newSite(t, repository(t, "kiln"), repository(t, "glaze"))
	tab := s.open("/search")
	tab.do(chromedp.Click(`nav a[href="/-/repositories"]`))
	tab.until(`document.querySelectorAll("#repositories tbody tr").length === 2`)
	tab.press("/")
	tab.until(`document.activeElement.id === "find"`)
	tab.keys("Kil")
	tab.until(`document.querySelectorAll("#repositories tbody tr").length === 1 && document.getElementById("total").textContent === "1 repository found" && location.search === "?q=Kil"`)
	tab.keys("nowhere")
	tab.until(`document.getElementById("total").textContent === "0 repositories found" && document.activeElement.id === "find"`)
	tab.empty("#find")
	tab.do(chromedp.SendKeys("#find", "kiln"+kb.Enter))
	tab.until(`document.querySelector("#repositories tbody a")?.textContent === "kiln"`)
	tab.do(chromedp.Navigate(s.url + "/-/repositories?q=gla&sort=name"))
	tab.until(`document.querySelectorAll("#repositories tbody tr").length === 1 && document.getElementById("find").value === "gla"`)

	call(tab, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	tab.do(chromedp.Navigate(s.url+"/-/repositories"), chromedp.SendKeys("#find", "kil"+kb.Enter))
	tab.do(chromedp.WaitVisible(`#repositories a[href="/kiln"]`), chromedp.WaitNotPresent(`#repositories a[href="/glaze"]`))
	tab.do(chromedp.Click(`#repositories a[href="/kiln"]`), chromedp.WaitVisible(`.entries a[href="/kiln/-/blob/a.txt"]`))
	tab.quiet()
}
