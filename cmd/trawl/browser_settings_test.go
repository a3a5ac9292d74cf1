package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

func TestBrowserSettings(t *testing.T) {
	s := newSite(t, repository(t, "kiln"))
	s.user("ann", "--admin")
	s.user("bob")
	t.Run("sign in", func(t *testing.T) { s.in(t).settingsSignIn() })
	t.Run("tokens", func(t *testing.T) { s.in(t).settingsTokens() })
	t.Run("password", func(t *testing.T) { s.in(t).settingsPassword() })
}

// Who is not signed in gets where they wanted to go, once they are.
func (s *site) settingsSignIn() {
	t := s.open("/user/settings/tokens")
	// Keys go where the focus is, which comes after the page.
	t.until(`location.pathname === "/sign-in" && document.activeElement?.id === "email"`)
	t.do(chromedp.KeyEvent("ann" + kb.Tab + "no password of hers" + kb.Enter))
	t.until(`document.querySelector("[role=alert]")?.textContent === "Authentication failed" && document.activeElement?.id === "email"`)
	t.do(chromedp.KeyEvent(kb.Tab + browserPassword + kb.Enter))
	t.until(`location.pathname === "/users/ann/settings/tokens"`)
	t.do(chromedp.Click(chromedp.CSS(`.bar form button`)))
	t.until(`location.pathname === "/sign-in"`)
}

// A token is made, shown once, used and revoked, with the keyboard alone.
func (s *site) settingsTokens() {
	s.signIn("ann")
	t := s.open("/user/settings/tokens")
	t.until(`location.pathname === "/users/ann/settings/tokens"`)
	t.do(chromedp.Focus(chromedp.CSS("#note")))
	t.keys("<b>nightly</b>", kb.Tab, kb.ArrowUp, kb.Tab, kb.Tab, " ", kb.Enter)
	t.until(`document.getElementById("secret")?.value.length > 40`)
	secret := eval[string](t, `secret.value`)
	if got := eval[string](t, `tokens.tBodies[0].rows[0].innerText.replace(/\s+/g, " ")`); !strings.HasPrefix(got, "<b>nightly</b> user:all site-admin:sudo ") {
		s.Errorf("the list says %q", got)
	}
	if got := s.statusOf("/.api/search/stream?q=glaze", secret); got != http.StatusOK {
		s.Errorf("a search with the token: %d", got)
	}
	t.do(chromedp.Click(chromedp.CSS("[data-copy]")))
	t.until(`document.querySelector("[data-copy]").textContent === "Copied"`)

	// a page that is asked for again has no secret
	t.do(chromedp.Navigate(s.url + "/users/ann/settings/tokens"))
	t.until(`document.querySelector(".danger") !== null`)
	if eval[bool](t, `document.body.innerHTML.includes("`+secret[len(secret)-40:]+`")`) {
		s.Error("the page shows the token again")
	}

	// revoking asks first
	if err := chromedp.Listen(t.ctx, func(event any) {
		if _, ok := event.(*page.EventJavascriptDialogOpening); ok {
			go func() {
				_, _ = chromedp.Call(t.ctx, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: true})
			}()
		}
	}); err != nil {
		s.Fatal(err)
	}
	t.do(chromedp.Focus(chromedp.CSS(".danger")))
	t.keys(kb.Enter)
	t.until(`document.querySelector("[role=status]")?.textContent.startsWith("The token is revoked")`)
	if got := s.statusOf("/.api/search/stream?q=glaze", secret); got != http.StatusUnauthorized {
		s.Errorf("a search with the revoked token: %d", got)
	}
	t.quiet()
}

// statusOf asks for a path with an access token.
func (s *site) statusOf(path, token string) int {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), "GET", s.url+path, nil)
	if err != nil {
		s.Fatal(err)
	}
	r.Header.Set("Authorization", "token "+token)
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(r)
	if err != nil {
		s.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

// A new password keeps this browser signed in.
func (s *site) settingsPassword() {
	s.signIn("bob")
	t := s.open("/user/settings")
	t.do(chromedp.Focus(chromedp.CSS("#old")))
	t.keys(browserPassword, kb.Tab, "another good one of his", kb.Enter)
	t.until(`document.querySelector("[role=status]")?.textContent.startsWith("Your password is changed")`)
	t.do(chromedp.Navigate(s.url + "/user/settings"))
	t.until(`location.pathname === "/users/bob/settings"`)
	t.quiet()
}
