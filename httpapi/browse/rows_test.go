package browse

import (
	"fmt"
	"html/template"
	"strings"
	"testing"
)

// The runs of a window are its lines, each in a row, whatever divides them.
func TestRuns(t *testing.T) {
	hunk := &hunkRow{Short: "ab12"}
	for name, c := range map[string]struct {
		blamed bool
		n      int
		text   string
		hunks  map[int]bool // the lines, from 0, that one begins with
	}{
		"none":                     {},
		"one line":                 {n: 1, text: "x"},
		"blocks":                   {n: 2*blockLines + 1, text: "x"},
		"long lines":               {n: 40, text: strings.Repeat("x", 5000)},
		"blame":                    {blamed: true, n: 2*blockLines + 1, text: "x", hunks: map[int]bool{0: true, 7: true, 8: true, 2 * blockLines: true}},
		"blame from a line behind": {blamed: true, n: 5, text: "x", hunks: map[int]bool{3: true}},
	} {
		lines := make([]codeLine, c.n)
		for i := range lines {
			lines[i].HTML = template.HTML(c.text)
		}
		if c.n > 2 {
			lines[1], lines[2].Left = codeLine{}, 2000
		}
		if c.n > 3 {
			lines[3].Before, lines[3].Chars, lines[3].Left, lines[3].Next = 3000, 1500, 1, 2501
		}
		d := &blobData{RawURL: `/r/-/raw/a'"&b`, Here: `/r/-/blob/a'"&b`, Blamed: c.blamed, source: newSource(lines, window{first: 11, last: 10 + c.n, lines: 1000}, lineRange{12, 13, 0})}
		d.Looked = "&q=%22"
		var want strings.Builder
		for i := range d.Lines {
			if i > 0 && i%blockLines == 0 && !c.blamed {
				want.WriteString("</tbody><tbody>")
			}
			class, focus, text, by := "", `tabindex="-1"`, c.text, ""
			if n := 11 + i; n == 12 || n == 13 {
				class = ` class="hit"`
				if n == 12 {
					focus = `tabindex="0" autofocus`
				}
			}
			if c.n > 2 && i == 1 {
				text = "\n"
			}
			if c.n > 2 && i == 2 {
				text += `<a class="left" href="/base/r/-/raw/a&#39;&#34;&amp;b">2,000 more bytes</a>`
			}
			if c.n > 3 && i == 3 {
				text = `<a class="left early" data-chars="1500" href="/base/r/-/blob/a&#39;&#34;&amp;b?L14:1500&amp;q=%22">3,000 bytes before</a>` + text +
					`<a class="left" href="/base/r/-/blob/a&#39;&#34;&amp;b?L14:2501&amp;q=%22">1 more byte</a>`
			}
			if c.hunks[i] {
				d.Lines[i].Hunk, by = hunk, "ab12"
			}
			fmt.Fprintf(&want, "\n<tr id=\"L%d\"%s>%s<td class=\"no\"><a href=\"#L%d\" %s>%d</a></td><td class=\"tx\">%s</td></tr>", 11+i, class, by, 11+i, focus, 11+i, text)
		}
		var got strings.Builder
		for run := range d.Runs("/base") {
			if run.Block {
				got.WriteString("</tbody><tbody>")
			}
			got.WriteString("\n" + string(run.Row))
			if run.Hunk != nil {
				got.WriteString(run.Hunk.Short)
			}
			if got.WriteString(string(run.Rest)); len(run.Rest) > runBytes+6000 {
				t.Errorf("%s: a run of %d bytes", name, len(run.Rest))
			}
		}
		if got.String() != want.String() {
			t.Errorf("%s:\n got %.3000s\nwant %.3000s", name, got.String(), want.String())
		}
	}
}
