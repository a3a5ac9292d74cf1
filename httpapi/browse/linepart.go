package browse

import (
	"html/template"
	"strings"
	"unicode/utf8"
)

// partOf returns the part of a line that has a column.
func partOf(line string, column int) codeLine {
	p := linePart{column: column}
	for len(line) > 0 {
		n := min(len(line), maxShownLine)
		p.add([]byte(line[:n]))
		line = line[n:]
	}
	return p.end()
}

// linePart is the part of a line that has a column, or the last one if the line ends
// before. The line is written to it piece by piece. Lines are divided at the last character
// that begins within a multiple of maxShownLine.
type linePart struct {
	column int
	// before and chars are the bytes and the characters before the part.
	before, chars int
	// text is the part, and what came behind it so far.
	text []byte
	// found says that it is the part that was looked for.
	found bool
	// bytes counts those of the line, and last is the last of them.
	bytes int
	last  byte
}

func (p *linePart) add(piece []byte) {
	if len(piece) == 0 {
		return
	}
	p.bytes += len(piece)
	p.last = piece[len(piece)-1]
	if p.found {
		return
	}
	p.text = append(p.text, piece...)
	for !p.found && len(p.text) >= p.room()+utf8.UTFMax {
		p.divide()
	}
}

// room is how many bytes the part has at most.
func (p *linePart) room() int {
	return (p.before/maxShownLine+1)*maxShownLine - p.before + p.early()
}

// early is maxShownLine if the part begins with a character that a multiple of maxShownLine is
// within, and so before that multiple, else 0.
func (p *linePart) early() int {
	if over := p.before % maxShownLine; over > maxShownLine-utf8.UTFMax {
		return maxShownLine
	}
	return 0
}

// divide takes the part off the text, or finds that it is the one.
func (p *linePart) divide() {
	n := p.room()
	if kept := beginning(string(p.text[:min(len(p.text), n+1)]), n); kept != "" {
		n = len(kept)
	}
	chars := utf8.RuneCount(p.text[:n])
	if p.found = p.chars+chars >= p.column; p.found {
		p.text = p.text[:n]
		return
	}
	p.before, p.chars = p.before+n, p.chars+chars
	p.text = append(p.text[:0], p.text[n:]...)
}

// end returns the part, once all of the line has been written.
func (p *linePart) end() codeLine {
	if p.last == '\r' {
		p.bytes--
		p.text = p.text[:min(len(p.text), p.bytes-p.before)]
	}
	for !p.found && len(p.text) > p.room() {
		p.divide()
	}
	var b strings.Builder
	escapeInto(&b, string(p.text))
	part := codeLine{HTML: template.HTML(b.String()), Before: p.before, Left: p.bytes - p.before - len(p.text), Chars: p.chars}
	if part.Left > 0 {
		part.Next = p.chars + utf8.RuneCount(p.text) + 1
	}
	return part
}
