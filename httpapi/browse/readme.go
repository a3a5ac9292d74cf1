package browse

import (
	"bytes"
	"context"
	"errors"
	"html/template"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/alecthomas/chroma/v2"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/code"
	"github.com/trawlsearch/trawl/httpapi/markdown"
	"github.com/trawlsearch/trawl/store/git"
	"github.com/trawlsearch/trawl/store/text"
)

// readmes are the names of files that tell about their directory, the best first, in
// small letters. The first of them are Markdown.
var readmes = []string{"readme.md", "readme.markdown", "readme", "readme.txt", "readme.rst", "readme.adoc", "readme.org"}

const markdownReadmes = 2

// maxPlainReadme is how much of a README is shown as it is.
const maxPlainReadme = 64 << 10

// readme is what a page of a directory shows of its README.
type readme struct {
	Name, URL string
	// HTML is the text of Markdown, Lines are those of any other.
	HTML  template.HTML
	Lines []codeLine
	// Problem says why it is not shown, or not as a whole.
	Problem string
}

// readmeRank is the place of a name in readmes, -1 for another.
func readmeRank(e git.Entry) int {
	if e.Mode != git.ModeFile && e.Mode != git.ModeExecutable || len(e.Name) > len("readme.markdown") {
		return -1
	}
	return slices.Index(readmes, strings.ToLower(e.Name))
}

// readme reads the README of the directory at the path, nil without one.
func (e *Endpoint) readme(r *http.Request, p *target, file git.Entry) (*readme, error) {
	rank := readmeRank(file)
	if rank < 0 {
		return nil, nil
	}
	at := *p
	at.path = path.Join(p.path, file.Name)
	out := &readme{Name: shown(file.Name), URL: code.BlobURL(p.rec.Name, p.rev, at.path)}
	o, err := at.object(r.Context(), file, markdown.MaxBytes)
	switch {
	case errors.Is(err, git.ErrTooLarge):
		out.Problem = "It is too long to be shown here."
		return out, nil
	case errors.Is(err, git.ErrMissing), errors.Is(err, git.ErrCorrupt), p.gone != nil && errors.Is(err, p.gone):
		return nil, nil
	case err != nil:
		return nil, err
	}
	decoded, reason := text.Decode(o.Data)
	if reason != "" || len(decoded.Data) == 0 {
		return nil, nil
	}
	if rank < markdownReadmes {
		switch out.HTML, err = e.render(r, p, p.path, decoded.Data, treeHolds); {
		case errors.Is(err, errNoMemory):
			out.Problem = "The server has no memory to show it now: try again later."
		case err != nil:
			out.Problem = "It is too long, or nests too deeply, to be shown here."
		}
		return out, nil
	}
	win := windowOf(decoded.Data[:min(len(decoded.Data), maxPlainReadme)], 0)
	if win.end < len(decoded.Data) {
		out.Problem = "This is its beginning."
	}
	w := newLineWriter(win.first, win)
	w.write("", string(decoded.Data[win.start:win.end]))
	out.Lines = w.end()
	return out, nil
}

var errNoMemory = errors.New("there is no memory for it now")

const (
	// maxBlockSpans is how many parts of the code in a text are coloured, and spanBytes the
	// memory that each takes.
	maxBlockSpans = 2000
	spanBytes     = 500
)

// blockColours collects the pieces of a block of code while there are spans left for the
// text that it stands in.
type blockColours struct {
	pieces []markdown.Piece
	spans  *int
}

func (b *blockColours) enough() bool { return *b.spans <= 0 }

func (b *blockColours) write(class, text string) {
	if text == "" {
		return
	}
	if class != "" {
		*b.spans--
	}
	b.pieces = append(b.pieces, markdown.Piece{Class: class, Text: text})
}

// blocks returns what colours the blocks of code of a text, in the time of one text, which
// begins with the first of them. To look for a language takes milliseconds, so it is looked
// for once.
func (p *painter) blocks(ctx context.Context) func(language, text string) []markdown.Piece {
	spans, t, known := maxBlockSpans, (*paintTime)(nil), map[string]chroma.Lexer{}
	return func(language, text string) []markdown.Piece {
		if t == nil {
			t = begin(p.within)
		}
		if spans <= 0 || ctx.Err() != nil || !t.wait(ctx) {
			return nil
		}
		lexer, ok := known[language]
		if !ok {
			lexer = lexerOf("", language)
			known[language] = lexer
		}
		if lexer == nil || !paintable([]byte(text)) {
			return nil
		}
		b := &blockColours{spans: &spans}
		b.write("", text[p.paint(ctx, b, lexer, text, t):])
		return b.pieces
	}
}

// render makes HTML of the Markdown of a file in a directory. The answer holds so many
// bytes afterwards. The error is errNoMemory, or markdown.ErrTooLarge.
func (e *Endpoint) render(r *http.Request, p *target, dir string, source []byte, holds int64) (template.HTML, error) {
	needs, colours := markdown.Needs(len(source)), (func(language, text string) []markdown.Piece)(nil)
	if slices.ContainsFunc([]string{"```", "~~~", "language-"}, func(mark string) bool { return bytes.Contains(source, []byte(mark)) }) {
		e.prepare()
		needs, colours = needs+maxBlockSpans*spanBytes, e.painter.blocks(r.Context())
	}
	work := httpapi.WorkOf(r.Context())
	if !work.Grow(needs) {
		return "", errNoMemory
	}
	defer work.Shrink(holds)
	return markdown.Render(source, markdown.Links{
		Dir:   dir,
		Code:  colours,
		File:  func(at string) string { return e.Pages.Path(code.BlobURL(p.rec.Name, p.rev, at)) },
		Image: func(at string) string { return e.Pages.Path(imageURL(p.rec.Name, p.rev, at)) },
	})
}
