package bench_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/bench"
)

func htmlOf(t *testing.T, r *bench.Report) string {
	t.Helper()
	var page bytes.Buffer
	if err := r.WriteHTML(&page); err != nil {
		t.Fatal(err)
	}
	return page.String()
}

// withoutLibrary cuts Chart.js, in which anything may stand.
func withoutLibrary(t *testing.T, page string) string {
	t.Helper()
	start := strings.Index(page, "<script>/*!")
	end := strings.Index(page, "<script>\"use strict\"")
	if start < 0 || end < start {
		t.Fatal("the page has no Chart.js before its own script")
	}
	return page[:start] + page[end:]
}

func TestHTMLSaysEverything(t *testing.T) {
	page := withoutLibrary(t, htmlOf(t, sampleReport()))
	for _, want := range []string{
		// What was measured, where and how
		"trawl-bench run --corpus /src --full", "Fast One, 2 cores", "ripgrep 13", "0123456789ab", "slept over it",
		// Goals and whether they were met
		"common literal, all matches", `class="met">1 of 1`, `class="missed">missed`,
		// Answers that differ, and files that a peer leaves out
		"wrong: only rg", "a.c:9", "zoekt: 84 files, 351.0 MB", "2 lines that rg finds are missing",
		"Permission is hereby granted",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// Every figure has its plot, its words and its table.
func TestHTMLFigures(t *testing.T) {
	page := withoutLibrary(t, htmlOf(t, sampleReport()))
	_, data, _ := strings.Cut(page, `id="data">`)
	data, _, _ = strings.Cut(data, "</script>")
	var charts map[string]struct {
		Labels []string
		Series []struct{ Values []*float64 }
	}
	if err := json.Unmarshal([]byte(data), &charts); err != nil {
		t.Fatalf("data of the page: %v", err)
	}
	for _, id := range []string{
		"done", "share", "first", "index-time", "index-memory", "index-disk", "cold", "cold-ready", "clients-rate", "clients-p50",
		"clients-p99", "memory", "memory-time", "growth-time", "growth-memory", "growth-disk", "growth-done", "growth-first",
	} {
		c, ok := charts[id]
		if !ok || len(c.Labels) == 0 || len(c.Series) == 0 {
			t.Errorf("figure %s has no data", id)
			continue
		}
		for _, s := range c.Series {
			if len(s.Values) != len(c.Labels) {
				t.Errorf("figure %s: %d values for %d labels", id, len(s.Values), len(c.Labels))
			}
		}
		section := regexp.MustCompile(`(?s)<section id="` + id + `">\n<h2>[^<]+</h2>\n<p>[^<]{40,}</p>.*?</section>`).FindString(page)
		if !strings.Contains(section, `data-figure="`+id+`"`) || strings.Count(section, `<tr><th scope="row">`) != len(c.Labels) {
			t.Errorf("section %s lacks words, a plot or a table of %d rows:\n%.400s", id, len(c.Labels), section)
		}
	}
	if n := strings.Count(page, "<canvas"); n != len(charts) {
		t.Errorf("%d plots for %d figures", n, len(charts))
	}
}

// Nothing was measured: there is nothing to draw.
func TestHTMLWithoutFigures(t *testing.T) {
	page := withoutLibrary(t, htmlOf(t, &bench.Report{}))
	if strings.Contains(page, "<canvas") || strings.Contains(page, "NaN") {
		t.Errorf("an empty report has a plot:\n%s", page)
	}
}

// What the corpus or a query holds is text, whatever it looks like.
func TestHTMLEscapes(t *testing.T) {
	const evil = `</script><script>alert(1)</script>`
	r := sampleReport()
	r.Corpus.Path, r.Machine.CPU, r.Command = evil, evil, evil
	for i := range r.Queries {
		r.Queries[i].Name, r.Queries[i].Text = evil, evil
	}
	r.Queries[1].Peers[0].Difference.MissingAt[0].Text = evil
	if page := htmlOf(t, r); strings.Contains(page, "<script>alert") {
		t.Error("text of the report became script")
	}
}

// The page is whole: it names no other file and no other place, and forbids
// loading any.
func TestHTMLIsSelfContained(t *testing.T) {
	page := withoutLibrary(t, htmlOf(t, sampleReport()))
	if !strings.Contains(page, `content="default-src 'none';`) {
		t.Error("the page does not forbid loading")
	}
	for _, pattern := range []string{`(?i)\bsrc=`, `(?i)href="[^#]`, `(?i)@import`, `(?i)url\(`, `(?i)\bfetch\(`, `sourceMappingURL`} {
		if found := regexp.MustCompile(pattern).FindString(page); found != "" {
			t.Errorf("the page has %q, which loads something", found)
		}
	}
}

// Chart.js is the file that its authors published, not an edited one.
func TestChartLibraryIsPinned(t *testing.T) {
	text, err := os.ReadFile("web/chart.umd.min.js")
	if err != nil {
		t.Fatal(err)
	}
	const want = "87364cc2b2a76a6684929e7d6b80b18a897794db38400caff1fcf1791c6925d2"
	sum := sha256.Sum256(text)
	if got := hex.EncodeToString(sum[:]); got != want || !bytes.Contains(text[:200], []byte("Chart.js v4.6.1")) {
		t.Errorf("Chart.js has checksum %s, want %s of version 4.6.1", got, want)
	}
}
