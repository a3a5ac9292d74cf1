package config_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/cmd/trawl/config"
	"github.com/trawlsearch/trawl/httpapi/notify"
)

// password writes a file with a password.
func password(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(name, []byte("s3cret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestMail(t *testing.T) {
	file := password(t)
	for _, c := range []struct {
		flags map[string]string
		want  *notify.Mail
	}{
		{nil, nil},
		{map[string]string{"smtp": "none", "smtp-tls": "implicit"}, nil},
		{map[string]string{"smtp": "mail.example.org:25", "smtp-from": "trawl@example.org"},
			&notify.Mail{Address: "mail.example.org:25", From: "trawl@example.org", TLS: notify.StartTLS}},
		{map[string]string{"smtp": "[2001:db8::1]:465", "smtp-from": "Search <trawl@example.org>", "smtp-tls": "implicit", "smtp-user": "trawl", "smtp-password-file": file},
			&notify.Mail{Address: "[2001:db8::1]:465", From: "Search <trawl@example.org>", TLS: notify.ImplicitTLS, User: "trawl", Password: "s3cret"}},
		// without TLS: no password, or none that leaves the machine
		{map[string]string{"smtp": "relay:25", "smtp-from": "trawl@example.org", "smtp-tls": "none"},
			&notify.Mail{Address: "relay:25", From: "trawl@example.org", TLS: notify.NoTLS}},
		{map[string]string{"smtp": "localhost:25", "smtp-from": "trawl@example.org", "smtp-tls": "none", "smtp-user": "trawl", "smtp-password-file": file},
			&notify.Mail{Address: "localhost:25", From: "trawl@example.org", TLS: notify.NoTLS, User: "trawl", Password: "s3cret"}},
	} {
		s, err := resolve(t, "", nil, c.flags)
		if err != nil || !reflect.DeepEqual(s.Mail, c.want) {
			t.Errorf("%v: got %+v, %v; want %+v", c.flags, s.Mail, err, c.want)
		}
	}
}

func TestMailThatCannotWork(t *testing.T) {
	file := password(t)
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	const at, from = "mail.example.org:587", "trawl@example.org"
	for _, c := range []struct {
		flags map[string]string
		want  string
	}{
		{map[string]string{"smtp": "mail.example.org", "smtp-from": from}, "no host and port"},
		{map[string]string{"smtp": ":587", "smtp-from": from}, "no host and port"},
		{map[string]string{"smtp": "mail.example.org:0", "smtp-from": from}, "no host and port"},
		{map[string]string{"smtp": "mail.example.org:65536", "smtp-from": from}, "no host and port"},
		{map[string]string{"smtp": "smtp://mail.example.org:587", "smtp-from": from}, "no host and port"},
		{map[string]string{"smtp": at, "smtp-from": "trawl"}, "no mail address"},
		{map[string]string{"smtp": at, "smtp-from": from, "smtp-tls": "always"}, "is not starttls, implicit or none"},
		{map[string]string{"smtp": at}, "smtp without smtp-from"},
		{map[string]string{"smtp-from": from}, "smtp-from without smtp"},
		{map[string]string{"smtp-user": "trawl", "smtp-password-file": file}, "without smtp:"},
		{map[string]string{"smtp": at, "smtp-from": from, "smtp-user": "trawl"}, "smtp-user without smtp-password-file"},
		{map[string]string{"smtp": at, "smtp-from": from, "smtp-password-file": file}, "smtp-password-file without smtp-user"},
		{map[string]string{"smtp": at, "smtp-from": from, "smtp-user": "trawl", "smtp-password-file": file, "smtp-tls": "none"}, "unencrypted"},
		{map[string]string{"smtp": at, "smtp-from": from, "smtp-user": "trawl", "smtp-password-file": file + "x"}, "smtp-password-file: "},
		{map[string]string{"smtp": at, "smtp-from": from, "smtp-user": "trawl", "smtp-password-file": empty}, "is empty"},
	} {
		_, err := resolve(t, "", nil, c.flags)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%v: got %v, want %q", c.flags, err, c.want)
		}
	}
}

// The path of the password starts at the directory of the file, as other paths do.
func TestMailOfTheFile(t *testing.T) {
	secret := password(t)
	text := "smtp: mail.example.org:587\nsmtp-from: trawl@example.org\nsmtp-user: trawl\nsmtp-password-file: " + filepath.Base(secret) + "\n"
	f, err := config.ParseFile(filepath.Join(filepath.Dir(secret), "trawl.yaml"), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	s, err := config.Resolve(config.Machine{Home: "/home/me"}, config.Said{File: f, Env: func(string) string { return "" }})
	if err != nil || s.Mail == nil || s.Mail.Password != "s3cret" {
		t.Errorf("got %+v, %v; want the password of the file", s.Mail, err)
	}
}
