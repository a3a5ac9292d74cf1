package browse

import (
	"cmp"
	"context"
	"html/template"
	"strings"

	"github.com/alecthomas/chroma/v2"

	"github.com/trawlsearch/trawl/store/lang"
)

// maxDiffSpanBytes is the markup that colours add to the page of a diff, all of its
// files together: a row of it has more markup of its own than one of a file.
const maxDiffSpanBytes = 512 << 10

// diffText is what the lines of a file are coloured from: its paths, and its lines that
// are shown, with their signs.
type diffText struct {
	path, oldPath string
	lines         []diffLine
	texts         []string
	// signed says that the HTML of a line begins with its sign.
	signed bool
}

// paintPath is the path that tells the language of a file, "" for one that is too long to
// be kept and to be compared with what names of files are known.
func paintPath(path string) string {
	if len(path) > maxPathBytes {
		return ""
	}
	return path
}

// paintText is what is kept of a line to colour it: nothing behind what makes it too long
// for that.
func paintText(line []byte) string {
	return string(line[:min(len(line), maxPaintedLine+len("+\n"))])
}

// diffPainter colours the lines of one page.
type diffPainter struct {
	*painter
	time *paintTime
	// spans is how much markup there may still be.
	spans int
	// lexers are those of paths, nil for none: one is looked for among hundreds.
	lexers map[string]chroma.Lexer
}

// newDiffPainter begins the colours of a page. It has a quarter of the time of a file's
// text: git has taken as much already for a page that is full.
func (p *painter) newDiffPainter() *diffPainter {
	return &diffPainter{p, begin(p.within / 4), maxDiffSpanBytes, map[string]chroma.Lexer{}}
}

// files colours the lines of files, as far as the limits of the page allow, and lets go of
// their texts.
func (d *diffPainter) files(ctx context.Context, files []diffFile) {
	for i := range files {
		f := &files[i]
		for lines := range f.text.hunks {
			f.Painted = d.hunk(ctx, &f.text, lines) || f.Painted
		}
		f.text = diffText{}
	}
}

// hunks yields the lines of each hunk by their indices.
func (t *diffText) hunks(yield func([]int) bool) {
	var lines []int
	for i := range t.lines {
		if t.lines[i].Class != "at" {
			lines = append(lines, i)
			continue
		}
		if !yield(lines) {
			return
		}
		lines = nil
	}
	yield(lines)
}

// hunk colours the lines of a hunk. Each side is a text of its own, in which a string or
// comment goes on over lines of the other side; many lexers know one only if they see its
// end. Lines of both sides have the colours of the new one.
func (d *diffPainter) hunk(ctx context.Context, t *diffText, lines []int) (painted bool) {
	var old, fresh []int
	went, came := false, false
	for _, i := range lines {
		class := t.lines[i].Class
		went, came = went || class == "minus", came || class == "plus"
		if class != "plus" {
			old = append(old, i)
		}
		if class != "minus" {
			fresh = append(fresh, i)
		}
	}
	if went {
		painted = d.side(ctx, t, cmp.Or(t.oldPath, t.path), old)
	}
	if came {
		painted = d.side(ctx, t, t.path, fresh) || painted
	}
	return painted
}

// lexer returns the lexer of a file, nil for none. head is its beginning, nil if it is
// not known.
func (d *diffPainter) lexer(path string, head []byte) chroma.Lexer {
	found, ok := d.lexers[path]
	if !ok || head != nil {
		found = lexerOf(path, lang.Detect(path, head))
		d.lexers[path] = found
	}
	return found
}

// side colours the lines of one side of a hunk.
func (d *diffPainter) side(ctx context.Context, t *diffText, path string, lines []int) bool {
	if len(lines) == 0 || path == "" || d.spans <= 0 || d.time.over() {
		return false
	}
	var b strings.Builder
	for _, i := range lines {
		b.WriteString(t.texts[i][1:])
	}
	text := b.String()
	head := []byte(nil)
	if first := t.lines[lines[0]]; max(first.Old, first.New) == 1 {
		head = []byte(text) // it may say what the language is
	}
	lexer := d.lexer(path, head)
	if lexer == nil || !paintable([]byte(text)) {
		return false
	}
	w := newLineWriter(1, window{first: 1, last: len(lines)})
	w.most = d.spans
	done := d.paint(ctx, w, lexer, text, d.time)
	d.spans -= w.spans
	w.write("", text[done:])
	rows := w.end()
	if w.spans == 0 || len(rows) != len(lines) {
		return false
	}
	for n, i := range lines {
		line := &t.lines[i]
		line.HTML, line.Left = rows[n].HTML, rows[n].Left
		if t.signed {
			line.HTML = template.HTML(template.HTMLEscapeString(t.texts[i][:1])) + line.HTML
		}
	}
	return true
}
