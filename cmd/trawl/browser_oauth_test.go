package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/trawlsearch/trawl/httpapi/oauth"
)

func TestBrowserOAuth(t *testing.T) {
	s := newSite(t, repository(t, "kiln"))
	s.user("ann", "--admin")
	t.Run("app", func(t *testing.T) { s.in(t).oauthApp() })
	t.Run("device", func(t *testing.T) { s.in(t).oauthDevice() })
}

// A user lets in a program on their own machine: the browser is led through
// signing in and consent to the port where the program listens, which the
// policy of the page must allow, and nowhere else.
func (s *site) oauthApp() {
	got := make(chan url.Values, 1)
	program := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/done" {
			got <- r.URL.Query()
		}
		_, _ = io.WriteString(w, "<title>program</title>")
	}))
	s.Cleanup(program.Close)
	var stdout, stderr bytes.Buffer
	if err := run(s.Context(), []string{"oauth-app", "create", "Editor", "--public", "--redirect", "http://127.0.0.1/done"}, strings.NewReader(""), &stdout, &stderr); err != nil {
		s.Fatalf("create app: %v\n%s", err, &stderr)
	}
	const verifier = "a verifier has 43 characters or more, of a few kinds"
	sum := sha256.Sum256([]byte(strings.ReplaceAll(verifier, " ", "-")))
	id := strings.TrimSpace(stdout.String())
	t := s.open(oauth.AuthorizePath + "?" + url.Values{
		"response_type": {"code"}, "client_id": {id}, "redirect_uri": {program.URL + "/done"}, "scope": {"user:all"}, "state": {"kept"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"},
	}.Encode())
	t.until(`location.pathname === "/sign-in" && document.activeElement?.id === "email"`)
	t.do(chromedp.KeyEvent("ann" + kb.Tab + browserPassword + kb.Enter))
	t.until(`document.querySelector("h1")?.textContent === "Let Editor in?"`)
	t.quiet()
	t.do(chromedp.Click(chromedp.CSS("button[value=allow]")))
	select {
	case q := <-got:
		if q.Get("state") != "kept" || !strings.HasPrefix(q.Get("code"), "sgo_ac_") {
			s.Errorf("the program got %v", q)
		}
	case <-time.After(browserPatience):
		t.fail(http.ErrHandlerTimeout)
	}
}

// A user types the code of a program and lets it in, with the keyboard alone;
// and finds it among those that may act for them.
func (s *site) oauthDevice() {
	const app = "sgo_cid_sourcegraph-cli"
	begun := s.postOAuth(oauth.DeviceCodePath, url.Values{"client_id": {app}, "scope": {"user:all"}})
	s.signIn("ann")
	t := s.open(oauth.DevicePath)
	t.until(`document.activeElement.id === "user_code"`)
	t.do(chromedp.KeyEvent(strings.ToLower(begun["user_code"]) + kb.Enter))
	t.until(`document.querySelector("button[value=allow]") !== null`)
	t.do(chromedp.Focus(chromedp.CSS("button[value=allow]")))
	t.do(chromedp.KeyEvent(kb.Enter))
	t.until(`document.querySelector("[role=status]")?.textContent.includes("signed in as you")`)
	t.quiet()
	made := s.postOAuth(oauth.TokenPath, url.Values{
		"client_id": {app}, "grant_type": {"urn:ietf:params:oauth:grant-type:device_code"}, "device_code": {begun["device_code"]},
	})
	if made["access_token"] == "" {
		s.Fatalf("no token: %v", made)
	}
	t.do(chromedp.Navigate(s.url + "/user/settings/authorised-apps"))
	t.until(`document.querySelector("#apps tbody")?.innerText.includes("src, on the command line")`)
	t.quiet()
}

func (s *site) postOAuth(path string, form url.Values) map[string]string {
	s.Helper()
	resp, err := http.PostForm(s.url+path, form)
	if err != nil {
		s.Fatal(err)
	}
	defer resp.Body.Close()
	var answer map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		s.Fatalf("POST %s: %d: %v", path, resp.StatusCode, err)
	}
	out := map[string]string{}
	for name, value := range answer {
		out[name], _ = value.(string)
	}
	return out
}
