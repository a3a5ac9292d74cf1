package browse

import (
	"html"
	"strings"
	"testing"
	"unicode/utf8"
)

// From part to part, in both directions, all of a line is shown, and each column is in the
// part that it leads to.
func TestPartOf(t *testing.T) {
	for name, line := range map[string]string{
		"letters": strings.Repeat("abcdefghij", 5000), "one byte more": strings.Repeat("x", 2*maxShownLine+1), "as much as two": strings.Repeat("y", 2*maxShownLine),
		"of two bytes": "x" + strings.Repeat("é", 20_000), "of three": strings.Repeat("漢", 12_000), "of four": "ab" + strings.Repeat("\U0001f600", 9000),
	} {
		w := newLineWriter(1, window{first: 1, last: 1})
		w.write("", line)
		part := w.end()[0]
		if got := partOf(line, 1); got != part {
			t.Fatalf("%s: the part with column 1 is not what is shown of the line", name)
		}
		text, column := "", 1
		for n := 0; ; n++ {
			shown := html.UnescapeString(string(part.HTML))
			if part.Before != len(text) || part.Chars != utf8.RuneCountInString(text) || part.Left != len(line)-len(text)-len(shown) || shown == "" || len(shown) > maxShownLine+utf8.UTFMax {
				t.Fatalf("%s: part %d has %d bytes before, %d characters, %d bytes and %d behind", name, n, part.Before, part.Chars, len(shown), part.Left)
			}
			for what, c := range map[string]int{"its first": column, "its last": part.Chars + utf8.RuneCountInString(shown)} {
				if got := partOf(line, c); got != part {
					t.Errorf("%s: part %d: the column of %s character, %d, leads elsewhere", name, n, what, c)
				}
			}
			if before := text; before != "" && partOf(line, part.Chars).Before+len(html.UnescapeString(string(partOf(line, part.Chars).HTML))) != len(before) {
				t.Errorf("%s: the part before part %d does not end where that begins", name, n)
			}
			// the same of a text that is too large to be held
			large := newWindowWriter(2, 10)
			large.part = &linePart{column: column}
			for rest := "a\n" + line + "\r\nb"; rest != ""; {
				n := min(len(rest), 4099)
				_, _ = large.Write([]byte(rest[:n]))
				rest = rest[n:]
			}
			if got := large.part.end(); got != part {
				t.Errorf("%s: part %d is another in a large text", name, n)
			}
			if text += shown; part.Next == 0 {
				break
			}
			column = part.Next
			part = partOf(line, column)
		}
		if text != line {
			t.Errorf("%s: the parts are not the line", name)
		}
		if got := partOf(line, 1<<30); got != part {
			t.Errorf("%s: a column behind the end does not lead to the last part", name)
		}
	}
}
