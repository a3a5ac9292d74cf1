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
	w.add("lab/diffs=" + repo.Dir)
	w.sync("lab/diffs")
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
