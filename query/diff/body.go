package diff

import "strings"

// Kind is what a line of a preview is.
type Kind byte

// The kinds of lines of a preview.
const (
	FileHeader Kind = iota
	HunkHeader
	Context
	Added
	Removed
)

// Body walks over the lines of a preview.
type Body struct {
	// Kind and Text are of the line that Next found; Text has no newline.
	Kind Kind
	Text string

	rest string
	// oldLeft and newLeft are how many lines the hunk at hand has left.
	oldLeft, newLeft int
}

// ReadBody returns a walk over the lines of a preview. Text that is none is
// walked over all the same.
func ReadBody(body string) *Body { return &Body{rest: body} }

// Next goes to the next line and reports whether there is one.
func (b *Body) Next() bool {
	if b.rest == "" {
		return false
	}
	b.Text, b.rest, _ = strings.Cut(b.rest, "\n")
	b.Kind = b.kind()
	return true
}

// kind decides by how many lines the hunk has left: a path may begin like a
// line of a hunk.
func (b *Body) kind() Kind {
	if b.oldLeft == 0 && b.newLeft == 0 {
		_, oldLines, newLines, ok := parseHeader([]byte(b.Text))
		if !ok {
			return FileHeader
		}
		b.oldLeft, b.newLeft = oldLines, newLines
		return HunkHeader
	}
	switch {
	case strings.HasPrefix(b.Text, "+"):
		b.newLeft = max(b.newLeft-1, 0)
		return Added
	case strings.HasPrefix(b.Text, "-"):
		b.oldLeft = max(b.oldLeft-1, 0)
		return Removed
	}
	b.oldLeft, b.newLeft = max(b.oldLeft-1, 0), max(b.newLeft-1, 0)
	return Context
}

// OldPath returns the first path of a FileHeader as it is written there.
func OldPath(header string) string {
	for i := 0; i < len(header); i++ {
		switch {
		case header[i] == ' ':
			return header[:i]
		case strings.HasPrefix(header[i:], `\ `):
			i++
		}
	}
	return header
}
