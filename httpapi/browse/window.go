package browse

import "bytes"

// The limits of a file's page: its lines, and their bytes in HTML.
const (
	maxWindowLines = 5000
	maxWindowBytes = 1 << 20
)

// window is the part of a text that a page shows: lines first to last, counted
// from 1, which are the bytes from start to end. The text has so many lines, and with more
// others that were not counted.
type window struct {
	first, last, lines int
	start, end         int
	more               bool
}

// windowOf returns the window that holds a line, the first for line 0 and the
// last for a line behind the end. A text is cut into windows from its beginning,
// each as large as it may be, so each line has one window.
func windowOf(text []byte, line int) window { return windowOfLines(text, line, maxWindowLines) }

// windowOfLines is windowOf for windows of so many lines at most.
func windowOfLines(text []byte, line, most int) window {
	w, size := window{first: 1}, 0
	for w.end < len(text) {
		next := nextLine(text[w.end:])
		more := escapedBytes(bytes.TrimRight(next[:min(len(next), maxShownLine)], "\r\n"))
		if w.last-w.first+1 == most || size+more > maxWindowBytes && w.last >= w.first {
			if line <= w.last {
				w.lines = w.last + countLines(text[w.end:])
				return w
			}
			w.first, w.start, size = w.last+1, w.end, 0
		}
		w.last, w.end, size = w.last+1, w.end+len(next), size+more
	}
	w.lines = w.last
	return w
}

// nextLine returns the first line of a text, with its newline.
func nextLine(text []byte) []byte {
	if i := bytes.IndexByte(text, '\n'); i >= 0 {
		return text[:i+1]
	}
	return text
}

func countLines(text []byte) int {
	n := bytes.Count(text, []byte("\n"))
	if len(text) > 0 && text[len(text)-1] != '\n' {
		n++
	}
	return n
}
