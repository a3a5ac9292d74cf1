package diff

// The most that a preview shows of a file, and of a hunk with the line of
// context on either side.
const (
	maxHunks = 3
	maxLines = 7
)

// cutter picks the lines of a file that a preview shows. It goes over them
// once, and keeps no more than it shows.
type cutter struct {
	hunks []hunk

	// source is where the hunk at hand stands: its section, and the numbers of
	// the line that comes next.
	source hunk
	// i counts the lines of the hunk at hand; before is the last one.
	i      int
	before hunkLine
	// open says that the last of hunks may grow. Its last line was end.
	open bool
	end  int
	// matched says that the line before matches.
	matched bool
	// left counts the matching lines behind a preview that is full.
	left int
	full bool
}

// cutHunks returns the hunks with the lines that match and one line of context
// round each. Hunks are split where lines are left out.
func cutHunks(text []byte, matches func(number int) bool) []hunk {
	c := cutter{source: hunk{oldStart: 1, newStart: 1}}
	for number := 0; len(text) > 0; number++ {
		var line []byte
		line, text = cutLine(text)
		if h, _, _, ok := parseHeader(line); ok {
			c = cutter{hunks: c.hunks, source: h, left: c.left, full: c.full}
			continue
		}
		l := hunkLine{number, line}
		if l.sign() == '\\' {
			continue
		}
		c.add(l, changes(l.sign()) && matches(number))
	}
	if c.left > 0 {
		c.hunks[len(c.hunks)-1].elsewhere = c.left
	}
	return c.hunks
}

// add goes on to a line. Once there is no room for the hunk that it would open,
// matching lines are only counted.
func (c *cutter) add(l hunkLine, matching bool) {
	switch {
	case c.full || matching && !c.reach():
		c.full = true
		if matching {
			c.left++
		}
		return
	case matching:
		c.show(l, true)
	case c.matched:
		c.show(l, false)
	}
	c.matched = matching
	c.source.pass(l)
	c.before = l
	c.i++
}

// reach opens a hunk for a line, with the line before as context, unless the
// one at hand reaches so far.
func (c *cutter) reach() bool {
	switch {
	case c.open && c.end == c.i-1:
	case c.open && c.end == c.i-2:
		c.show(c.before, false)
	case len(c.hunks) == maxHunks:
		return false
	default:
		h := c.source
		if c.i > 0 {
			h.unpass(c.before)
			h.lines = append(h.lines, c.before)
		}
		c.hunks = append(c.hunks, h)
		c.open = true
	}
	return true
}

// show adds a line to the hunk at hand. Once that is full, matching lines are
// only counted.
func (c *cutter) show(l hunkLine, matching bool) {
	h := &c.hunks[len(c.hunks)-1]
	switch {
	case len(h.lines) < maxLines:
		h.lines = append(h.lines, l)
	case matching:
		h.more++
	}
	c.end = c.i
}

// pass moves the start of h behind a line, unpass back to it.
func (h *hunk) pass(l hunkLine)   { h.move(l, 1) }
func (h *hunk) unpass(l hunkLine) { h.move(l, -1) }

func (h *hunk) move(l hunkLine, by int) {
	if l.sign() != '+' {
		h.oldStart += by
	}
	if l.sign() != '-' {
		h.newStart += by
	}
}
