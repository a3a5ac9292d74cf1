package browse

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"unicode/utf8"

	"github.com/trawlsearch/trawl/httpapi/code"
	"github.com/trawlsearch/trawl/store/git"
)

// maxLargeBytes is the largest text that a page shows a window of.
const maxLargeBytes = 64 << 20

// binaryWithin is in how many bytes at its beginning a file that is no text has a zero, as
// git judges it.
const binaryWithin = 8000

// fillLarge shows a window of a text that is too large to be held: it is read as a stream,
// of which the window and the number of lines are kept. It has no colours.
func (e *Endpoint) fillLarge(r *http.Request, p *target, data *blobData, file git.Entry) error {
	named := parseLines(r.URL.RawQuery)
	w := newWindowWriter(max(named.first, lineFrom(r)), maxWindowLines)
	if named.column > 0 && w.line == named.first {
		w.part = &linePart{column: named.column}
	}
	if err := p.copyTo(r.Context(), file, w); err != nil {
		return err
	}
	if w.binary {
		data.Problem = "The file is binary."
		return nil
	}
	data.Permalink += named.query()
	lines, win := w.end()
	if n := named.first - win.first; w.part != nil && n >= 0 && n < len(lines) && lines[n].lacks(named.column) {
		lines[n] = w.part.end()
	}
	data.show(lines, win, named, lookedFor(r))
	return nil
}

// copyTo writes the file at the path, from git or from the index.
func (p *target) copyTo(ctx context.Context, file git.Entry, w io.Writer) error {
	if p.gone == nil {
		return p.code.Copy(ctx, file.OID, func(string, int64) (io.Writer, error) { return w, nil })
	}
	return p.indexedDocument(func(r *code.DocumentRun, i int) error { return r.CopyFile(w, i) })
}

// windowWriter is windowOfLines for a text that is written to it in parts. It holds the
// lines of one window.
type windowWriter struct {
	// line is the one that the window is to have, most how many lines that has.
	line, most int
	window     window
	// part takes the line that the window is to have, where a part of it is wanted.
	part *linePart
	// size is what the lines take in HTML.
	size  int
	lines []keptLine
	// at is the line at hand, which has not ended. found says that the window is whole:
	// the lines behind it are counted.
	at    keptLine
	open  bool
	found bool
	// read counts bytes. binary says that this is no text.
	read   int
	binary bool
}

// keptLine is a line without its end: the beginning of it, as much as is shown, and how
// long it is.
type keptLine struct {
	text  []byte
	bytes int
	// last is its last byte.
	last byte
}

func newWindowWriter(line, most int) *windowWriter {
	return &windowWriter{line: line, most: most, window: window{first: 1}}
}

// Write implements io.Writer.
func (w *windowWriter) Write(p []byte) (int, error) {
	n := len(p)
	if w.read < binaryWithin && bytes.IndexByte(p[:min(n, binaryWithin-w.read)], 0) >= 0 {
		w.binary = true
	}
	w.read += n
	if w.binary {
		return n, nil // to the end, for the next object
	}
	for len(p) > 0 {
		part, rest, whole := bytes.Cut(p, []byte("\n"))
		w.add(part)
		if whole {
			w.cut()
		}
		p = rest
	}
	return n, nil
}

// add adds to the line at hand.
func (w *windowWriter) add(part []byte) {
	w.open = true
	if w.part != nil && !w.found && w.window.last+1 == w.line {
		w.part.add(part)
	}
	if !w.found {
		room := maxShownLine + utf8.UTFMax - len(w.at.text)
		w.at.text = append(w.at.text, part[:min(len(part), room)]...)
	}
	w.at.bytes += len(part)
	if len(part) > 0 {
		w.at.last = part[len(part)-1]
	}
}

// cut ends the line at hand.
func (w *windowWriter) cut() {
	at := w.at
	w.at, w.open = keptLine{}, false
	if w.found {
		w.window.lines++
		return
	}
	more := escapedBytes(bytes.TrimRight(at.text[:min(len(at.text), maxShownLine)], "\r"))
	full := w.window.last-w.window.first+1 == w.most || w.size+more > maxWindowBytes && w.window.last >= w.window.first
	if full && w.line <= w.window.last {
		w.found, w.window.lines = true, w.window.last+1
		return
	}
	if full {
		w.window.first, w.size, w.lines = w.window.last+1, 0, w.lines[:0]
	}
	w.window.last++
	w.size += more
	w.lines = append(w.lines, at)
}

// end returns the lines of the window, and which those are.
func (w *windowWriter) end() ([]codeLine, window) {
	if w.open {
		w.cut()
	}
	if !w.found {
		w.window.lines = w.window.last
	}
	out := newLineWriter(w.window.first, w.window)
	for _, l := range w.lines {
		if l.last == '\r' {
			l.bytes--
		}
		l.text = l.text[:min(len(l.text), l.bytes)]
		out.open = true
		out.add("", string(l.text))
		out.left += l.bytes - len(l.text)
		out.cut()
	}
	return out.end(), w.window
}
