package browse_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// rows are the texts of the cells of a page's diffs, row by row.
func rows(page string) (out []string) {
	for _, row := range regexp.MustCompile(`(?s)<tr( class="\w+")?>.*?</tr>`).FindAllString(page, -1) {
		var cells []string
		for _, cell := range regexp.MustCompile(`(?s)<td[^>]*>(.*?)</td>`).FindAllStringSubmatch(row, -1) {
			cells = append(cells, regexp.MustCompile(`<[^>]*>`).ReplaceAllString(cell[1], ""))
		}
		out = append(out, strings.Join(cells, "|"))
	}
	return out
}

// The lines of a diff have the numbers of their sides, which stand below or beside each
// other, with changes of white space or without.
func TestDiffViews(t *testing.T) {
	w := newWorld(t)
	repo := w.git("diffs")
	repo.Write("a.txt", "one\ntwo\nthree\nfour\nfive\nsix\n")
	repo.Write("b.txt", "x\n")
	repo.Commit("Begin")
	repo.Write("a.txt", "one\ntwo\nTHREE\nand more\nfour\nsix\nseven & <b>\n")
	repo.Write("b.txt", "  x\n")
	repo.Commit("Change")
	w.AddSource("lab/diffs=" + repo.Dir)
	w.Sync("lab/diffs")
	const page = "/lab/diffs/-/commit/main"
	for _, c := range []struct {
		address string
		want    []string
	}{
		{"", []string{"||@@ -1,6 +1,7 @@", "1|1| one", "2|2| two", "3||-three", "|3|+THREE", "|4|+and more", "4|5| four", "5||-five", "6|6| six", "|7|+seven &amp; &lt;b&gt;", "||@@ -1 +1 @@", "1||-x", "|1|+  x"}},
		{"?view=split", []string{"@@ -1,6 +1,7 @@", "1|one|1|one", "2|two|2|two", "3|three|3|THREE", "||4|and more", "4|four|5|four", "5|five||", "6|six|6|six", "||7|seven &amp; &lt;b&gt;", "@@ -1 +1 @@", "1|x|1|  x"}},
		{"?w=1", []string{"||@@ -1,6 +1,7 @@", "1|1| one", "2|2| two", "3||-three", "|3|+THREE", "|4|+and more", "4|5| four", "5||-five", "6|6| six", "|7|+seven &amp; &lt;b&gt;"}},
	} {
		body := w.get(page + c.address).body
		if got := rows(body); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.address, got, c.want)
		}
		if blank := strings.Contains(body, "Its lines are the same but for white space."); blank != (c.address == "?w=1") {
			t.Errorf("%s: white space is said to be ignored: %v", c.address, blank)
		}
	}
	// Each view leads to the others.
	for address, want := range map[string][]string{
		"":                {`href="?view=split">Side by side<`, `href="?w=1">Hide whitespace changes<`},
		"?view=split":     {`href="?">Unified<`, `href="?view=split&amp;w=1">Hide whitespace changes<`},
		"?view=split&w=1": {`href="?w=1">Unified<`, `href="?view=split">Show whitespace changes<`},
		"?view=x&w=2":     {`href="?view=split">Side by side<`, `href="#f1">b.txt</a>`},
	} {
		body := w.get(page + address).body
		for _, link := range want {
			if !strings.Contains(body, link) {
				t.Errorf("%s lacks %s", address, link)
			}
		}
	}
	if got := rows(w.get("/lab/diffs/-/compare/main~1...main?view=split&w=1").body); len(got) != 9 {
		t.Errorf("a comparison has the rows %q", got)
	}
}

// The page of a commit has the colours of the languages on both sides, and no text of
// theirs is markup.
func TestDiffColours(t *testing.T) {
	const attack = `</script><img src=x onerror="alert(1)">`
	w := newWorld(t)
	repo := w.git("painted")
	repo.Write("a.go", "package a\n\nvar x = `"+attack+"\nold\n`\n")
	repo.Write("b.html", "<p>"+attack+"\n")
	repo.Write("c.unknown", attack+"\n")
	repo.Commit("Begin")
	repo.Write("a.go", "package a\n\nvar x = `"+attack+"\nnew\n`\n")
	repo.Write("b.html", "<script>"+attack+"\n")
	repo.Write("c.unknown", "a"+attack+"\n")
	repo.Commit("Change")
	w.AddSource("lab/painted=" + repo.Dir)
	w.Sync("lab/painted")
	for _, path := range []string{"/lab/painted/-/commit/main", "/lab/painted/-/compare/main~1...main"} {
		for view, want := range map[string][]string{
			"":            {`<td class="tx minus">-<span class="s">old</span></td>`, `<td class="tx plus">+<span class="s">new</span></td>`, `<td class="tx"> <span class="k">package</span> a</td>`},
			"?view=split": {`<td class="tx minus"><span class="s">old</span></td>`, `<td class="tx plus"><span class="s">new</span></td>`, `<td class="tx"><span class="k">package</span> a</td>`},
		} {
			body := w.get(path + view).body
			for _, line := range want {
				if !strings.Contains(body, line) {
					t.Errorf("%s%s lacks %s", path, view, line)
				}
			}
			if n := strings.Count(body, ` painted">`); n != 2 || strings.Contains(body, "<img") || strings.Contains(body, `"alert`) {
				t.Errorf("%s%s: %d files are painted, want 2, and no markup of theirs", path, view, n)
			}
			if n := strings.Count(strings.Join(rows(body), ""), "&lt;/script&gt;&lt;img src=x onerror=&#34;alert(1)&#34;&gt;"); n < 5 {
				t.Errorf("%s%s shows %d lines of the attack", path, view, n)
			}
		}
	}
}
