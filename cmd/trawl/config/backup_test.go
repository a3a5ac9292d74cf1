package config_test

import (
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/cmd/trawl/config"
	"github.com/trawlsearch/trawl/store/backup"
)

func TestBackup(t *testing.T) {
	for _, c := range []struct {
		text string
		want config.Backup
	}{
		{"backup: {to: /backups}", config.Backup{To: "/backups", Every: 24 * time.Hour}},
		{"backup: {to: s3://bucket/trawl, every: 90m, mirrors: true}", config.Backup{To: "s3://bucket/trawl", Every: 90 * time.Minute, Mirrors: true}},
		{"backup: {to: there, passphrase-file: ../phrase}", config.Backup{To: "/etc/trawl/there", Every: 24 * time.Hour, PassphraseFile: "/etc/phrase"}},
		{"backup:\n  to: /b\n  recipients: [age1a, age1b]\n  keep: {last: 3, daily: 7, weekly: 4, monthly: 12, yearly: 2}",
			config.Backup{To: "/b", Every: 24 * time.Hour, Recipients: "age1a\nage1b\n", Keep: backup.Keep{Last: 3, Daily: 7, Weekly: 4, Monthly: 12, Yearly: 2}}},
	} {
		f, err := config.ParseFile("/etc/trawl/trawl.yaml", []byte(c.text))
		if err != nil || f.Backup == nil || *f.Backup != c.want {
			t.Errorf("%s: got %+v, %v; want %+v", c.text, f, err, c.want)
		}
	}
	if f, err := config.ParseFile("t.yaml", []byte("backup:")); err != nil || f.Backup != nil {
		t.Errorf("an empty value: got %+v, %v, want no backup", f, err)
	}
	for text, want := range map[string]string{
		"backup: {every: 24h}":                                           "t.yaml:1: backup: to is missing",
		"backup: /backups":                                               "t.yaml:1: expected keys with values, such as to: …",
		"backup: {to: /b, evry: 24h}":                                    `t.yaml:1: unknown key "evry": did you mean "every"?`,
		"backup: {to: /b, every: often}":                                 `t.yaml:1: backup: every: "often" is no length of time`,
		"backup: {to: /b, every: 1s}":                                    "t.yaml:1: backup: every: 1s is too often",
		"backup: {to: /b, mirrors: some}":                                `t.yaml:1: backup: mirrors: "some" is not true or false`,
		"backup: {to: /b, keep: {last: 0}}":                              `t.yaml:1: backup: keep: last: "0" is no number`,
		"backup: {to: /b, keep: {hourly: 1}}":                            `t.yaml:1: unknown key "hourly"`,
		"backup: {to: /b, recipients: [age1a], passphrase-file: /etc/p}": "t.yaml:1: backup: there are recipients and a passphrase-file",
	} {
		if _, err := config.ParseFile("t.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q in it", text, err, want)
		}
	}
}
