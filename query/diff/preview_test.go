package diff_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/diff"
	"github.com/trawlsearch/trawl/query/match"
)

var update = flag.Bool("update", false, "rewrite the goldens in testdata/preview")

// TestPreview checks testdata/preview. A case is a comment that says what it
// guards, a regexp for lines and one for paths, both optional, and files: a
// line "=== OLD NEW" with the paths in Go quotes, then the diff. Below
// "=== preview" is what is shown, with carets under what was found. A carriage
// return is written ␍, a byte that is not UTF-8 as ‹ff›, and «N» stands for N
// times the letter x.
func TestPreview(t *testing.T) {
	cases, err := filepath.Glob("testdata/preview/*.txt")
	if err != nil || len(cases) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, name := range cases {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			input, want, _ := strings.Cut(string(text), "=== preview\n")
			files := highlight(t, input)
			preview := diff.Preview(files, diff.Rest{})
			body, ranges := preview.Body, preview.Ranges
			checkPreview(t, body, ranges)
			places := 0
			for _, f := range files {
				places += f.Places()
			}
			if got := len(ranges) + preview.Hidden; got != places {
				t.Errorf("%d places are shown and %d hidden of %d", len(ranges), preview.Hidden, places)
			}
			if cut := strings.Contains(body, "... +"); cut != preview.Cut {
				t.Errorf("the preview is cut: %t, and says so: %t", preview.Cut, cut)
			}
			got := shown(body, ranges)
			if got == want {
				return
			}
			if *update {
				if err := os.WriteFile(name, []byte(input+"=== preview\n"+got), 0o666); err != nil {
					t.Fatal(err)
				}
				return
			}
			t.Errorf("%s (rewrite it with -update after checking)\ninput:\n%s\ngot:\n%s\nwant:\n%s", name, input, got, want)
		})
	}
}

// highlight reads a case's input and runs its regexps on it.
func highlight(t *testing.T, input string) []diff.Highlighted {
	t.Helper()
	var line, path *regexp.Regexp
	var files []diff.Highlighted
	for l := range strings.Lines(input) {
		switch rest := strings.TrimSuffix(l, "\n"); {
		case strings.HasPrefix(rest, "=== "):
			var f diff.Highlighted
			if _, err := fmt.Sscanf(rest, "=== %q %q", &f.OldPath, &f.NewPath); err != nil {
				t.Fatalf("%q: %v", rest, err)
			}
			files = append(files, f)
		case len(files) > 0:
			f := &files[len(files)-1]
			f.Text = append(f.Text, decode(l)...)
		case strings.HasPrefix(rest, "lines: "):
			line = regexp.MustCompile(strings.TrimPrefix(rest, "lines: "))
		case strings.HasPrefix(rest, "paths: "):
			path = regexp.MustCompile(strings.TrimPrefix(rest, "paths: "))
		case !strings.HasPrefix(rest, "#"):
			t.Fatalf("%q is no comment, regexp or file", rest)
		}
	}
	for i := range files {
		f := &files[i]
		f.OldSpans, f.NewSpans = spans(path, []byte(f.OldPath)), spans(path, []byte(f.NewPath))
		for l := diff.Changed(f.Text); l.Next(); {
			if s := spans(line, l.Text); len(s) > 0 {
				f.Lines = append(f.Lines, diff.Found{Number: l.Number, Spans: s})
			}
		}
	}
	return files
}

func spans(re *regexp.Regexp, text []byte) []match.Span {
	if re == nil {
		return nil
	}
	var out []match.Span
	for _, at := range re.FindAllIndex(text, -1) {
		out = append(out, match.Span{Start: uint32(at[0]), End: uint32(at[1])})
	}
	return out
}

var (
	hexByte = regexp.MustCompile(`‹([0-9a-f]{2})›`)
	repeats = regexp.MustCompile(`«([0-9]+)»`)
)

func decode(line string) string {
	line = strings.ReplaceAll(line, "␍", "\r")
	line = hexByte.ReplaceAllStringFunc(line, func(s string) string {
		var b byte
		fmt.Sscanf(s, "‹%02x›", &b)
		return string([]byte{b})
	})
	return repeats.ReplaceAllStringFunc(line, func(s string) string {
		var n int
		fmt.Sscanf(s, "«%d»", &n)
		return strings.Repeat("x", n)
	})
}

var longRun = regexp.MustCompile(`x{60,}|\^{60,}| {60,}\^`)

// shown writes a preview with a line of carets below each with ranges.
func shown(body string, ranges []query.Range) string {
	var out strings.Builder
	number := uint32(0)
	for line := range strings.Lines(body) {
		out.WriteString(line)
		column := uint32(0)
		for _, r := range ranges {
			if r.Start.Line == number {
				out.WriteString(strings.Repeat(" ", int(r.Start.Column-column)) + strings.Repeat("^", int(r.End.Column-r.Start.Column)))
				column = r.End.Column
			}
		}
		if column > 0 {
			out.WriteByte('\n')
		}
		number++
	}
	text := strings.ReplaceAll(out.String(), "\r", "␍")
	return longRun.ReplaceAllStringFunc(text, func(s string) string { return fmt.Sprintf("«%d %c»", len(s), s[0]) })
}

// checkPreview fails if a preview is not UTF-8, a range lies outside or has a
// line or column that its offset denies, or a hunk has other lines than its
// header says.
func checkPreview(t *testing.T, body string, ranges []query.Range) {
	t.Helper()
	if !utf8.ValidString(body) {
		t.Errorf("preview %q: not UTF-8", body)
	}
	if body != "" && !strings.HasSuffix(body, "\n") {
		t.Errorf("preview %q: no newline at the end", body)
	}
	at := func(l query.Location) bool {
		if int(l.Offset) > len(body) {
			return false
		}
		before := body[:l.Offset]
		return int(l.Line) == strings.Count(before, "\n") &&
			int(l.Column) == utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])
	}
	last := uint32(0)
	for _, r := range ranges {
		if !at(r.Start) || !at(r.End) || r.Start.Offset < last || r.End.Offset < r.Start.Offset {
			t.Errorf("preview %q: range %+v, behind %d, is not in it", body, r, last)
		}
		last = r.End.Offset
	}
	checkHunks(t, body)
}

func checkHunks(t *testing.T, body string) {
	t.Helper()
	var header string
	var oldLines, newLines, lines int // what the header says and has left, and what there was
	end := func() {
		if oldLines != 0 || newLines != 0 {
			t.Errorf("preview %q: behind %q are %d old and %d new lines too few", body, header, oldLines, newLines)
		}
		if lines > 7 {
			t.Errorf("preview %q: %q has %d lines, want at most 7", body, header, lines)
		}
	}
	files, hunks := 0, 0
	for b := diff.ReadBody(body); b.Next(); {
		switch b.Kind {
		case diff.FileHeader:
			end()
			files, hunks = files+1, 0
		case diff.HunkHeader:
			end()
			hunks++
			header, lines = b.Text, 0
			var old, fresh int
			if _, err := fmt.Sscanf(header, "@@ -%d,%d +%d,%d @@ ", &old, &oldLines, &fresh, &newLines); err != nil {
				t.Errorf("preview %q: header %q: %v", body, header, err)
			}
		case diff.Added:
			newLines--
			lines++
		case diff.Removed:
			oldLines--
			lines++
		default:
			oldLines--
			newLines--
			lines++
		}
		if files > 5 || hunks > 3 {
			t.Errorf("preview %q: %d files, %d hunks in the last", body, files, hunks)
		}
	}
	end()
}

// FuzzPreview: whatever the diff and the places found, a preview is sound.
func FuzzPreview(f *testing.F) {
	f.Add("a.go", "a.go", []byte("@@ -1,2 +1,3 @@ x\n a\n-b\n+c\n+d\n"), "[cd]")
	f.Add("", "a b", []byte("@@ -0,0 +1 @@\n+\xff\xfeé\r\n\\ No newline at end of file\n"), ".")
	f.Add("+", "@@ -1,1 +1,1 @@", []byte("+no header\n@@ -9999999999 +1 @@\n@@ -2 +2 @@\n\n-\n"), "")
	f.Add("@@", "-1 +1 @@", []byte("@@ -1,0 +1,0 @@ \n+a\n+b\n@@ -7,1 +8,0 @@\n-a\n"), "a|o")
	f.Fuzz(func(t *testing.T, oldPath, newPath string, text []byte, pattern string) {
		re, err := regexp.Compile(pattern)
		if err != nil {
			re = nil
		}
		file := diff.Highlighted{File: diff.File{OldPath: oldPath, NewPath: newPath, Text: text}}
		file.OldSpans = spans(re, []byte(oldPath))
		number := -1
		for l := diff.Changed(text); l.Next(); {
			if l.Number <= number || strings.Contains(string(l.Text), "\n") || !strings.Contains("+-", string(l.Sign)) {
				t.Fatalf("%q: changed line %+v after line %d", text, l.Line, number)
			}
			number = l.Number
			if s := spans(re, l.Text); len(s) > 0 {
				file.Lines = append(file.Lines, diff.Found{Number: l.Number, Spans: s})
			}
		}
		preview := diff.Preview([]diff.Highlighted{file, file}, diff.Rest{})
		checkPreview(t, preview.Body, preview.Ranges)
		if preview.Hidden < 0 {
			t.Errorf("%d places are hidden", preview.Hidden)
		}
	})
}

func TestChangedAllocatesNothing(t *testing.T) {
	text := []byte("@@ -1,2 +1,2 @@\n a\n-b\n+c\n@@ -9 +9,2 @@\n d\n+e")
	var got strings.Builder
	for l := diff.Changed(text); l.Next(); {
		fmt.Fprintf(&got, "%d%c%s ", l.Number, l.Sign, l.Text)
	}
	if want := "2-b 3+c 6+e "; got.String() != want {
		t.Errorf("changed lines of %q: got %q, want %q", text, got.String(), want)
	}
	n := 0
	allocs := testing.AllocsPerRun(100, func() {
		for l := diff.Changed(text); l.Next(); {
			n += len(l.Text)
		}
	})
	if allocs != 0 {
		t.Errorf("a walk over changed lines allocates %v times, want 0", allocs)
	}
}

func TestOldPath(t *testing.T) {
	for header, want := range map[string]string{
		"a b": "a", `a\ b c`: `a\ b`, "/dev/null x": "/dev/null", "alone": "alone", "": "", `a\ `: `a\ `,
	} {
		if got := diff.OldPath(header); got != want {
			t.Errorf("OldPath(%q) = %q, want %q", header, got, want)
		}
	}
}
