package browse

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
)

// Windows cut a text without a gap, each within the limits, and the window of a
// line holds it.
func TestWindowOf(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	parts := []string{"\n", "\r\n", "a", "<", "\u202e", "é", "\xff", "\t"}
	for _, text := range []string{
		"", "\n", "a", "a\n", strings.Repeat("\n", 20_001), strings.Repeat("<", 2*maxWindowBytes), strings.Repeat("x\n", 4999), strings.Repeat("x\n", 5000), strings.Repeat("x\n", 5001),
		strings.Repeat(strings.Repeat("<", maxShownLine)+"\n", 200), strings.Repeat("\x01\n", 30_000), random(r, parts, 100_000), random(r, parts[:1], 12_000),
	} {
		total, end, last := bytes.Count([]byte(text), []byte("\n")), 0, 0
		if text != "" && !strings.HasSuffix(text, "\n") {
			total++
		}
		for last < total {
			w := windowOf([]byte(text), last+1)
			if w.first != last+1 || w.start != end || w.lines != total || w.last < w.first || w.last-w.first >= maxWindowLines {
				t.Fatalf("seed %d, %.20q: window %+v behind line %d and byte %d of %d lines", seed, text, w, last, end, total)
			}
			if again := windowOf([]byte(text), w.last); again != w {
				t.Errorf("seed %d, %.20q: the last line of %+v is in %+v", seed, text, w, again)
			}
			size, lines := 0, newPainter(0).lines(t.Context(), fileColours{}, "a", "", []byte(text), w)
			for _, l := range lines {
				size += len(l.HTML)
			}
			if len(lines) != w.last-w.first+1 || size > maxWindowBytes && len(lines) > 1 {
				t.Errorf("seed %d, %.20q: %d lines of %d bytes in %+v", seed, text, len(lines), size, w)
			}
			end, last = w.end, w.last
		}
		if end != len(text) {
			t.Errorf("seed %d, %.20q: the windows end at byte %d of %d", seed, text, end, len(text))
		}
		if first, behind := windowOf([]byte(text), 0), windowOf([]byte(text), 1<<30); total > 0 && (first.first != 1 || behind.last != total) {
			t.Errorf("seed %d, %.20q: line 0 is in %+v, one behind the end in %+v", seed, text, first, behind)
		}
	}
}

func random(r *rand.Rand, parts []string, n int) string {
	var b strings.Builder
	for range n {
		b.WriteString(parts[r.IntN(len(parts))])
	}
	return b.String()
}

// A window of a coloured text has the colours that the whole text gives it.
func TestWindowKeepsColours(t *testing.T) {
	// The comment is short: it is one token, which has a quarter of a second.
	text := strings.Repeat("x\n", 4990) + "/*\n" + strings.Repeat("x\n", 110) + "*/\nfunc f() {}\n"
	win := windowOf([]byte(text), 5050)
	for _, l := range newPainter(1<<40).lines(t.Context(), fileColours{}, "a.go", "Go", []byte(text), win) {
		if l.HTML != `<span class="c">x</span>` && l.HTML != `<span class="c">*/</span>` && !strings.Contains(string(l.HTML), `"k">func`) {
			t.Fatalf("a line within a comment is %s", l.HTML)
		}
	}
	if win.first != 5001 || win.last != 5103 {
		t.Errorf("window %+v, want lines 5001 to 5103", win)
	}
}

func TestEscapedBytes(t *testing.T) {
	for _, text := range []string{"", "a<b>&\"'", "é漢\xff\xc3", "\u202e\x00\u200b\t", "x"} {
		var b strings.Builder
		escapeInto(&b, text)
		if got := escapedBytes([]byte(text)); got != b.Len() {
			t.Errorf("%q: %d, want the %d bytes of %s", text, got, b.Len(), &b)
		}
	}
}
