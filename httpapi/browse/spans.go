package browse

import (
	"context"

	"github.com/alecthomas/chroma/v2"
)

// maxKnownBytes is the memory of colours that are kept: those of dozens of files of
// thousands of lines, which take a lexer a tenth of a second each.
const maxKnownBytes = 4 << 20

// fileColours names the colours of a file of a repository, which are the same in all
// commits. Another repository's are not taken: times would tell that it has the file.
type fileColours struct {
	repository uint32
	oid, lexer string
}

// colourEntryBytes is what the cache takes for a file beside its spans.
const colourEntryBytes = 300

// spans are the parts of a text from its beginning on that have a class each: how many
// bytes it has, above eight bits of the class, 0 for none.
type spans []uint32

func (s spans) bytes() (n int) {
	for _, span := range s {
		n += int(span >> 8)
	}
	return n
}

// writeTo writes as much of the text as is wanted, and returns how many bytes that is.
func (s spans) writeTo(w painted, text string) (done int) {
	for _, span := range s {
		if w.enough() {
			break
		}
		class := ""
		if c := byte(span); c != 0 {
			class = string(rune(c))
		}
		end := done + int(span>>8)
		w.write(class, text[done:end])
		done = end
	}
	return done
}

// recorder notes what is written.
type recorder struct {
	painted
	spans spans
}

func (r *recorder) write(class, text string) {
	if text == "" {
		return
	}
	r.painted.write(class, text)
	span := uint32(len(text)) << 8
	if class != "" {
		span |= uint32(class[0])
	}
	r.spans = append(r.spans, span)
}

// paintBlob is paint for the text of a blob, of which the part before end is wanted. It
// takes the colours that it has found before.
func (p *painter) paintBlob(ctx context.Context, w painted, of fileColours, lexer chroma.Lexer, text string, end int) (done int) {
	of.lexer = lexer.Config().Name
	if known, ok := p.known.Get(of); ok && known.bytes() >= end {
		return known.writeTo(w, text)
	}
	r := &recorder{painted: w}
	if done = p.paint(ctx, r, lexer, text, begin(p.within)); done >= end {
		p.known.Put(of, r.spans, 4*cap(r.spans)+colourEntryBytes)
	}
	return done
}
