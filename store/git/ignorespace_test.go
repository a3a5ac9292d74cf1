package git_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/store/git"
)

// Where white space is ignored git leaves sections out, and each of the others has to
// stay with its file: beside files of the same content, of other modes and names.
func TestCompareIgnoresSpace(t *testing.T) {
	x := newFixture(t)
	lines := strings.Repeat("same\n", 50)
	x.write("a blank", "x\ny\n")
	x.write("b edited", "x\ny\n")
	x.write("c moved", lines)
	x.write("d moved and blank", lines+"last\n")
	x.write("e binary", "\x00\x01")
	x.write("f link", "x\n")
	x.write("g mode", "x\ny\nz\n")
	x.write("z blank", "x\ny\n")
	before := x.commit()
	x.write("a blank", "x\n  y\n")
	x.write("b edited", "x \nz\n")
	x.git("mv", "c moved", "c there")
	x.git("mv", "d moved and blank", "d there")
	x.write("d there", lines+"  last\n")
	x.write("e binary", "\x00\x02")
	x.git("rm", "-q", "f link")
	x.git("update-index", "--add", "--cacheinfo", "120000,"+x.gitInput("target", "hash-object", "-w", "--stdin")+",f link")
	x.write("h added", "x\n  y\n")
	x.write("z blank", "x\n\ty\n")
	x.git("add", "a blank", "b edited", "d there", "e binary", "h added", "z blank")
	x.git("update-index", "--chmod=+x", "g mode")
	x.git("commit", "-q", "-m", "second")
	after := x.git("rev-parse", "HEAD")
	compare := func(o git.LogOptions) string {
		var got strings.Builder
		o.Depth = git.LogHunks
		if err := x.open().Compare(t.Context(), before, after, nil, o, func(d git.FileDiff) error {
			fmt.Fprintf(&got, "%c %s %d\n%s", d.Status, d.Path, d.State, d.Hunks)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return got.String()
	}
	want := "M a blank 0\nM b edited 0\n@@ -1,2 +1,2 @@\n x \n-y\n+z\nR c there 0\nR d there 0\nM e binary 1\n" +
		"T f link 0\n@@ -1 +0,0 @@\n-x\n@@ -0,0 +1 @@\n+target\nM g mode 0\nA h added 0\n@@ -0,0 +1,2 @@\n+x\n+  y\nM z blank 0\n"
	if got := compare(git.LogOptions{IgnoreSpace: true}); got != want {
		t.Errorf("without white space\n got %q\nwant %q", got, want)
	}
	if got := compare(git.LogOptions{}); !strings.Contains(got, "M z blank 0\n@@ -1,2 +1,2 @@\n x\n-y\n+\ty\n") {
		t.Errorf("with white space: %q", got)
	}
	// With nothing else there is no patch at all.
	x.write("z blank", "x\n y\n")
	x.git("add", "z blank")
	x.git("commit", "-q", "-m", "third")
	before, after = after, x.git("rev-parse", "HEAD")
	if got := compare(git.LogOptions{IgnoreSpace: true}); got != "M z blank 0\n" {
		t.Errorf("with nothing but white space: %q", got)
	}
}

func TestParseHunkHead(t *testing.T) {
	for _, c := range []struct {
		line string
		want string // "" for none
	}{
		{"@@ -8,7 +8,6 @@ func fire() {\n", `{8 7} {8 6} "func fire() {"`},
		{"@@ -1 +0,0 @@\n", `{1 1} {0 0} ""`},
		{"@@ -0,0 +1,2 @@", `{0 0} {1 2} ""`},
		{"@@ -1,-2 +1 @@", ""}, {"@@ 1 +1 @@", ""}, {"@@ -1", ""}, {"-1 +1 @@ x", ""}, {"", ""}, {"@@ -x +1 @@", ""},
	} {
		h, ok := git.ParseHunkHead([]byte(c.line))
		if got := fmt.Sprintf("%v %v %q", h.Old, h.New, h.Section); ok != (c.want != "") || ok && got != c.want {
			t.Errorf("%q: %s, %v; want %s", c.line, got, ok, c.want)
		}
	}
}
