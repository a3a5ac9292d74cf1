package web_test

import (
	"testing"

	"github.com/trawlsearch/trawl/httpapi/web"
)

func TestCount(t *testing.T) {
	for n, want := range map[int]string{
		0: "0 lines", 1: "1 line", 2: "2 lines", 999: "999 lines", 1000: "1,000 lines", 4194304: "4,194,304 lines", -1000: "-1,000 lines", -999: "-999 lines",
	} {
		if got := web.Count(n, "line", "lines"); got != want {
			t.Errorf("Count(%d) = %q, want %q", n, got, want)
		}
	}
}
