package redact_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/store/redact"
)

func TestURL(t *testing.T) {
	for address, want := range map[string]string{
		// what must go
		"https://me:secret@x/y":                 "https://x/y",
		"https://me:pa'ss1@host/x":              "https://host/x",
		"https://token:p@ss@x/y":                "https://x/y",
		"https://token@x:8443/y":                "https://x:8443/y",
		"https://me:p%40ss@[2001:db8::1]:443/x": "https://[2001:db8::1]:443/x",
		"https://x/y?private_token=abc&v=1":     "https://x/y?private_token=REDACTED&v=REDACTED",
		"https://x/y?abc":                       "https://x/y?REDACTED",
		"https://x/y?abc==":                     "https://x/y?REDACTED",
		"https://x/y?k3y=abc":                   "https://x/y?REDACTED",
		"https://x/y#secret":                    "https://x/y",
		"ssh://git:pw@y:22/z":                   "ssh://y:22/z",
		"file://me:pw@y/z":                      "file://y/z",
		"bob@host:lab/kiln":                     "host:lab/kiln",
		"me:secret@host/x":                      "host/x",
		"me:secret@host:x":                      "host:x",
		// what cannot be told from a secret
		"https://me:a b@x/y":              redact.Hidden,
		"https://me:pa/ss@x/y":            redact.Hidden,
		"https://me:12/ss@x/y":            redact.Hidden,
		"https://corp/me:secret@x/y":      redact.Hidden,
		"https://tok/en@x.example.org/y":  redact.Hidden,
		"https://x/https://me:secret@y/z": redact.Hidden,
		"https://me:sec\nret@x/y":         redact.Hidden,
		"ext::sh -c 'curl -u me:secret'":  redact.Hidden,
		"https::https://me:secret@x":      redact.Hidden,
		// what must stay
		"https://x/y@v2":       "https://x/y@v2",
		"https://x/@scope/y":   "https://x/@scope/y",
		"https://x:8443/a%2Fb": "https://x:8443/a%2Fb",
		"git@host:lab/kiln":    "git@host:lab/kiln",
		"host:lab/kiln":        "host:lab/kiln",
		"/srv/a@b:c":           "/srv/a@b:c",
		"/srv/a?b#c":           "/srv/a?b#c",
		"file:///srv/a":        "file:///srv/a",
		"s3://bucket/prefix":   "s3://bucket/prefix",
		"":                     "",
	} {
		if got := redact.URL(address); got != want {
			t.Errorf("URL(%q): got %q, want %q", address, got, want)
		}
	}
}

func TestText(t *testing.T) {
	for text, want := range map[string]string{
		// what must go
		"a https://me@x, b ssh://git:pw@y:22/z.":                    "a https://x, b ssh://y:22/z.",
		"unable to access 'https://me:pa'ss1@host/x/': no":          "unable to access 'https://host/x/': no",
		"unable to access 'https://host/x?token=pa'ss/': error 403": "unable to access 'https://host/x?token=REDACTED': error 403",
		"https://token:p@ss@x/y":                                    "https://x/y",
		`Get "https://me:***@x:8443/y?token=a": dial tcp 1.2.3.4:1`: `Get "https://x:8443/y?token=REDACTED": dial tcp 1.2.3.4:1`,
		"https://me:a b@x/y: no":                                    "https://x/y: no",
		"https://me:pa/ss@x/y: no":                                  redact.Hidden + " no",
		"(https://x/y#secret)":                                      "(https://x/y)",
		"://me:secret@x/y":                                          redact.Hidden,
		// what must stay
		"https://x/y@v2":                      "https://x/y@v2",
		"write https:// or http://, please":   "write https:// or http://, please",
		"from https://x: bob is at b/c@d":     "from https://x: bob is at b/c@d",
		"https://x:443: refused":              "https://x:443: refused",
		"git@host:lab/kiln, mail a@b.example": "git@host:lab/kiln, mail a@b.example",
		"":                                    "",
	} {
		if got := redact.Text(text); got != want {
			t.Errorf("Text(%q): got %q, want %q", text, got, want)
		}
		if got := redact.Text(redact.Text(text)); got != want {
			t.Errorf("Text of Text(%q): got %q, want %q", text, got, want)
		}
	}
}

func TestAbout(t *testing.T) {
	for _, test := range []struct{ text, address, want string }{
		{"remote: no user me with hunter2", "https://me:hunter2@x/y", "remote: no user me with REDACTED"},
		{"remote: hun@ter2, hun%40ter2", "https://me:hun%40ter2@x/y", "remote: REDACTED, REDACTED"},
		{`add "https://me:hunter2@x/y": no`, "https://me:hunter2@x/y", `add "https://x/y": no`},
		{"get abc def", "https://x/y?token=abc", "get REDACTED def"},
		{"an error", "https://a@x", "an error"},
		{"/srv/x: gone", "/srv/x", "/srv/x: gone"},
	} {
		if got := redact.About(test.text, test.address); got != test.want {
			t.Errorf("About(%q, %q): got %q, want %q", test.text, test.address, got, test.want)
		}
	}
}

// FuzzSecrets puts a secret with odd characters into each part of an address
// that may hold one, as it is and escaped, and asks that no function shows it.
func FuzzSecrets(f *testing.F) {
	for _, odd := range []string{"", "'", `"`, " ", "@", "%41", "%", "\n", "\x00", "[", "]:", "é", "&x=", ";", "'@\"", "<>", "`", "\\", "+", "::", "@x.example.org/"} {
		f.Add(odd, "host.example.org", "x/y")
		f.Add(odd, "[2001:db8::1]:8443", "")
	}
	f.Fuzz(func(t *testing.T, odd, host, path string) {
		const mark = "S3cr3tMark"
		if strings.Contains(host+path, mark) || strings.ContainsAny(host, "/?#@") || strings.Contains(path, "@") {
			return
		}
		for _, secret := range []string{mark + odd, odd + mark, odd + mark + odd} {
			for _, address := range addresses(secret, host, path) {
				quoted := fmt.Sprintf("add %q: it is wrong", address)
				for what, got := range map[string]string{
					"URL":   redact.URL(address),
					"About": redact.About("cannot read '"+address+"': it is wrong", address) + redact.About(quoted, address),
				} {
					if strings.Contains(got, mark) {
						t.Errorf("%s of %q: %q", what, address, got)
					}
				}
				// In prose an address that no parser takes has no end.
				if _, err := url.Parse(address); err != nil || strings.ContainsFunc(odd+host+path, func(r rune) bool { return r <= ' ' }) {
					continue
				}
				for _, text := range []string{address, "cannot read '" + address + "': it is wrong", quoted} {
					if got := redact.Text(text); strings.Contains(got, mark) {
						t.Errorf("Text(%q): %q", text, got)
					}
				}
			}
		}
	})
}

// addresses returns addresses with a secret. A slash, question mark or hash is
// escaped in them: it ends a user name and a password for everybody.
func addresses(secret, host, path string) []string {
	raw := strings.NewReplacer("/", "%2F", "?", "%3F", "#", "%23").Replace(secret)
	var all []string
	for _, s := range []string{raw, url.QueryEscape(secret), url.PathEscape(secret)} {
		rest := host + "/" + path
		all = append(all, "https://"+s+"@"+rest, "https://me:"+s+"@"+rest, "ssh://"+s+":x@"+rest, "http://"+s+":"+s+"@"+rest,
			"https://"+rest+"?private_token="+s, "https://"+rest+"?"+s, "https://"+rest+"#"+s, "https://me@"+rest+"?a=b&t="+s+"#"+s)
	}
	return all
}
