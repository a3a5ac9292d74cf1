package backup_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/trawlsearch/trawl/store/backup"
)

// TestBrief: texts are bounded and valid, and a cut in the middle of a secret does not
// show a part of it.
func TestBrief(t *testing.T) {
	if got := backup.Brief("no such manifest"); got != "no such manifest" {
		t.Errorf("a short text: %q", got)
	}
	for n := 440; n < 510; n++ {
		got := backup.Brief(strings.Repeat("é", n/2) + " https://me:secretsecretsecret@host.example/x " + strings.Repeat("\xff🔥", 1<<10))
		if strings.Contains(got, "secr") || len(got) > 510 || !utf8.ValidString(got) || !strings.HasSuffix(got, "…") {
			t.Fatalf("an address behind %d bytes: %d bytes, %q", n, len(got), got)
		}
	}
}
