package browse

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"unicode/utf8"

	"github.com/trawlsearch/trawl/httpapi/code"
	"github.com/trawlsearch/trawl/store/git"
)

// binaryWithin is in how many bytes at its beginning a file that is no text has a zero, as
// git judges it.
const binaryWithin = 8000

// fillLarge shows a window of a text that is too large to be held: it is read as a stream,
// of which the window and the number of lines are kept. It has no colours. What takes
// longer to read than blame may take is not counted to its end.
func (e *Endpoint) fillLarge(r *http.Request, p *target, data *blobData, file git.Entry) error {
	named := parseLines(r.URL.RawQuery)
	w := newWindowWriter(max(named.first, lineFrom(r)), maxWindowLines)
	if named.column > 0 && w.line == named.first {
		w.part = &linePart{column: named.column}
	}
	within := cmp.Or(e.BlameWithin, usualBlameWithin)
	ctx, cancel := context.WithTimeout(r.Context(), within)
	defer cancel()
	err := p.copyTo(ctx, file, untilDone{ctx, w})
	late := err != nil && ctx.Err() != nil && r.Context().Err() == nil
	switch {
	case err != nil && !late:
		return err
	case late && !w.found && !w.binary:
		data.Problem = fmt.Sprintf("Its lines are not reached within %s: the raw file and the download have them.", within)
		return nil
	}
	w.window.more = late
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

// untilDone is a writer as long as a context is not done.
type untilDone struct {
	ctx context.Context
	io.Writer
}

// Write implements io.Writer.
func (u untilDone) Write(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.Writer.Write(p)
}

// windowWriter is windowOfLines for a text that is written to it in parts. It holds the
// lines of one window.
type windowWriter struct {
	// line is the one that the window is to have, most how many lines that has.
	line, most int
	window     window
	// part takes the line that the window is to have, where a part of it is wanted.
	part *linePart
	// size is what the lines take in HTML, and text has what is shown of them.
	size  int
	lines []keptLine
	text  []byte
	// at is the line at hand, which has not ended. found says that the window is whole:
	// the lines behind it are counted.
	at    keptLine
	open  bool
	found bool
	// read counts bytes. binary says that this is no text.
	read   int
	binary bool
}

// keptLine is a line without its end: where the text has the beginning of it, as much as is
// shown, and how long it is.
type keptLine struct {
	from, to int
	bytes    int
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
		if w.found {
			w.count(p)
			return n, nil
		}
		part, rest, whole := bytes.Cut(p, []byte("\n"))
		w.add(part)
		if whole {
			w.cut()
		}
		p = rest
	}
	return n, nil
}

// count counts the lines behind the window.
func (w *windowWriter) count(p []byte) {
	w.window.lines += bytes.Count(p, []byte("\n"))
	w.open = p[len(p)-1] != '\n'
}

// add adds to the line at hand.
func (w *windowWriter) add(part []byte) {
	w.open = true
	if w.part != nil && w.window.last+1 == w.line {
		w.part.add(part)
	}
	room := maxShownLine + utf8.UTFMax - (w.at.to - w.at.from)
	w.text = append(w.text, part[:min(len(part), room)]...)
	w.at.to = len(w.text)
	w.at.bytes += len(part)
	if len(part) > 0 {
		w.at.last = part[len(part)-1]
	}
}

// cut ends the line at hand.
func (w *windowWriter) cut() {
	at := w.at
	text := w.text[at.from:at.to]
	w.open = false
	more := escapedBytes(bytes.TrimRight(text[:min(len(text), maxShownLine)], "\r"))
	full := w.window.last-w.window.first+1 == w.most || w.size+more > maxWindowBytes && w.window.last >= w.window.first
	if full && w.line <= w.window.last {
		w.found, w.window.lines = true, w.window.last+1
		return
	}
	if full {
		w.window.first, w.size, w.lines = w.window.last+1, 0, w.lines[:0]
		w.text = w.text[:copy(w.text, text)]
		at.from, at.to = 0, len(w.text)
	}
	w.window.last++
	w.size += more
	w.lines = append(w.lines, at)
	w.at = keptLine{from: len(w.text), to: len(w.text)}
}

// end returns the lines of the window, and which those are.
func (w *windowWriter) end() ([]codeLine, window) {
	if w.open && w.found {
		w.window.lines++
	} else if w.open {
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
		text := w.text[l.from:min(l.to, l.from+l.bytes)]
		out.open = true
		out.add("", string(text))
		out.left += l.bytes - len(text)
		out.cut()
	}
	return out.end(), w.window
}
