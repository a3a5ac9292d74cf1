package diff

import (
	"bytes"
	"fmt"
	"strconv"
)

// hunk is a run of neighbouring lines with the numbers of its first line on
// both sides, counted from 1.
type hunk struct {
	oldStart, newStart int
	section            []byte
	lines              []hunkLine
	// more counts the matching lines left out at the end, elsewhere those of the
	// file's hunks behind it, and files the files behind that.
	more, elsewhere, files int
}

// hunkLine is a line with its sign; number is as in Line.
type hunkLine struct {
	number int
	text   []byte
}

// sign returns what a line begins with. Git has an option to write an empty
// line of context without its space.
func (l hunkLine) sign() byte {
	if len(l.text) == 0 {
		return ' '
	}
	return l.text[0]
}

// header returns the line above a hunk. As in git's own, the start of a side
// without lines is the line before.
func (h *hunk) header() string {
	oldLines, newLines := 0, 0
	for _, l := range h.lines {
		switch l.sign() {
		case '+':
			newLines++
		case '-':
			oldLines++
		default:
			oldLines++
			newLines++
		}
	}
	section := string(h.section)
	for _, left := range []struct {
		n    int
		what string
	}{{h.more, ""}, {h.elsewhere, " in other hunks"}, {h.files, plural(h.files, " file", " files")}} {
		if left.n == 0 {
			continue
		}
		if section != "" {
			section += " "
		}
		section += "... +" + strconv.Itoa(left.n) + left.what
	}
	return fmt.Sprintf("@@ -%d,%d +%d,%d @@ %s", sideStart(h.oldStart, oldLines), oldLines, sideStart(h.newStart, newLines), newLines, section)
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

func sideStart(start, lines int) int {
	if lines == 0 {
		return start - 1
	}
	return start
}

// parseHeader reads the line above a hunk; a count that is 1 may be missing.
// The starts are those of the lines that follow, even if a side has none.
func parseHeader(line []byte) (h hunk, oldLines, newLines int, ok bool) {
	rest, ok := bytes.CutPrefix(line, []byte("@@ -"))
	if !ok {
		return hunk{}, 0, 0, false
	}
	old, rest, ok := bytes.Cut(rest, []byte(" +"))
	if !ok {
		return hunk{}, 0, 0, false
	}
	fresh, rest, ok := bytes.Cut(rest, []byte(" @@"))
	if !ok {
		return hunk{}, 0, 0, false
	}
	h.section = bytes.TrimPrefix(rest, []byte(" "))
	if h.oldStart, oldLines, ok = parseSide(old); !ok {
		return hunk{}, 0, 0, false
	}
	h.newStart, newLines, ok = parseSide(fresh)
	return h, oldLines, newLines, ok
}

func parseSide(side []byte) (start, lines int, ok bool) {
	first, count, counted := bytes.Cut(side, []byte(","))
	start, ok = parseNumber(first)
	if !ok {
		return 0, 0, false
	}
	lines = 1
	if counted {
		if lines, ok = parseNumber(count); !ok {
			return 0, 0, false
		}
	}
	if lines == 0 {
		start++
	}
	return max(start, 1), lines, true
}

// parseNumber leaves room for counting on.
func parseNumber(digits []byte) (int, bool) {
	n, err := strconv.ParseUint(string(digits), 10, strconv.IntSize-2)
	return int(n), err == nil
}
