package browse_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/internal/gitrepo"
)

// large is a repository whose files, commits, directories and refs are made to
// fill pages.
func (w *world) large() *gitrepo.Repo {
	w.Helper()
	s := w.git("large")
	s.Write("costly.txt", strings.Repeat("\n", 4<<20))
	s.Commit("costly")
	s.Write("nl.txt", strings.Repeat("\n", 200_000))
	s.Write("huge.txt", strings.Repeat("é", 3<<20)+"end\nb\n")
	s.Write("long.txt", "a\n"+strings.Repeat("<", 200_000)+"\nb\n")
	s.Commit("first")
	for i := range 8 {
		s.Write(fmt.Sprintf("e%d.txt", i), strings.Repeat("\n", 120_000))
	}
	s.Commit("lines")
	blob := s.Feed("x", "hash-object", "-w", "--stdin")
	var index strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&index, "100644 %s\tmany/%05d%s\n", blob, i, strings.Repeat("n", 100))
	}
	s.Feed(index.String()+"100644 "+blob+"\tmany/z/z\n", "update-index", "--add", "--index-info")
	s.Feed(strings.Repeat("<", 200_000)+"\n\n"+strings.Repeat("&", 500_000), "commit", "-q", "-F", "-")
	w.AddSource("lab/large=" + s.Dir)
	w.Sync("lab/large")
	return s
}

// refs adds many branches to a repository, the fast way.
func refs(s *gitrepo.Repo, n int) {
	s.Helper()
	head := s.Git("rev-parse", "HEAD")
	var packed strings.Builder
	packed.WriteString("# pack-refs with: peeled fully-peeled sorted \n")
	for i := range n {
		fmt.Fprintf(&packed, "%s refs/heads/b%06d\n", head, i)
	}
	if err := os.WriteFile(filepath.Join(s.Dir, ".git", "packed-refs"), []byte(packed.String()), 0o644); err != nil {
		s.Fatal(err)
	}
}

// Pages of what strangers made large are bounded, say what they leave out, and
// lead to it.
func TestLargePages(t *testing.T) {
	if testing.Short() {
		t.Skip("makes large pages for slow clients")
	}
	w := newWorld(t)
	refs(w.large(), 20_000)
	const most = 2 << 20
	for _, c := range []struct {
		path string
		want []string
		rows string // a part of each row
		n    int
	}{
		{"/-/blob/nl.txt", []string{"lines 1–5,000 of 200,000", `href="/under/lab/large/-/blob/nl.txt?from=5001"`, "200,000 bytes, 200,000 lines"}, `<tr id="L`, 5000},
		{"/-/blob/nl.txt?L120000-120002", []string{"lines 115,001–120,000", `<tr id="L120000" class="hit">`, "?from=115000", "?from=120001"}, `<tr id="L`, 5000},
		{"/-/blob/nl.txt?from=199999", []string{"lines 195,001–200,000"}, `<tr id="L`, 5000},
		{"/-/blob/nl.txt?from=999999999", []string{"lines 195,001–200,000"}, `<tr id="L`, 5000},
		{"/-/blob/long.txt", []string{`href="/under/lab/large/-/blob/long.txt?L2:10241">189,760 more bytes</a>`, `<tr id="L3">`}, `<tr id="L`, 3},
		{"/-/blob/long.txt?L2:200000&q=x", []string{`data-chars="194560" href="/under/lab/large/-/blob/long.txt?L2:194560&amp;q=x">194,560 bytes before</a>&lt;&lt;`, `&lt;</td></tr>`}, `<tr id="L`, 3},
		{"/-/blob/huge.txt?L1:3145729", []string{`href="/under/lab/large/-/blob/huge.txt?L1:3143680">`, `éend</td></tr>`, `<tr id="L2">`}, `<tr id="L`, 2},
		{"/-/blob/e1.txt?L7", []string{"lines 1–5,000 of 120,000"}, `<tr id="L`, 5000},
		{"/-/commit/main~1", []string{"8 files, +960,000 −0", "119,001 more lines are not shown"}, `<tr class="plus">`, 8 * 999},
		{"/-/compare/main~2...main~1", []string{"119,001 more lines are not shown"}, `<tr class="plus">`, 8 * 999},
		{"/-/commit/main~3", []string{"costly.txt", "Its lines are not read: git takes too much memory to compare them."}, `<section class="file" id="f`, 1},
		{"/-/commit/main", []string{"more than 300 files"}, `<section class="file" id="f`, 300},
		{"/-/commits", []string{"lines", "…"}, "<li>", 4},
		{"/-/tree/many", []string{"1–1,000 of 20,001", `/-/tree/many/z"`, "/-/tree/many?from=1000"}, `<td class="dim">`, 1001},
		{"/-/tree/many?from=20000", []string{"20,001–20,001 of 20,001", "/-/tree/many?from=19000"}, `<td class="dim">`, 2},
		{"/-/tree/many?from=99999999", []string{"of 20,001"}, `<td class="dim">`, 1},
		{"/-/branches", []string{"1–500 of 20,001, by name", "?branches=500", "b000499"}, "<tr><td>", 500},
		{"/-/branches?branches=19990", []string{"19,991–20,001 of 20,001", "?branches=19490", "main"}, "<tr><td>", 11},
		{"/-/branches?q=b00100", []string{"b001009"}, "<tr><td>", 10},
	} {
		got := w.get("/lab/large" + c.path)
		if got.status != 200 || len(got.body) > most {
			t.Errorf("%s: got %d with %d bytes, want 200 with %d at most: %.200s", c.path, got.status, len(got.body), most, got.body)
			continue
		}
		for _, part := range c.want {
			if !strings.Contains(got.body, part) && !strings.Contains(unescaped(text(got.body)), part) {
				t.Errorf("%s: the page does not have %s: %.1500s", c.path, part, text(got.body))
			}
		}
		if n := strings.Count(got.body, c.rows); n != c.n {
			t.Errorf("%s: %d times %s, want %d", c.path, n, c.rows, c.n)
		}
	}
}

// A text that is not read in time is not shown, and the page leads to the file.
func TestLargeTextTooSlow(t *testing.T) {
	w := newWorld(t, func(w *world) { w.blameWithin = time.Nanosecond })
	w.kiln.Write("huge.txt", strings.Repeat("glaze\n", 1<<20))
	w.kiln.Commit("huge")
	w.Sync("lab/kiln")
	a := w.get("/lab/kiln/-/blob/huge.txt?L500000")
	if a.status != http.StatusOK || !strings.Contains(a.body, "Its lines are not reached within 1ns") || !strings.Contains(a.body, `/-/raw/huge.txt"`) || strings.Contains(a.body, `id="source"`) {
		t.Errorf("%d: %.3000s", a.status, a.body)
	}
}

func unescaped(s string) string {
	return strings.NewReplacer("&ndash;", "–", "&minus;", "−", "&hellip;", "…").Replace(s)
}

// Each entry of a directory is on one page, whichever way it is reached.
func TestPagesOfDirectory(t *testing.T) {
	w := newWorld(t)
	s := w.git("wide")
	blob := s.Feed("x", "hash-object", "-w", "--stdin")
	var index strings.Builder
	for i := range 1200 {
		fmt.Fprintf(&index, "100644 %s\tf%04d\n100644 %s\td%04d/x\n", blob, i, blob, i)
	}
	s.Feed(index.String(), "update-index", "--add", "--index-info")
	s.Git("commit", "-q", "-m", "wide")
	w.AddSource("lab/wide=" + s.Dir)
	w.Sync("lab/wide")
	seen := map[string]int{}
	var order []string
	next := "/lab/wide"
	for next != "" {
		body := w.get(next).body
		for _, m := range regexp.MustCompile(`<tr><td><a href="[^"]*">([fd]\d+)</a>`).FindAllStringSubmatch(body, -1) {
			seen[m[1]]++
			order = append(order, m[1])
		}
		m := regexp.MustCompile(`rel="next" href="/under([^"]*)"`).FindStringSubmatch(body)
		if next = ""; m != nil {
			next = m[1]
		}
	}
	if len(seen) != 2400 || len(order) != 2400 || order[0] != "d0000" || order[1200] != "f0000" || order[2399] != "f1199" {
		t.Errorf("%d entries %d times, want 2400 once, directories first", len(seen), len(order))
	}
}

// An address of a quarter of a megabyte stands in no list.
func TestLongAddresses(t *testing.T) {
	w := newWorld(t)
	deep := strings.Repeat("/a", 60_000)
	for path, status := range map[string]int{
		"/lab/kiln/-/commits" + deep:                                          404,
		"/lab/kiln/-/tree" + deep:                                             404,
		"/lab/kiln/-/commits" + strings.Repeat("/a", 2000):                    200,
		"/lab/kiln@main" + strings.Repeat("^0", 50_000):                       404,
		"/lab/kiln/-/commit/main" + strings.Repeat("^0", 50_000):              404,
		"/lab/kiln/-/compare/main" + strings.Repeat("^0", 50_000) + "...main": 404,
		"/lab/kiln@main" + strings.Repeat("^0", 400):                          200,
		"/lab/kiln/-/branches?q=" + strings.Repeat("%22", 60_000):             200,
	} {
		got := w.get(path)
		if got.status != status || len(got.body) > 1<<20 {
			t.Errorf("%.60s of %d bytes: got %d with %d bytes, want %d", path, len(path), got.status, len(got.body), status)
		}
	}
}

// Texts that are too large to be held are read window by window, from git and, where that
// is gone, from the index.
func TestTextsOverTheLimit(t *testing.T) {
	w := newWorld(t)
	s := w.git("texts")
	s.Write("many.txt", strings.Repeat("a line <of> text\n", 300_000)+"the last")
	s.Write("one.js", "x=1;"+strings.Repeat("call(1);", 700_000))
	s.Write("zero.bin", "\x00"+strings.Repeat("z", 5<<20))
	s.Commit("texts")
	w.AddSource("lab/texts=" + s.Dir)
	w.Sync("lab/texts")
	pages := map[string][]string{
		"/-/blob/many.txt":                  {"lines 1–5,000 of 300,001", "?from=5001", "5,100,008 bytes"},
		"/-/blob/many.txt?L150000-150001":   {`<tr id="L150000" class="hit">`, "a line &lt;of&gt; text"},
		"/-/blob/many.txt?from=999999999":   {"of 300,001", `<tr id="L300001">`, "the last", "?from=300000"},
		"/-/blame/many.txt":                 {"lines 1–5,000 of 300,001", "The file is too large for its lines to be followed"},
		"/-/blob/one.js":                    {`<tr id="L1">`, "x=1;call(1);", `/-/blob/one.js?L1:10241">5,589,764 more bytes</a>`},
		"/-/blob/zero.bin":                  {"The file is binary."},
		"/-/blob/many.txt?from=5001&q=line": {"lines 5,001–10,000 of 300,001", "?from=10001&amp;q=line"},
	}
	check := func(when string) {
		t.Helper()
		for path, want := range pages {
			got := w.get("/lab/texts" + path)
			if got.status != 200 || len(got.body) > 2<<20 {
				t.Errorf("%s: %s: got %d with %d bytes", when, path, got.status, len(got.body))
				continue
			}
			for _, part := range want {
				if !strings.Contains(got.body, part) && !strings.Contains(unescaped(text(got.body)), part) {
					t.Errorf("%s: %s: the page does not have %s: %.600s", when, path, part, text(got.body))
				}
			}
		}
	}
	check("from git")
	if err := os.RemoveAll(s.Dir); err != nil {
		t.Fatal(err)
	}
	delete(pages, "/-/blob/zero.bin") // the index has no binary files
	delete(pages, "/-/blame/many.txt")
	check("from the index")
}
