package markdown_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/httpapi/markdown"
)

var links = markdown.Links{
	Dir:   "docs",
	File:  func(path string) string { return "/lab/kiln/-/blob/" + path },
	Image: func(path string) string { return "/lab/kiln/-/raw/" + path + "?as=image" },
}

func render(t testing.TB, text string) string {
	t.Helper()
	out, err := markdown.Render([]byte(text), links)
	if err != nil {
		t.Fatalf("%.200q: %v", text, err)
	}
	return strings.TrimSpace(string(out))
}

func TestRender(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		// text and headings, which lie below those of the page
		{"# A b *c*\n\n## A b c", "<h3 id=\"md-a-b-c\">A b <em>c</em></h3>\n<h4 id=\"md-a-b-c-1\">A b c</h4>"},
		{"- [x] glaze\n- [ ] <b>cool</b>\n- [y] c", "<ul>\n<li>☑ glaze</li>\n<li>☐ <b>cool</b></li>\n<li>[y] c</li>\n</ul>"},
		{"a `<b>` & ~~c~~", "<p>a <code>&lt;b&gt;</code> &amp; <del>c</del></p>"},
		{"```go\nfunc <x>\n```", "<pre><code>func &lt;x&gt;\n</code></pre>"},
		{"|a|b|\n|-|:-:|\n|1|2|", "<table>\n<thead>\n<tr>\n<th>a</th>\n<th align=\"center\">b</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>1</td>\n<td align=\"center\">2</td>\n</tr>\n</tbody>\n</table>"},
		{"<details><summary>s</summary>\n\nx\n\n</details>", "<details><summary>s</summary>\n<p>x</p>\n</details>"},
		// links, from the directory of the text
		{"[x](guide.md)", `<p><a href="/lab/kiln/-/blob/docs/guide.md">x</a></p>`},
		{"[x](../a%20b.md?raw=1#Part)", `<p><a href="/lab/kiln/-/blob/a b.md#md-part">x</a></p>`},
		{"[x](/root.go#L10)", `<p><a href="/lab/kiln/-/blob/root.go#L10">x</a></p>`},
		{"[x](guide.md#L10-L12)", `<p><a href="/lab/kiln/-/blob/docs/guide.md#L10-L12">x</a></p>`},
		{"[x](guide.md#Étape-1)", `<p><a href="/lab/kiln/-/blob/docs/guide.md#md-%C3%A9tape-1">x</a></p>`},
		{"[x](#Some-Part)", `<p><a href="#md-some-part">x</a></p>`},
		{"[x](../../etc/passwd)", `<p><a>x</a></p>`},
		{"[x](//evil.example/x)", `<p><a rel="nofollow noreferrer">x</a></p>`},
		{"[x](https://example.org/a?b=c&d)", `<p><a href="https://example.org/a?b=c&amp;d" rel="nofollow noreferrer">x</a></p>`},
		{"see https://example.org/x", `<p>see <a href="https://example.org/x" rel="nofollow noreferrer">https://example.org/x</a></p>`},
		// images: those of the repository are shown, others are links
		{"![The kiln](../kiln.png)", `<p><img src="/lab/kiln/-/raw/kiln.png?as=image" alt="The kiln" loading="lazy"/></p>`},
		{`<img src="k.svg" width="30" onerror="x">`, `<img width="30" src="/lab/kiln/-/raw/docs/k.svg?as=image" alt="k.svg" loading="lazy"/>`},
		{"![](https://example.org/k.png)", `<p><a href="https://example.org/k.png" rel="nofollow noreferrer">image</a></p>`},
		{"[![Build](https://ci.example.org/b.svg)](https://ci.example.org)", `<p><a href="https://ci.example.org" rel="nofollow noreferrer"><span>Build</span></a></p>`},
		{"![d](data:image/png;base64,AAAA)", `<p><span>d</span></p>`},
		{"![d](../../x.png)", `<p><span>d</span></p>`},
	} {
		if got := render(t, c.text); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.text, got, c.want)
		}
	}
}

// Blocks of code are divided as their language has it; whatever else stands in them, and
// pieces that are not their text, leave them as they are.
func TestCode(t *testing.T) {
	coloured := links
	coloured.Code = func(language, text string) []markdown.Piece {
		switch language {
		case "go":
			word, rest, _ := strings.Cut(text, " ")
			return []markdown.Piece{{Class: "k", Text: word}, {Text: " " + rest}}
		case "other":
			return []markdown.Piece{{Class: "k", Text: "other"}}
		}
		return nil
	}
	for _, c := range [][2]string{
		{"```go\nfunc <b>()\n```", "<pre><code><span class=\"k\">func</span> &lt;b&gt;()\n</code></pre>"},
		{"```other\na\n```", "<pre><code>a\n</code></pre>"},
		{"```c++\na\n```", "<pre><code>a\n</code></pre>"},
		{"```\na\n```", "<pre><code>a\n</code></pre>"},
		{"<pre><code class=\"language-go\">a <b>b</b></code></pre>", "<pre><code>a <b>b</b></code></pre>"},
		{"<p><code class=\"language-go\">a b</code></p>", "<p><code>a b</code></p>"},
		{"<pre><code class=\"language-go tree\">a b</code></pre>", "<pre><code>a b</code></pre>"},
	} {
		got, err := markdown.Render([]byte(c[0]), coloured)
		if err != nil || strings.TrimSpace(string(got)) != c[1] {
			t.Errorf("%q: got %q, %v, want %q", c[0], got, err, c[1])
		}
	}
}

// attacks are what strangers write to have a page do something.
var attacks = []string{
	"<script>alert(1)</script>", "<SCRIPT SRC=//evil.example/x.js></SCRIPT>", "<img src=x onerror=alert(1)>", "<svg onload=alert(1)><script>alert(1)</script></svg>",
	"<math><mi//xlink:href=\"data:x,<script>alert(1)</script>\">", "<iframe src=\"javascript:alert(1)\"></iframe>", "<object data=x></object>", "<embed src=x>",
	"<form action=/-/sign-out method=post><button>x</button><input name=y></form>", "<style>*{display:none}</style>", "<link rel=stylesheet href=x>", "<meta http-equiv=refresh content=0>",
	"<base href=https://evil.example/>", "[x](javascript:alert(1))", "[x](JaVaScRiPt&#58;alert(1))", "[x](  java\nscript:alert(1))", "[x](vbscript:x)", "[x](data:text/html,<script>alert(1)</script>)",
	"<a href=\"&#x6A;avascript:alert(1)\">x</a>", "<a href=\"\x01javascript:alert(1)\">x</a>", "<a href=\"https:alert(1)\" onclick=alert(1) style=position:fixed target=_top class=skip id=main>x</a>",
	"</div></main></body><script>alert(1)</script>", "<div></p></section><div>", "<!--><script>alert(1)</script>-->", "<![CDATA[<script>alert(1)</script>]]>", "<?php <script>alert(1)</script> ?>",
	"<noscript><p title=\"</noscript><img src=x onerror=alert(1)>\">", "<textarea><img title=\"</textarea><img src=x onerror=alert(1)>\"></textarea>", "<template><script>alert(1)</script></template>",
	"<p title='\"><img src=x onerror=alert(1)>'>", "# x {#main onclick=alert(1)}", "<h1 id=source>x</h1><h2 id=md-x>a</h2><h2 id=md-x>b</h2>", "<table background=javascript:alert(1)><td style=x>", "<video><source onerror=alert(1)></video>",
	"<details ontoggle=alert(1) open>x</details>", "<img srcset=\"https://evil.example/x 2x\" src=a.png>", "<picture><source srcset=https://evil.example/x><img src=a.png></picture>", "![x](//evil.example/x.png)",
	"<a name=cookie id=documentElement>x</a>", "<p dir=rtl lang=x contenteditable accesskey=t tabindex=1 role=alert aria-hidden=true>x</p>", "{{.Base}} {{7*7}} ${7*7}", "<marquee onstart=alert(1)>x</marquee>",
	"<pre><code class=language-go>a</code></pre>", "<code class=\"language-x tree\">a</code>", "``` go\" onclick=alert(1)\na\n```",
}

// evil is what no page may have of them.
var evil = regexp.MustCompile(`(?i)<(?:script|svg|math|iframe|object|embed|form|input|button|style|link|meta|base|video|source|picture|template|textarea|noscript|main|body|section)\b|\son\w+=|javascript:|vbscript:|data:|\sstyle=|\sclass=|\starget=|\sname=|srcset|evil\.example/x\b[^<]*"[^>]*(?:src)|id="(?:main|source|documentElement)"|tabindex|accesskey|contenteditable|\srole=|aria-`)

func TestAttacks(t *testing.T) {
	for _, text := range attacks {
		for _, source := range []string{text, "> " + text, "a " + text + " b", "<div>" + text, "| " + text + " |\n|-|\n"} {
			got := render(t, source)
			// What is escaped is text.
			tags := strings.Join(regexp.MustCompile(`<[^>]*>`).FindAllString(got, -1), "")
			if found := evil.FindString(tags); found != "" {
				t.Errorf("%q becomes %q, with %q", source, got, found)
			}
			if strings.Count(got, "<div") != strings.Count(got, "</div>") || strings.Count(got, "<p") != strings.Count(got, "</p>")+strings.Count(got, "<pre") {
				t.Errorf("%q becomes %q, which leaves elements open", source, got)
			}
		}
	}
}

// No text of the greatest length takes long, or more than a page may have.
func TestHostileTexts(t *testing.T) {
	fill := func(part string) string { return strings.Repeat(part, markdown.MaxBytes/2/len(part)) }
	// What a text takes that means no harm, on the machine as busy as it is.
	harmless, usual := []byte(fill("a *b* `c` [d](e)\n\n")), time.Hour
	for range 3 {
		start := time.Now()
		if _, err := markdown.Render(harmless, links); err != nil {
			t.Fatal(err)
		}
		usual = min(usual, time.Since(start))
	}
	for name, text := range map[string]string{
		"quotes": fill("> "), "bare quotes": fill(">"), "lists": fill("- "), "numbers": fill("1. "), "deep lists": deepLists(), "divs": fill("<div>"), "details": fill("<details>"),
		"brackets": fill("["), "images": fill("!["), "links": fill("[a]("), "quoted links": fill("[a]([a]([a]([a](\n> "), "half references": fill("[a]["), "quoted titles": fill("[a](b \""),
		"blocks of links": fill(strings.Repeat("[a](", 900) + "\n\n"), "nested stars": fill("*a **b "), "backticks": fill("`a``b```c"), "underscores": fill("_a"), "rows": "|a|b|\n|-|-|\n" + fill("|a|b|\n"),
		"same headings": fill("a\n-\n"), "definitions": fill("[a]: b\n"), "values": fill("<a b=\""), "autolinks": fill("<http://a>"), "nuls": fill("\x00"), "odd bytes": fill("\xff"),
	} {
		text = text[:min(len(text), markdown.MaxBytes)]
		start := time.Now()
		out, err := markdown.Render([]byte(text), links)
		took := time.Since(start)
		if err != nil && !errors.Is(err, markdown.ErrTooLarge) || len(out) > 1<<20 {
			t.Errorf("%s: %d bytes and %v", name, len(out), err)
		}
		if took > 5*time.Second && took > 50*usual { // some 0.1 s on a machine with nothing else to do
			t.Errorf("%s: took %v, a harmless text %v", name, took, usual)
		}
		t.Logf("%s: %v, %d bytes, %v", name, took.Round(time.Millisecond), len(out), err)
	}
	if _, err := markdown.Render(make([]byte, markdown.MaxBytes+1), links); !errors.Is(err, markdown.ErrTooLarge) {
		t.Errorf("too long: %v", err)
	}
}

func deepLists() string {
	var b strings.Builder
	for i := 0; b.Len() < markdown.MaxBytes; i++ {
		b.WriteString(strings.Repeat("  ", i) + "- a\n")
	}
	return b.String()
}

// BenchmarkRender tells what the worst texts cost.
func BenchmarkRender(b *testing.B) {
	for _, part := range []string{"*a **b ", "[a](b) ", "- a\n", "<b>x</b>", "| a | b |\n", "word `code` and **bold** text, with a [link](x.md).\n"} {
		text := []byte("| a | b |\n|-|-|\n" + strings.Repeat(part, markdown.MaxBytes/len(part)-16))
		b.Run(strings.TrimSpace(part), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = markdown.Render(text, links)
			}
		})
	}
}

func FuzzRender(f *testing.F) {
	for _, text := range attacks {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		out, err := markdown.Render([]byte(text), links)
		if err != nil {
			return
		}
		tags := strings.Join(regexp.MustCompile(`<[^>]*>`).FindAllString(string(out), -1), "")
		if found := regexp.MustCompile(`(?i)<(?:script|svg|iframe|form|style|base|body)\b|="\s*javascript:`).FindString(tags); found != "" {
			t.Errorf("%q becomes %q", text, out)
		}
	})
}
