package browse

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/git"
)

// paintedDiff makes rows of a file's hunks and colours them. The HTML of a row without
// colours stands for it in plain.
func paintedDiff(ctx context.Context, p *painter, split bool, path, oldPath, hunks string) (painted, plain []string, any bool) {
	data := diffData{diffView: diffView{Split: split}, left: listBytes}
	f := diffFile{text: diffText{path: path, oldPath: oldPath}}
	data.show(&f, []byte(hunks))
	lines := f.text.lines
	for _, l := range lines {
		plain = append(plain, string(l.HTML))
	}
	files := []diffFile{f}
	p.newDiffPainter().files(ctx, files)
	for _, l := range lines {
		painted = append(painted, string(l.HTML))
	}
	return painted, plain, files[0].Painted
}

func TestDiffPaint(t *testing.T) {
	for name, c := range map[string]struct {
		path, oldPath, hunks string
		split                bool
		want                 string
	}{
		"signs stay": {path: "a.go", hunks: "@@ -1,2 +1,2 @@ func\n return\n-// x\n+return 1\n",
			want: `@@ -1,2 +1,2 @@ func| <span class="k">return</span>|-<span class="c">// x</span>|+<span class="k">return</span> <span class="n">1</span>`},
		"sides have none": {path: "a.go", split: true, hunks: "@@ -1 +1 @@\n-// x\n+return 1\n",
			want: `@@ -1 +1 @@|<span class="c">// x</span>|<span class="k">return</span> <span class="n">1</span>`},
		"a comment goes on": {path: "a.go", hunks: "@@ -1,3 +1,3 @@\n /* a\n-b\n+c */ return\n d */ return\n",
			want: `@@ -1,3 +1,3 @@| <span class="c">/* a</span>|-<span class="c">b</span>|+<span class="c">c */</span> <span class="k">return</span>| d */ <span class="k">return</span>`},
		"lines that only went": {path: "a.go", hunks: "@@ -5,2 +5 @@\n-/*\n return */\n",
			want: `@@ -5,2 +5 @@|-<span class="c">/*</span>| <span class="c">return */</span>`},
		"each hunk begins anew": {path: "a.go", hunks: "@@ -1 +1 @@\n+/*\n@@ -9 +10 @@\n+return\n",
			want: `@@ -1 +1 @@|+/*|@@ -9 +10 @@|+<span class="k">return</span>`},
		"another language before": {path: "a.go", oldPath: "a.py", hunks: "@@ -1 +1 @@\n-# x\n+// x\n",
			want: `@@ -1 +1 @@|-<span class="c"># x</span>|+<span class="c">// x</span>`},
		"by the first line": {path: "run", hunks: "@@ -0,0 +1,2 @@\n+#!/usr/bin/env python3\n+return\n",
			want: `@@ -0,0 +1,2 @@|+<span class="c">#!/usr/bin/env python3</span>|+<span class="k">return</span>`},
		"no language": {path: "a.unknown", hunks: "@@ -1 +1 @@\n-return\n+\n", want: "@@ -1 +1 @@|-return|+"},
		"line ends":   {path: "a.go", hunks: "@@ -1,2 +1,2 @@\n-return\r\n+\r\n \n", want: "@@ -1,2 +1,2 @@|-<span class=\"k\">return</span>|+| "},
	} {
		got, _, _ := paintedDiff(t.Context(), newPainter(time.Minute), c.split, c.path, c.oldPath, c.hunks)
		if got := strings.Join(got, "|"); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
		}
	}
}

// TestLongPathIsPlain: a path of megabytes is neither kept nor compared with names of files.
func TestLongPathIsPlain(t *testing.T) {
	p := &target{rec: &store.Repository{Name: "lab/kiln"}}
	long := strings.Repeat(".", maxPathBytes) + "a.go"
	f := p.diffFile(git.FileDiff{Change: git.Change{Status: 'R', Path: long}, OldPath: long}, "", "")
	if f.text.path != "" || f.text.oldPath != "" {
		t.Errorf("%d bytes of a path are kept, and %d of the one before", len(f.text.path), len(f.text.oldPath))
	}
	if got, plain, _ := paintedDiff(t.Context(), newPainter(time.Minute), false, f.text.path, "", "@@ -1 +1 @@\n-return\n+func\n"); !slices.Equal(got, plain) {
		t.Errorf("lines of a file whose path is too long: %q", got)
	}
}

// Whatever stands in the lines, colours add spans and nothing else.
func TestDiffPaintAttacks(t *testing.T) {
	const attack = `</script><img src=x onerror="alert(1)">`
	for _, path := range []string{"a.html", "a.js", "a.go", "a.md", "a.php", "a.css", "a.xml", "a.vue", "a.unknown"} {
		for _, split := range []bool{false, true} {
			hunks := "@@ -1,4 +1,4 @@ " + attack + "\n <script>var a = '" + attack + "\n-" + attack + "\n+`" + attack + "\n+<!-- " + attack + "\u202e\xff\x01\n /* " + attack + "\r\n+" + strings.Repeat("<b>", 2000) + "\n"
			got, plain, _ := paintedDiff(t.Context(), newPainter(time.Minute), split, path, "", hunks)
			for i := range got {
				if bare(got[i]) != bare(plain[i]) || strings.Contains(got[i], "<img") || strings.Contains(got[i], "<script") || strings.Contains(got[i], `"alert`) {
					t.Errorf("%s, line %d: got %q, want the text of %q", path, i, got[i], plain[i])
				}
			}
		}
	}
}

// Beyond the limits of a page lines are plain, and all of them are there.
func TestDiffPaintBudget(t *testing.T) {
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	wide := strings.Repeat("+return 1\n", maxFileLines)
	for name, c := range map[string]struct {
		ctx     context.Context
		p       *painter
		hunks   string
		painted bool
	}{
		"enough":             {t.Context(), newPainter(time.Minute), wide, true},
		"no time":            {t.Context(), &painter{}, wide, false},
		"a client that left": {gone, newPainter(time.Minute), wide, false},
		"a long line":        {t.Context(), newPainter(time.Minute), wide[:1000] + "+" + strings.Repeat("f ", maxPaintedLine/2+1) + "\n", false},
	} {
		got, plain, painted := paintedDiff(c.ctx, c.p, false, "a.go", "", c.hunks)
		if painted != c.painted || len(got) != len(plain) {
			t.Errorf("%s: painted %t, want %t; %d lines", name, painted, c.painted, len(got))
		}
		for i := range got {
			if bare(got[i]) != bare(plain[i]) {
				t.Fatalf("%s: line %d is %q, want the text of %q", name, i, got[i], plain[i])
			}
		}
	}
	// All files share one budget.
	const token = `<span class="k">return</span>`
	line := "+" + strings.Repeat("return 1;", 60) + "\n"
	files := make([]diffFile, 50)
	texts := make([]diffText, len(files))
	for i := range files {
		data := diffData{left: 1 << 30}
		files[i].text.path = "a.go"
		data.show(&files[i], []byte(strings.Repeat(line, 100)))
		texts[i] = files[i].text
	}
	newPainter(time.Hour).newDiffPainter().files(t.Context(), files)
	spans, tokens := 0, 0
	for i := range texts {
		for _, l := range texts[i].lines {
			spans += strings.Count(string(l.HTML), token) * (len(token) - len("return"))
			tokens += strings.Count(string(l.HTML), "return")
		}
	}
	if tokens != 50*100*60 || spans == 0 || spans > maxDiffSpanBytes || files[0].Painted == files[49].Painted {
		t.Errorf("%d bytes of spans around %d words, painted %t to %t; want %d bytes at most, and all words", spans, tokens, files[0].Painted, files[49].Painted, maxDiffSpanBytes)
	}
}
