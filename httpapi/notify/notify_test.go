package notify_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/httpapi/notify"
)

// found is when the matches of tests were found.
var found = time.Date(2026, 3, 4, 5, 6, 7, 0, time.FixedZone("", 3600))

// message is about two matches, one of which it shows.
func message() notify.Message {
	return notify.Message{
		ID: "monitor-7-12", Title: "Panics", Query: "panic( lang:go", Repository: "lab/kiln", Count: 2,
		Matches: []notify.Match{{Repository: "lab/kiln", Path: "heat/oven.go", Line: 12, Text: "\tpanic(\"too hot\")", URL: "https://search.example.org/lab/kiln/-/blob/heat/oven.go?L12&x=1"}},
		URL:     "https://search.example.org/monitors/7", Found: found,
	}
}

// hostile is a message whose texts try all that texts can do.
func hostile() notify.Message {
	bad := "<!channel> & \r\nBcc: eve@example.org\r\n\r\nbody\x00\x1b[31m\u202etxt.exe ```` *bold* \xff"
	m := notify.Message{ID: "hostile\r\nX-Evil: 1", Title: bad, Query: bad, Repository: bad, Count: 90, URL: "javascript:alert(1)", Found: found}
	for range 80 {
		m.Matches = append(m.Matches, notify.Match{
			Repository: "other" + bad, Path: bad, Line: -3, Text: bad + strings.Repeat("<", 1<<20), URL: "https://example.org/|<b>",
		})
	}
	return m
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		kind notify.Kind
		to   string
		ok   bool
	}{
		{notify.Webhook, "https://hooks.example.org/services/T0/secret", true},
		{notify.Webhook, "http://10.1.2.3:8080/hook?key=secret", true},
		{notify.Slack, "https://hooks.slack.com/services/T0/B0/secret", true},
		{notify.Webhook, "https://hooks.example.org/" + strings.Repeat("a", 1974), true},
		{notify.Webhook, "https://hooks.example.org/" + strings.Repeat("a", 1975), false},
		{notify.Webhook, "", false},
		{notify.Webhook, "hooks.example.org/s3cret", false},
		{notify.Webhook, "ftp://hooks.example.org/s3cret", false},
		{notify.Webhook, "file:///etc/passwd", false},
		{notify.Webhook, "https:///secret", false},
		{notify.Webhook, "https://:443/secret", false},
		{notify.Webhook, "https://ann:s3cret@example.org/", false},
		{notify.Webhook, "https://example.org/a\nb", false},
		{notify.Webhook, "https://example.org/a s3cret", false},
		{notify.Slack, "ann@example.org", false},
		{notify.Email, "ann@example.org", true},
		{notify.Email, "ann+kiln@mail.example.org", true},
		{notify.Email, "Ann <ann@example.org>", false},
		{notify.Email, "<ann@example.org>", false},
		{notify.Email, "ann@example.org, bob@example.org", false},
		{notify.Email, "ann@example.org\r\nBcc: eve@example.org", false},
		{notify.Email, "\"a\r\nb\"@example.org", false},
		{notify.Email, "ann (s3cret) @example.org", false},
		{notify.Email, "https://example.org/", false},
		{notify.Email, strings.Repeat("a", 250) + "@example.org", false},
		{notify.Email, "", false},
		{"pager", "https://example.org/", false},
	} {
		err := notify.Check(c.kind, c.to)
		if (err == nil) != c.ok {
			t.Errorf("Check(%s, %.60q) = %v, want success: %t", c.kind, c.to, err, c.ok)
		}
		if err != nil && strings.Contains(err.Error(), "s3cret") {
			t.Errorf("Check(%s, %.60q) = %v, which holds a part of the address", c.kind, c.to, err)
		}
	}
}

func TestSendChecksAddress(t *testing.T) {
	for kind, to := range map[notify.Kind]string{notify.Webhook: "https://ann:s3cret@example.org/", notify.Slack: "s3cret", notify.Email: "s3cret", "pager": "s3cret"} {
		err := new(notify.Sender).Send(t.Context(), kind, to, message())
		if !errors.Is(err, notify.ErrPermanent) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: got %v, want a permanent error without the address", kind, err)
		}
	}
}
