package diff

import "bytes"

// File is the change of one file in a commit.
type File struct {
	// OldPath and NewPath are bytes as git stores them; "" is a file that does
	// not exist on that side.
	OldPath, NewPath string
	// Text is the hunks as git log prints them: "@@ -1,2 +1,3 @@ SECTION" and
	// lines that begin with a space, + or -. A line with a backslash says that
	// the file does not end in a newline. It is empty for binary files and for
	// a mere change of name or mode.
	Text []byte
}

// Line is a changed line of a file.
type Line struct {
	// Number counts the lines of File.Text from zero, headers among them.
	Number int
	// Sign is '+' or '-'.
	Sign byte
	// Text is the line without its sign and newline; a part of File.Text.
	Text []byte
}

// Lines walks over the changed lines of a diff. It allocates nothing:
//
//	for lines := diff.Changed(text); lines.Next(); {
//		use(lines.Line)
//	}
type Lines struct {
	// Line is the line that Next found.
	Line
	rest []byte
	next int
}

// Changed returns a walk over the changed lines of a File.Text.
func Changed(text []byte) *Lines { return &Lines{rest: text} }

// Next goes to the next changed line and reports whether there is one.
func (l *Lines) Next() bool {
	for len(l.rest) > 0 {
		var line []byte
		line, l.rest = cutLine(l.rest)
		number := l.next
		l.next++
		if len(line) > 0 && changes(line[0]) {
			l.Line = Line{number, line[0], line[1:]}
			return true
		}
	}
	return false
}

func changes(sign byte) bool { return sign == '+' || sign == '-' }

// cutLine returns the first line of text without its newline, and what follows.
func cutLine(text []byte) (line, rest []byte) {
	if i := bytes.IndexByte(text, '\n'); i >= 0 {
		return text[:i], text[i+1:]
	}
	return text, nil
}
