package oauth_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
	"github.com/trawlsearch/trawl/store/oauth"
)

func TestNewApp(t *testing.T) {
	w := newWorld(t)
	web := []string{"https://x.example/cb"}
	for _, c := range []struct {
		n    oauth.NewApp
		want string // part of the error, "" for none
	}{
		// kinds
		{oauth.NewApp{Name: "cli", Kind: oauth.Public}, ""},
		{oauth.NewApp{Name: "web", Kind: oauth.Confidential, Redirects: web}, ""},
		{oauth.NewApp{Name: "bot", Kind: oauth.Service, Account: w.bot.ID}, ""},
		{oauth.NewApp{Name: "x", Kind: "secret"}, "no kind of app"},
		{oauth.NewApp{Name: "x", Kind: oauth.Confidential}, "needs a redirect URI"},
		{oauth.NewApp{Name: "x", Kind: oauth.Service, Account: w.ann.ID}, "ann is no service account"},
		{oauth.NewApp{Name: "x", Kind: oauth.Service, Account: 99}, "not found"},
		{oauth.NewApp{Name: "x", Kind: oauth.Service, Account: w.bot.ID, Redirects: web}, "no redirect URI"},
		{oauth.NewApp{Name: "x", Kind: oauth.Service, Account: w.bot.ID, Scopes: []string{"openid"}}, "user:all and mcp only"},
		{oauth.NewApp{Name: "x", Kind: oauth.Public, Account: w.bot.ID}, "only an app of the kind service"},
		// names, which are shown to users
		{oauth.NewApp{Kind: oauth.Public}, "needs a name"},
		{oauth.NewApp{Name: "a\u202eb", Kind: oauth.Public}, "cannot be the name"},
		{oauth.NewApp{Name: "a\nb", Kind: oauth.Public}, "cannot be the name"},
		{oauth.NewApp{Name: strings.Repeat("x", 101), Kind: oauth.Public}, "cannot be the name"},
		// client IDs
		{oauth.NewApp{ID: "sgo_cid_known", Name: "x", Kind: oauth.Public}, ""},
		{oauth.NewApp{ID: "sgo_cid_known", Name: "x", Kind: oauth.Public}, "already exists"},
		{oauth.NewApp{ID: oauth.CommandLine, Name: "x", Kind: oauth.Public}, "already exists"},
		{oauth.NewApp{ID: "a b", Name: "x", Kind: oauth.Public}, "cannot be a client id"},
		{oauth.NewApp{ID: "a:b", Name: "x", Kind: oauth.Public}, "cannot be a client id"},
		// scopes
		{oauth.NewApp{Name: "x", Kind: oauth.Public, Scopes: []string{"user:all", "openid"}}, ""},
		{oauth.NewApp{Name: "x", Kind: oauth.Public, Scopes: []string{"site-admin:sudo"}}, "unknown scope"},
		{oauth.NewApp{Name: "x", Kind: oauth.Public, Scopes: []string{"openid", "openid"}}, "twice"},
		{oauth.NewApp{Name: "x", Kind: oauth.Public, Redirects: append(web, web...)}, "twice"},
	} {
		secret, a, err := w.Apps.Create(identity.Operator, c.n)
		switch {
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%+v: got %v, want %q in it", c.n, err, c.want)
		case c.want == "" && err != nil:
			t.Errorf("%+v: %v", c.n, err)
		case c.want == "":
			if (secret == "") != (c.n.Kind == oauth.Public) || secret != "" && !a.SecretIs(secret) || a.SecretIs("") || a.SecretIs(secret+"x") {
				t.Errorf("%+v: the secret %q is not the app's", c.n, secret)
			}
			if n := w.logged(oauth.ActionAppCreate, "app:"+a.ID); n != 1 {
				t.Errorf("%+v: %d lines in the audit log, want 1", c.n, n)
			}
		}
	}
}

func TestRedirects(t *testing.T) {
	w := newWorld(t)
	for uri, want := range map[string]string{
		"https://x.example/cb":                           "",
		"https://x.example:8443/cb?a=b":                  "",
		"https://x.example":                              "",
		"http://127.0.0.1/cb":                            "",
		"http://[::1]:3000/cb":                           "",
		"http://localhost:3000/cb":                       "",
		"org.example.app:/done":                          "",
		"org.example.app://callback/x":                   "",
		"http://x.example/cb":                            "must be https",
		"http://127.0.0.1.x.example/cb":                  "must be https",
		"http://localhost.x.example/":                    "must be https",
		"https://x.example/cb#top":                       "fragment",
		"https://ann@x.example/cb":                       "user",
		"https://*.x.example/cb":                         "wildcard",
		"https:///cb":                                    "has no host",
		"https://x.example;script-src/":                  "has no host",
		"//x.example/cb":                                 "needs the scheme",
		"/cb":                                            "needs the scheme",
		"":                                               "needs the scheme",
		"javascript:alert(1)":                            "needs the scheme",
		"data:text/html,x":                               "needs the scheme",
		"file:///etc/passwd":                             "needs the scheme",
		"org.example.app:done":                           "needs a path",
		"https://x.example/a b":                          "no URI",
		"https://x.example/\r\nSet-Cookie:":              "no URI",
		"https://x.example/é":                            "no URI",
		"https://x.example/" + strings.Repeat("x", 1024): "no URI",
	} {
		_, _, err := w.Apps.Create(identity.Operator, oauth.NewApp{Name: "x", Kind: oauth.Public, Redirects: []string{uri}})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%.100q: got %v, want %q in it", uri, err, want)
		}
	}
}

func TestAllows(t *testing.T) {
	a := &oauth.App{Redirects: []string{
		"https://x.example/cb", "http://127.0.0.1/cb", "http://[::1]:5000/cb?x=1", "http://localhost:3000/cb", "org.example.app:/done", "https://127.0.0.1/tls",
	}}
	for uri, want := range map[string]bool{
		// the same, to the byte
		"https://x.example/cb":           true,
		"https://x.example/cb/":          false,
		"https://x.example/cb?":          false,
		"https://x.example/cb?a=b":       false,
		"https://x.example/cb#":          false,
		"https://x.example/CB":           false,
		"https://X.example/cb":           false,
		"https://x.example/c%62":         false,
		"https://x.example:443/cb":       false,
		"https://x.example/cb/../cb":     false,
		"https://x.example./cb":          false,
		"https://x.example.evil/cb":      false,
		"https://evil/x.example/cb":      false,
		"https://x.example@evil/cb":      false,
		"https://evil.x.example/cb":      false,
		"http://x.example/cb":            false,
		"https://x.example/cb\r\nX-Y: z": false,
		" https://x.example/cb":          false,
		"org.example.app:/done":          true,
		"org.example.app:/done?x":        false,
		"org.example.app://done":         false,
		// this machine, by address and without TLS: any port
		"http://127.0.0.1/cb":        true,
		"http://127.0.0.1:1/cb":      true,
		"http://127.0.0.1:65535/cb":  true,
		"http://[::1]/cb?x=1":        true,
		"http://[::1]:1234/cb?x=1":   true,
		"http://127.0.0.1:1/cb?x":    false,
		"http://127.0.0.1:1/c%62":    false,
		"http://127.0.0.1:1/cb#x":    false,
		"http://127.0.0.1:1/tls":     false,
		"http://127.0.0.1:1:2/cb":    false,
		"http://127.0.0.1:1@evil/cb": false,
		"http://127.0.0.1:01/cb":     false,
		"http://127.0.0.1:/cb":       false,
		"http://127.0.0.1:999999/cb": false,
		"http://127.0.0.2:1/cb":      false,
		"http://[::1]:1/cb":          false,
		"http://[0:0::1]:1/cb?x=1":   false,
		"http://u@127.0.0.1:1/cb":    false,
		"https://127.0.0.1:1/tls":    false,
		"https://127.0.0.1:1/cb":     false,
		"http://127.0.0.1:1.evil/cb": false,
		// a name is no address
		"http://localhost:3000/cb": true,
		"http://localhost:3001/cb": false,
		"http://localhost/cb":      false,
		"":                         false,
	} {
		if got := a.Allows(uri); got != want {
			t.Errorf("Allows(%q) = %t, want %t", uri, got, want)
		}
	}
}

// Whatever is let through is one of the app's, or differs by a port.
func FuzzAllows(f *testing.F) {
	a := &oauth.App{Redirects: []string{"https://x.example/cb", "http://127.0.0.1/cb"}}
	for _, s := range []string{"https://x.example/cb", "http://127.0.0.1:80/cb", "http://127.0.0.1:8@e/cb"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		if !a.Allows(uri) || uri == a.Redirects[0] {
			return
		}
		rest, ok := strings.CutPrefix(uri, "http://127.0.0.1")
		port, ok2 := strings.CutSuffix(rest, "/cb")
		if !ok || !ok2 || port != "" && (port[0] != ':' || strings.Trim(port[1:], "0123456789") != "") {
			t.Errorf("Allows(%q)", uri)
		}
	})
}

func TestSecretOfApp(t *testing.T) {
	w := newWorld(t)
	a, secret := w.app(oauth.NewApp{Name: "web", Kind: oauth.Confidential, Redirects: []string{"https://x.example/"}})
	h := w.agree(a.ID)
	next, err := w.Apps.RotateSecret(identity.Operator, a.ID)
	w.must(err)
	w.crash()
	if a, err = w.Apps.Get(a.ID); err != nil || a.SecretIs(secret) || !a.SecretIs(next) {
		t.Errorf("after rotating: old %t, new %t, %v", a.SecretIs(secret), a.SecretIs(next), err)
	}
	if !w.good(h.access) {
		t.Error("rotating the secret ended a token")
	}
	if n := w.logged(oauth.ActionAppSecret, "app:"+a.ID); n != 1 {
		t.Errorf("%d lines in the audit log, want 1", n)
	}
	if _, err := w.Apps.RotateSecret(identity.Operator, oauth.CommandLine); err == nil {
		t.Error("a public app got a secret")
	}
}

func TestBuiltIn(t *testing.T) {
	w := newWorld(t)
	if err := w.Apps.Delete(identity.Operator, oauth.CommandLine); err == nil || !strings.Contains(err.Error(), "switch it off") {
		t.Errorf("deleting it: %v", err)
	}
	w.must(w.Apps.SetDisabled(identity.Operator, oauth.CommandLine, true))
	w.crash()
	all, err := w.Apps.All()
	w.must(err)
	if len(all) != 1 || !all[0].Disabled || !all[0].BuiltIn {
		t.Errorf("got %+v", all)
	}
	if _, err := w.Apps.Get("sgo_cid_other"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("another: %v, want ErrNotFound", err)
	}
}
