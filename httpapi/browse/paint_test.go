package browse

import (
	"context"
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/chroma/v2"
)

// bare takes the spans out of a line.
func bare(line string) string {
	line = regexp.MustCompile(`<span class="odd" data-c="U\+([0-9A-F]+)"></span>`).ReplaceAllString(line, "[$1]")
	return html.UnescapeString(regexp.MustCompile(`<span class="[a-z]+">|</span>`).ReplaceAllString(line, ""))
}

// whole paints all of a text.
func whole(ctx context.Context, p *painter, name, language, text string) []string {
	win := window{first: 1, last: countLines([]byte(text)), end: len(text)}
	var out []string
	for _, l := range p.lines(ctx, fileColours{oid: text}, name, language, []byte(text), win) {
		out = append(out, string(l.HTML))
	}
	return out
}

func TestPaint(t *testing.T) {
	for _, tt := range []struct{ name, language, text, want string }{
		// what is coloured
		{"a.go", "Go", "// clay\nfunc f() int { return 1 }\n", `<span class="c">// clay</span>|<span class="k">func</span> <span class="f">f</span>() <span class="t">int</span> { <span class="k">return</span> <span class="n">1</span> }`},
		{"a.c", "C", "static  const int x; \n", `<span class="k">static  const</span> <span class="t">int</span> x; `},
		{"a.py", "", "x = 'a'", `x = <span class="s">&#39;a&#39;</span>`},
		{"a", "No such language", "x < y\n", "x &lt; y"},
		{"a.go", "Go", "\n\n", "|"},
		{"a.go", "Go", "", ""},
		// line ends
		{"a", "", "a\r\nb\r\n", "a|b"},
		{"a", "", "a\rb\n", `a<span class="odd" data-c="U+000D"></span>b`},
		// what could be markup, or deceive
		{"a.html", "HTML", "<script>alert(1)</script>\n", ""},
		{"a", "", "\"'<&>\n", "&#34;&#39;&lt;&amp;&gt;"},
		{"a", "", "a\u202eb\x00\u200b\n", `a<span class="odd" data-c="U+202E"></span>b<span class="odd" data-c="U+0000"></span><span class="odd" data-c="U+200B"></span>`},
		{"a", "", "a\xffb", "a\uFFFDb"},
	} {
		got := strings.Join(whole(t.Context(), newPainter(time.Minute), tt.name, tt.language, tt.text), "|")
		if tt.want != "" && got != tt.want {
			t.Errorf("%s %q:\n got %s\nwant %s", tt.name, tt.text, got, tt.want)
		}
		if strings.Contains(got, "<script") {
			t.Errorf("%s %q: got %s, which holds markup", tt.name, tt.text, got)
		}
	}
}

// A carriage return that ends no line is shown, wherever a text is divided.
func TestReturns(t *testing.T) {
	w := newLineWriter(1, window{first: 1, last: 9})
	for _, text := range []string{"a\r", " b\r", "\n", "\r", "\r\n", "c\r"} {
		w.write("", text)
	}
	const shown = `<span class="odd" data-c="U+000D"></span>`
	var got []string
	for _, line := range w.end() {
		got = append(got, string(line.HTML))
	}
	if want := []string{"a" + shown + " b", shown, "c"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Some lexers of the library make all tokens of a text before they return the
// first, whatever time they have.
func TestPaintEndsInTime(t *testing.T) {
	php := strings.Repeat("<?php echo $x; ?>\n", 28_000)
	for name, text := range map[string]string{
		"a.phtml": php, "a.erb": strings.Repeat("<%= x %>\n", 40_000), "a.svelte": strings.Repeat("{#if x}\n", 40_000), "a.html.tmpl": strings.Repeat("{{.X}}\n", 40_000),
		"a.md": "```phtml\n" + php + "```\n", "a.html": "<script>" + strings.Repeat("/a\n", 100_000), "a.http": "GET / HTTP/1.1\nContent-Type: application/x-php\n\n" + php,
	} {
		lexer := lexerOf(name, "")
		if lexer == nil {
			continue
		}
		// A lexer is compiled when it is first used, and others may have the processors.
		took := time.Hour
		for try := 0; try < 5 && took > 3*time.Second; try++ {
			began, w := time.Now(), newLineWriter(1, window{first: 1, last: 1 << 30})
			newPainter(0).paint(t.Context(), w, lexer, text, &paintTime{end: began.Add(200 * time.Millisecond)})
			took = min(took, time.Since(began))
		}
		if took > 3*time.Second {
			t.Errorf("%s: %s took %v of 200 ms", name, lexer.Config().Name, took)
		}
	}
	for _, name := range []string{"a.phtml", "a.erb", "a.svelte", "a.md", "a.el", "a.go", "a.yml.j2"} {
		if l := lexerOf(name, ""); l == nil && name != "a.yml.j2" {
			t.Errorf("%s has no lexer", name)
		}
	}
}

// slowLexer makes tokens of one byte and one kind, slowly, as one does whose rules
// are tried against a text that was written against them.
type slowLexer struct{ chroma.Lexer }

func (slowLexer) Tokenise(_ *chroma.TokeniseOptions, text string) (chroma.Iterator, error) {
	return func() chroma.Token {
		if text == "" {
			return chroma.EOF
		}
		time.Sleep(time.Millisecond)
		t := chroma.Token{Type: chroma.Comment, Value: text[:1]}
		text = text[1:]
		return t
	}, nil
}

// Painting ends in time, and with its client, within a token, however many of one
// kind follow each other; and what was painted is one span.
func TestPaintEndsWithinRuns(t *testing.T) {
	text := strings.Repeat("x", 8000) // less than one run, and at least 8 s of painting
	lexer := slowLexer{lexerOf("a.go", "Go")}
	paint := func(ctx context.Context, within time.Duration) (took time.Duration, done int, lines []codeLine) {
		began, w := time.Now(), newLineWriter(1, window{first: 1, last: 1 << 30})
		done = newPainter(0).paint(ctx, w, lexer, text, &paintTime{end: began.Add(within)})
		return time.Since(began), done, w.end()
	}
	took, done, lines := paint(t.Context(), 2*time.Second)
	if done == 0 || done == len(text) || len(lines) != 1 || strings.Count(string(lines[0].HTML), "<span") != 1 {
		t.Errorf("%d of %d bytes in %v of 2 s: %.100v", done, len(text), took, lines)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if took, done, _ := paint(ctx, time.Minute); done == len(text) {
		t.Errorf("painted all in %v when the client had left after 50 ms", took)
	}
}

// Beyond the budget text is plain, and all of it is there.
func TestPaintBudget(t *testing.T) {
	text := strings.Repeat("func f() { return \"clay\" }\n", 2000)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx   context.Context
		p     *painter
		text  string
		plain bool
	}{
		"enough":             {t.Context(), newPainter(time.Minute), text, false},
		"no time":            {t.Context(), newPainter(-1), text, true},
		"a client that left": {gone, newPainter(time.Minute), text, true},
		"a long line":        {t.Context(), newPainter(time.Minute), text + strings.Repeat("f ", maxPaintedLine/2+1), true},
		"a large file":       {t.Context(), newPainter(time.Minute), strings.Repeat(text, 12), true},
	} {
		lines := whole(c.ctx, c.p, "a.go", "Go", c.text)
		var got strings.Builder
		painted := false
		for _, l := range lines {
			painted = painted || strings.Contains(l, "<span")
			got.WriteString(bare(l) + "\n")
		}
		if strings.TrimSuffix(got.String(), "\n") != strings.TrimSuffix(c.text, "\n") || painted == c.plain {
			t.Errorf("%s: %d lines, painted %t; want all of the text, plain %t", name, len(lines), painted, c.plain)
		}
	}
}

// FuzzPaint asks that no text is lost or becomes markup, whatever its language.
func FuzzPaint(f *testing.F) {
	for _, seed := range [][2]string{
		{"a.go", "package x\n"}, {"a.html", "<b onclick='x'>&lt;</b>"}, {"a.md", "# x\n```go\nfunc\n```"}, {"a.php", "<?php echo \"$x\"; ?>\r\n"},
		{"Makefile", "a:\n\tb\n"}, {"a.rb", "<<~X\nx\nX\n"}, {"a.js", "`${`${1}`}`"}, {"a.json", "{\"a\":[1,"}, {"a.txt", "\x00\xff"},
	} {
		f.Add(seed[0], seed[1])
	}
	tag := regexp.MustCompile(`<span class="[a-z]+"( data-c="U\+[0-9A-F]+")?>|</span>`)
	f.Fuzz(func(t *testing.T, name, text string) {
		lines := whole(t.Context(), newPainter(time.Minute), name, "", text)
		if want := strings.Count(text, "\n"); len(lines) != want && len(lines) != want+1 {
			t.Errorf("%q: %d lines, want %d or one more", text, len(lines), want)
		}
		for _, l := range lines {
			if rest := tag.ReplaceAllString(l, ""); strings.ContainsAny(rest, "<>\"'") {
				t.Errorf("%q in %s: got %s, which holds markup", text, name, l)
			}
		}
	})
}

func TestParseLines(t *testing.T) {
	for query, want := range map[string]lineRange{
		"": {}, "q=x": {}, "L10": {10, 10, 0}, "L10-20": {10, 20, 0}, "L10-L20": {10, 20, 0}, "L10:5-10:9": {10, 10, 5}, "L10:5-12:1": {10, 12, 5},
		"L4:6": {4, 4, 6}, "L12:5-10": {10, 12, 0}, "L20-10": {10, 20, 0}, "L4%3A6-4%3A10": {4, 4, 6}, "a=b&L7": {7, 7, 0}, "L10=": {10, 10, 0}, "L0": {}, "L-1": {}, "Lx": {},
		"L99999999999": {}, "l10": {}, "L10-": {}, "L1-2-3": {},
	} {
		if got := parseLines(query); got != want {
			t.Errorf("parseLines(%q) = %v, want %v", query, got, want)
		}
	}
	for query, want := range map[string]bool{
		"": false, "L10": false, "L4%3A6-4%3A10": false, "L10=": false, "q=x": true, "L10&find=x": true, "Lx": true, "&L7&": false,
	} {
		if got := reflects(query); got != want {
			t.Errorf("reflects(%q) = %t, want %t", query, got, want)
		}
	}
}

func TestShown(t *testing.T) {
	for name, want := range map[string]string{
		"main.go": "main.go", "é 漢": "é 漢", "a\nb": "a<U+000A>b", "a\tb": "a<U+0009>b", "\u202eog.niam": "<U+202E>og.niam", "a\xff": "a\uFFFD", "": "",
	} {
		if got := shown(name); got != want {
			t.Errorf("shown(%q) = %q, want %q", name, got, want)
		}
	}
}
