package hosts_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/httpapi/hosts"
)

func TestRedact(t *testing.T) {
	for _, test := range []struct{ full, want string }{
		{
			`{"url": "https://me:secret@git.example.org/", /* why */ "repos": ["https://you:hidden@b.example.org/x", "y"]}`,
			`{"url": "https://REDACTED@git.example.org/", /* why */ "repos": ["https://REDACTED@b.example.org/x", "y"]}`,
		},
		{`{"url": "https://user:pa'ss1@host/x"}`, `{"url": "https://REDACTED@host/x"}`},
		{`{"url": "https://token@host"}`, `{"url": "https://REDACTED@host"}`},
		// addresses that ParseConfig refuses, in records of older programs
		{`{"url": "https://host/x?private_token=secret"}`, `{"url": "REDACTED"}`},
		{`{"url": "https://me:sec ret@host/x"}`, `{"url": "REDACTED"}`},
		{`{"repos": ["me:secret@host/x", "y"]}`, `{"repos": ["REDACTED", "y"]}`},
		// comments
		{"{// was https://me:secret@host\n\"repos\": [\"y\" /* https://me:secret@x */]}", `{"repos": ["y"]}`},
		{"{\"repos\": [\"y\",// https://me:secret@x\n], // https://host?a=secret\n}", `{"repos": ["y",],}`},
		{`{"url": "https://me:secret@x`, "{}"},
	} {
		if got := hosts.Redact(test.full); got != test.want {
			t.Errorf("Redact(%s):\n got %s\nwant %s", test.full, got, test.want)
		}
	}
}

func TestRestore(t *testing.T) {
	full := `{"url": "https://me:secret@git.example.org/", "repos": ["https://you:hidden@b.example.org/x", "y"]}`
	shown := hosts.Redact(full)
	changed := strings.Replace(shown, `"y"`, `"z"`, 1)
	if got, err := hosts.Restore(changed, full); err != nil || got != strings.Replace(full, `"y"`, `"z"`, 1) {
		t.Errorf("Restore: got %s, %v", got, err)
	}
	// other ways to write the same address
	for _, same := range []string{"https://REDACTED@git.example.org:443/", "https://REDACTED@GIT.example.org", "https://me:REDACTED@git.example.org/"} {
		if got, err := hosts.Restore(`{"url": "`+same+`"}`, full); err != nil || !strings.Contains(got, "me:secret@") {
			t.Errorf("Restore of %s: got %s, %v", same, got, err)
		}
	}
	// a client that writes new credentials
	for _, fresh := range []string{`{"url": "https://me:new@git.example.org/"}`, `{"url": "https://git.example.org/"}`, `{"url": "http://git.example.org/"} /* REDACTED */`} {
		if got, err := hosts.Restore(fresh, full); err != nil || got != fresh {
			t.Errorf("Restore of %s: got %s, %v", fresh, got, err)
		}
	}
}

// Credentials follow to no other scheme, host, port, path or user.
func TestRestoreGivesNothingAway(t *testing.T) {
	full := `{"url": "https://me:secret@git.example.org/", "repos": ["https://you:hidden@b.example.org:8443/x", "https://she:covert@b.example.org:8443/y", ` +
		`"https://one:uno@c.example.org/z", "https://two:dos@c.example.org/z"]}`
	for _, address := range []string{
		"https://REDACTED@evil.example.com/", "http://REDACTED@git.example.org/", "https://REDACTED@git.example.org:8443/", "https://REDACTED@git.example.org/x",
		"https://REDACTED@b.example.org:8443/", "https://REDACTED@b.example.org:8443/x/..", "https://REDACTED@b.example.org/x", "http://REDACTED@b.example.org:8443/x",
		"https://REDACTED@b.example.org:8443/z", "https://REDACTED@git.example.org.evil.example.com/", "https://you:REDACTED@b.example.org:8443/y",
		"https://REDACTED@c.example.org/z", "https://REDACTED:x@git.example.com/", "http://REDACTED@git.example.org:443/",
	} {
		text, err := json.Marshal(map[string]any{"url": address, "repos": []string{"y"}})
		if err != nil {
			t.Fatal(err)
		}
		got, err := hosts.Restore(string(text), full)
		if err == nil {
			t.Errorf("Restore of %s: got %s, want an error", address, got)
		}
		for _, secret := range []string{"secret", "hidden", "covert", "uno", "dos"} {
			if strings.Contains(got, secret) {
				t.Errorf("Restore of %s gave the password away: %s", address, got)
			}
		}
	}
}

// FuzzRedact: a secret in an address, as it is and escaped as JSON, is shown by
// none of the functions, and comes back when what is shown is saved.
func FuzzRedact(f *testing.F) {
	for _, odd := range []string{"'", `"`, " ", "@", "%40", "\n", "*/", "//", "\\", "é", "REDACTED"} {
		f.Add(odd)
	}
	f.Fuzz(func(t *testing.T, odd string) {
		const mark = "S3cr3tMark"
		for _, address := range []string{
			"https://me:" + mark + odd + "@host/x", "https://" + odd + mark + "@host/x", "https://host/x?t=" + mark + odd, "https://host/x#" + mark, "https://[::1]:1/" + odd + ":" + mark + "@host",
		} {
			if strings.ContainsAny(odd, "/?#") {
				continue // which end a user name for everybody
			}
			inside, err := json.Marshal(map[string]any{"url": address, "repos": []string{"y"}})
			if err != nil {
				t.Fatal(err)
			}
			full := "/* " + strings.ReplaceAll(address, "*/", "") + " */" + string(inside)
			shown := hosts.Redact(full)
			if strings.Contains(shown, mark) {
				t.Errorf("Redact(%s) = %s", full, shown)
			}
			c, err := hosts.ParseConfig(hosts.KindOther, string(inside))
			if err != nil {
				if strings.Contains(err.Error(), mark) {
					t.Errorf("ParseConfig(%s): %v", inside, err)
				}
				continue
			}
			again, err := hosts.Restore(shown, string(inside))
			if err != nil {
				t.Errorf("Restore of %s: %v", shown, err)
				continue
			}
			d, err := hosts.ParseConfig(hosts.KindOther, again)
			if err != nil || d.URL.String() != c.URL.String() {
				t.Errorf("Restore of %s: got %s, %v", shown, again, err)
			}
		}
	})
}
