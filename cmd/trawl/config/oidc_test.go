package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestProviders(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "secret"), []byte("s3cret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "empty"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	resolve := func(text string) (Settings, error) {
		f, err := ParseFile(filepath.Join(dir, "trawl.yaml"), []byte(text))
		if err != nil {
			return Settings{}, err
		}
		return Resolve(Machine{Home: dir}, Said{File: f, Env: func(string) string { return "" }})
	}
	const head, entry = "external-url: https://trawl.example\noidc:\n", "  - {name: corp, issuer: https://login.example, client-id: trawl"
	s, err := resolve(head + entry + ", client-secret-file: secret, allow-domains: [a.example], link-by-email: true, create-users: false, organizations: {g: lab}}\n")
	if err != nil {
		t.Fatal(err)
	}
	if p := s.Providers[0]; p.ClientSecret != "s3cret" || p.Title != "corp" || p.GroupsClaim != "groups" || p.Policy.Create || !p.Policy.Link || p.Policy.Orgs["g"] != "lab" || fmt.Sprint(p.Domains, p.Scopes) != "[a.example] [profile email]" {
		t.Errorf("got %+v", p)
	}
	s, err = resolve("passwords: false\ntrusted-proxies: 127.0.0.1\nuser-header: x-forwarded-user\n")
	if err != nil || s.UserHeader != "X-Forwarded-User" || !s.IdentityOptions().Names.Fixed {
		t.Errorf("a header of a proxy: %+v, %v", s.UserHeader, err)
	}
	for _, c := range []struct{ text, want string }{
		{"oidc:\n" + entry + "}\n", "oidc without external-url"},
		{"passwords: false\n", "passwords: false without oidc"},
		{"user-header: X-Forwarded-User\n", "user-header without trusted-proxies"},
		{"user-header: Cookie\ntrusted-proxies: 127.0.0.1\n", "Cookie means something else"},
		{head + entry + "}\n" + entry + "}\n", "stands here twice"},
		{head + "  - {name: a/b, issuer: https://login.example, client-id: x}\n", "other characters"},
		{head + "  - {name: corp, client-id: x}\n", "needs issuer"},
		{head + "  - {name: corp, client-id: x, issuer: http://login.example}\n", "no address of a service"},
		{head + entry + ", client-secret-file: nowhere}\n", "no such file"},
		{head + entry + ", client-secret-file: empty}\n", "empty is empty"},
		{head + entry + ", organizations: {g: 'a b'}}\n", "cannot be a name"},
		{head + entry + ", organisations: {}}\n", "did you mean"},
		{head + entry + ", link-by-email: maybe}\n", "invalid syntax"},
	} {
		if _, err := resolve(c.text); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: got %v, want %q in it", c.text, err, c.want)
		}
	}
}
