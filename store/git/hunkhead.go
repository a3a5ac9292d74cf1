package git

import (
	"bytes"
	"strconv"
)

// HunkHead is the line above the lines of a hunk, "@@ -8,7 +8,6 @@ SECTION", as git
// diff and diff -u write it.
type HunkHead struct {
	Old, New HunkSide
	// Section is the part of the line that says in what the hunk is, which may be empty.
	Section []byte
}

// HunkSide are the lines that a hunk shows of one side. Start is the first, from 1; of
// none, it is the line before, 0 at the beginning.
type HunkSide struct{ Start, Lines int }

// ParseHunkHead reads the line above a hunk.
func ParseHunkHead(line []byte) (h HunkHead, ok bool) {
	parts := bytes.SplitN(bytes.TrimSuffix(line, []byte("\n")), []byte(" "), 5)
	if len(parts) < 4 || string(parts[0]) != "@@" {
		return HunkHead{}, false
	}
	old, ok1 := hunkSide(parts[1], "-")
	fresh, ok2 := hunkSide(parts[2], "+")
	if len(parts) == 5 {
		h.Section = parts[4]
	}
	h.Old, h.New = old, fresh
	return h, ok1 && ok2
}

// hunkSide reads "-8,7", or "-8" which means one line.
func hunkSide(b []byte, sign string) (s HunkSide, ok bool) {
	b, ok = bytes.CutPrefix(b, []byte(sign))
	start, count, counted := bytes.Cut(b, []byte(","))
	s.Lines = 1
	var err1, err2 error
	s.Start, err1 = strconv.Atoi(string(start))
	if counted {
		s.Lines, err2 = strconv.Atoi(string(count))
	}
	return s, ok && err1 == nil && err2 == nil && s.Start >= 0 && s.Lines >= 0
}
