package browse

import (
	"html/template"
	"iter"
	"strconv"
	"strings"

	"github.com/trawlsearch/trawl/httpapi/web"
)

// lineRun is some lines of a window: up to the next block or hunk, or about runBytes.
type lineRun struct {
	// Block says that it begins a block of lines.
	Block bool
	// Hunk is who wrote the lines, nil where that is not told.
	Hunk *hunkRow
	// Row begins the row of the first line, and Rest are its cells and the rows of the
	// others.
	Row, Rest template.HTML
}

// runBytes is about how much HTML a run has at most.
const runBytes = 32 << 10

// Runs are the lines of the window. Base is what paths of this server begin with. A
// template that wrote each of thousands of rows would take as long as all else of the page
// together.
func (d *blobData) Runs(base string) iter.Seq[lineRun] {
	elsewhere := unshown{raw: base + d.RawURL, here: base + d.Here, looked: d.Looked}
	return func(yield func(lineRun) bool) {
		var run lineRun
		var rest strings.Builder
		for i, line := range d.Lines {
			block := line.Block && !d.Blamed
			begins := i == 0 || block || line.Hunk != nil || rest.Len() > runBytes
			if begins && i > 0 {
				if run.Rest = template.HTML(rest.String()); !yield(run) {
					return
				}
			}
			if begins {
				rest.Reset()
				run = lineRun{Block: block, Hunk: line.Hunk, Row: template.HTML(line.open())}
			} else {
				rest.WriteByte('\n')
				rest.WriteString(line.open())
			}
			line.writeCells(&rest, elsewhere)
		}
		if run.Row != "" {
			run.Rest = template.HTML(rest.String())
			yield(run)
		}
	}
}

// open begins the row of a line.
func (l *lineRow) open() string {
	class := ""
	if l.Marked {
		class = ` class="hit"`
	}
	return `<tr id="L` + strconv.Itoa(l.N) + `"` + class + `>`
}

// unshown is where the parts of lines are that are not shown: on a page of this file, or
// in its raw text. looked is what addresses of the page end with.
type unshown struct{ raw, here, looked string }

// at is the address of the part of a line that has a column.
func (u unshown) at(line, column int) string {
	if column == 0 {
		return u.raw
	}
	return u.here + "?L" + strconv.Itoa(line) + ":" + strconv.Itoa(column) + u.looked
}

// writeCells writes the number and the text of a line, and ends its row.
func (l *lineRow) writeCells(b *strings.Builder, elsewhere unshown) {
	n, focus := strconv.Itoa(l.N), `-1"`
	if l.First {
		focus = `0" autofocus`
	}
	for _, part := range []string{`<td class="no"><a href="#L`, n, `" tabindex="`, focus, `>`, n, `</a></td><td class="tx">`} {
		b.WriteString(part)
	}
	if l.Before > 0 {
		b.WriteString(`<a class="left early" data-chars="` + strconv.Itoa(l.Chars) + `" href="` +
			template.HTMLEscapeString(elsewhere.at(l.N, l.Chars)) + `">` + web.Count(l.Before, "byte before", "bytes before") + `</a>`)
	}
	if l.HTML == "" {
		b.WriteByte('\n')
	}
	b.WriteString(string(l.HTML))
	if l.Left > 0 {
		b.WriteString(`<a class="left" href="` + template.HTMLEscapeString(elsewhere.at(l.N, l.Next)) + `">` + web.Count(l.Left, "more byte", "more bytes") + `</a>`)
	}
	b.WriteString(`</td></tr>`)
}
