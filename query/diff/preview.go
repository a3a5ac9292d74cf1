package diff

import (
	"slices"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/match"
)

// MaxFiles is the most files that a preview shows.
const MaxFiles = 5

// noFile is the path of a side that does not exist.
const noFile = "/dev/null"

// Highlighted is a file of a commit with what a search found in it.
type Highlighted struct {
	File
	// Lines are the changed lines that match, by rising number.
	Lines []Found
	// OldSpans and NewSpans are places in the paths, which filters found.
	OldSpans, NewSpans []match.Span
}

// Found is a changed line that matches.
type Found struct {
	// Number is that of the Line.
	Number int
	// Spans are places in the Line's text, sorted and disjoint. A line may
	// match without any.
	Spans []match.Span
}

// Rest is what the caller of Preview leaves out of a commit behind the files that
// it passes.
type Rest struct {
	// Files is how many more files would be shown if there were room, and
	// Places how many places were found in them.
	Files, Places int
}

// Shown is the preview of a commit.
type Shown struct {
	// Body is valid UTF-8: each byte of the input that is not becomes U+FFFD.
	// It is empty if there are no files; else it ends with a newline.
	Body string
	// Ranges are the places in Body that were found.
	Ranges []query.Range
	// Hidden is how many places were found in what is left out.
	Hidden int
	// Cut says that lines that match were left out.
	Cut bool
}

// Places is how many places were found in the file.
func (f *Highlighted) Places() int {
	n := len(f.OldSpans) + len(f.NewSpans)
	for _, l := range f.Lines {
		n += len(l.Spans)
	}
	return n
}

// found reports whether anything was found in the file.
func (f *Highlighted) found() bool { return len(f.Lines)+len(f.OldSpans)+len(f.NewSpans) > 0 }

// Preview returns the text shown of a commit, and the positions of its matches.
// It shows the first files with matches, or the first of all files if none has
// one. Of each it shows the first matching changed lines, with a line of
// context round them. In a file without a matching line, all changed lines
// count as matching. The header of a hunk counts the matches left out behind
// it: matching lines of the hunk, of other hunks of the file, and, below all
// others, files.
func Preview(files []Highlighted, rest Rest) Shown {
	w := writer{}
	found := slices.ContainsFunc(files, func(f Highlighted) bool { return f.found() })
	var shown []*Highlighted
	for i := range files {
		f := &files[i]
		switch {
		case found && !f.found():
		case len(shown) == MaxFiles:
			rest.Files++
			rest.Places += f.Places()
		default:
			shown = append(shown, f)
		}
	}
	for i, f := range shown {
		more := 0
		if i == len(shown)-1 {
			more = rest.Files
		}
		w.file(f, more)
	}
	return Shown{string(w.body), w.ranges, w.hidden + rest.Places, w.cut || rest.Files > 0}
}

// file writes a file; more is how many others are left out behind it.
func (w *writer) file(f *Highlighted, more int) {
	w.path(f.OldPath, f.OldSpans)
	w.plain(" ")
	w.path(f.NewPath, f.NewSpans)
	w.newline()
	found := f.Lines
	// Lines are asked for by rising number.
	matches := func(number int) bool {
		for len(found) > 0 && found[0].Number < number {
			found = found[1:]
		}
		return len(f.Lines) == 0 || len(found) > 0 && found[0].Number == number
	}
	hunks := cutHunks(f.Text, matches)
	rest := f.Lines
	for _, l := range f.Lines {
		w.hidden += len(l.Spans)
	}
	for i := range hunks {
		if i == len(hunks)-1 {
			hunks[i].files = more
		}
		w.cut = w.cut || hunks[i].more+hunks[i].elsewhere > 0
		w.plain(hunks[i].header())
		w.newline()
		for _, l := range hunks[i].lines {
			for len(rest) > 0 && rest[0].Number < l.number {
				rest = rest[1:]
			}
			var spans []match.Span
			if len(rest) > 0 && rest[0].Number == l.number {
				spans = rest[0].Spans
				w.hidden -= len(spans)
			}
			w.hunkLine(l, spans)
		}
	}
}

func (w *writer) path(path string, spans []match.Span) {
	if path == "" {
		path, spans = noFile, nil
	}
	w.text([]byte(path), spans, escapePath)
}

// escapePath keeps a header one line with two words.
func escapePath(r rune) string {
	switch r {
	case ' ':
		return `\ `
	case '\n':
		return `\n`
	}
	return ""
}

func (w *writer) hunkLine(l hunkLine, spans []match.Span) {
	w.plain(string(l.sign()))
	if len(l.text) > 0 {
		w.text(l.text[1:], spans, nil)
	}
	w.newline()
}
