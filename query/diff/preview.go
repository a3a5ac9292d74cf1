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

// found reports whether anything was found in the file.
func (f *Highlighted) found() bool { return len(f.Lines)+len(f.OldSpans)+len(f.NewSpans) > 0 }

// Preview returns what is shown of a commit, and the places in it that were
// found. Of the files with something found in them, the first ones are shown,
// or of all files if nothing was found in any; and of each the first changed
// lines that match, with a line of context round them. In a file of which no
// line matches, all changed lines are taken for matching.
//
// The body is valid UTF-8: each byte of the input that is not becomes U+FFFD.
// It is empty if there are no files; else it ends with a newline.
func Preview(files []Highlighted) (body string, ranges []query.Range) {
	w := writer{}
	found := slices.ContainsFunc(files, func(f Highlighted) bool { return f.found() })
	shown := 0
	for i := range files {
		f := &files[i]
		if found && !f.found() {
			continue
		}
		if shown++; shown > MaxFiles {
			break
		}
		w.file(f)
	}
	return string(w.body), w.ranges
}

func (w *writer) file(f *Highlighted) {
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
	for i := range hunks {
		w.plain(hunks[i].header())
		w.newline()
		for _, l := range hunks[i].lines {
			for len(rest) > 0 && rest[0].Number < l.number {
				rest = rest[1:]
			}
			var spans []match.Span
			if len(rest) > 0 && rest[0].Number == l.number {
				spans = rest[0].Spans
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
