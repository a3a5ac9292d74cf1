package print_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/cmd/trawl/print"
	"github.com/trawlsearch/trawl/httpapi/client"
)

// A line of megabytes, as minified scripts have, does not fill a terminal, and
// its match is seen.
func TestLongLinesAreCutAroundTheMatch(t *testing.T) {
	const far = 1_500_000
	long := strings.Repeat("é", far) + "glaze" + strings.Repeat("z", far)
	short := strings.Repeat("x", 600)
	for _, c := range []struct {
		name  string
		opts  print.Options
		match client.Match
		want  string
	}{
		{"a match far away", print.Options{Terminal: true}, content(chunk(long+"\n", 0, hit(0, far, 0, far+5))),
			"lab/kiln/a.go:1:…" + strings.Repeat("é", 100) + "glaze" + strings.Repeat("z", 495) + "…\n"},
		{"in colour", print.Options{Terminal: true, Color: true}, content(chunk(long+"\n", 0, hit(0, far, 0, far+5))),
			"<p:lab/kiln><p:/a.go><s::><n:1><s::><s:…>" + strings.Repeat("é", 100) + "<h:glaze>" + strings.Repeat("z", 495) + "<s:…>\n"},
		{"at the end", print.Options{Terminal: true}, content(chunk(long+"\n", 0, hit(0, 2*far, 0, 2*far+5))),
			"lab/kiln/a.go:1:…" + strings.Repeat("z", 600) + "\n"},
		{"more matches", print.Options{Terminal: true}, content(chunk(long+"\n", 0, hit(0, far, 0, far+5), hit(0, 0, 0, 1), hit(0, far+9, 0, far+10))),
			"lab/kiln/a.go:1:" + strings.Repeat("é", 600) + "… (2 more in this line)\n"},
		{"a line beside a match", print.Options{Terminal: true}, content(chunk(long+"\nglaze\n", 0, hit(1, 0, 1, 5))),
			"lab/kiln/a.go-1-" + strings.Repeat("é", 600) + "…\nlab/kiln/a.go:2:glaze\n"},
		{"a match as long as the line", print.Options{Terminal: true}, content(chunk(long+"\n", 0, hit(0, 0, 1, 0))),
			"lab/kiln/a.go:1:" + strings.Repeat("é", 600) + "…\n"},
		{"a line that fits", print.Options{Terminal: true}, content(chunk(short+"\n", 0, hit(0, 599, 0, 600))), "lab/kiln/a.go:1:" + short + "\n"},
		{"a pipe", print.Options{}, content(chunk(long+"\n", 0, hit(0, far, 0, far+5))), "lab/kiln/a.go:1:" + long + "\n"},
		{"a line of a diff", print.Options{Terminal: true}, commit("```diff\na.js a.js\n@@ -1,0 +1,1 @@\n+"+long+"\n\n```", [3]int{3, far + 1, 5}),
			"lab/kiln c0ffee0123 Ada, 3 days ago: Stoke it\n    a.js a.js\n    @@ -1,0 +1,1 @@\n    …" + strings.Repeat("é", 100) + "glaze" + strings.Repeat("z", 495) + "…\n"},
		{"a line of a message", print.Options{Terminal: true}, commit("```COMMIT_EDITMSG\nStoke it\n\n"+long+"\n```", [3]int{3, far, 5}),
			"lab/kiln c0ffee0123 Ada, 3 days ago: Stoke it\n    …" + strings.Repeat("é", 100) + "glaze" + strings.Repeat("z", 495) + "…\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			if err := print.NewMatches(&out, c.opts).Write([]client.Match{c.match}); err != nil {
				t.Fatal(err)
			}
			if got := colored.Replace(out.String()); got != c.want {
				t.Errorf("got %d bytes %.1000q\nwant %d bytes %.1000q", len(got), got, len(c.want), c.want)
			}
		})
	}
}
