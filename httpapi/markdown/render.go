package markdown

import (
	"bytes"
	"errors"
	"html/template"
	"path"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/util"
)

// MaxBytes is how long a text may be.
const MaxBytes = 128 << 10

// neededBytes is the memory that a byte of the worst texts takes.
const neededBytes = 300

// Needs is the memory that it takes to render a text of a length.
func Needs(length int) int64 { return int64(length) * neededBytes }

// maxHTML is how much a text may become. A page has 4 MiB.
const maxHTML = 1 << 20

// IsName reports whether a file of that name is taken for Markdown.
func IsName(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".markdown", ".mkd", ".mdown":
		return true
	}
	return false
}

// ErrTooLarge says that a text is too long, or nests too deeply, to be rendered.
var ErrTooLarge = errors.New("the text is too long, or nests too deeply, to be rendered")

// Links says where the paths of a repository lead.
type Links struct {
	// Dir is the directory of the text, "" for the root.
	Dir string
	// File is the address of the page of a path, and Image that of its bytes.
	File, Image func(path string) string
	// Code divides a block of code into pieces with colours. The language is what the
	// author calls it. The block is plain without Code, and if the pieces are not its text.
	Code func(language, text string) []Piece
}

// Piece is a part of a block of code. Class is what the style knows its colour by, "" for
// none.
type Piece struct{ Class, Text string }

// library parses and renders. Its HTML is that of the author, and is cleaned behind it.
var library = goldmark.New(
	goldmark.WithExtensions(
		extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)), extension.Strikethrough, extension.Linkify, extension.TaskList,
	),
	goldmark.WithParserOptions(parser.WithAutoHeadingID()),
	goldmark.WithRendererOptions(html.WithUnsafe(), renderer.WithNodeRenderers(util.Prioritized(taskBoxes{}, 100))),
)

// Render returns a text as HTML.
func Render(text []byte, links Links) (out template.HTML, err error) {
	if len(text) > MaxBytes || costly(text) {
		return "", ErrTooLarge
	}
	defer func() {
		if recover() != nil { // of a library; nothing was written
			out, err = "", ErrTooLarge
		}
	}()
	var made bytes.Buffer
	if err := library.Convert(text, &made, parser.WithContext(parser.NewContext(parser.WithIDs(&headingIDs{})))); err != nil {
		return "", err
	}
	if made.Len() > 4*maxHTML {
		return "", ErrTooLarge
	}
	return placed(policy.SanitizeReader(&made), links)
}

// mostNested is how many marks of quotations and lists a line may begin with, and
// mostLinks how many links may begin in a block: the parser takes time that grows with
// the square of either.
const (
	mostNested = 60
	mostLinks  = 1000
)

// costly reports whether a text would take far longer than others of its length.
func costly(text []byte) bool {
	links := 0
	for line := range bytes.Lines(text) {
		marks := marksOf(line)
		if beginsBlock(line) {
			links = 0
		}
		links += bytes.Count(line, []byte("](")) + bytes.Count(line, []byte("]["))
		if marks > mostNested || links > mostLinks {
			return true
		}
	}
	return false
}

// beginsBlock reports whether no paragraph goes on in a line: it is blank, or the item
// of a list.
func beginsBlock(line []byte) bool {
	line = bytes.TrimSpace(line)
	return len(line) == 0 || len(line) > 2 && bytes.IndexByte([]byte("-*+"), line[0]) >= 0 && line[1] == ' '
}

// marksOf counts the marks of quotations and lists that a line begins with.
func marksOf(line []byte) (marks int) {
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == ' ', c == '\t':
		case c == '>', (c == '-' || c == '*' || c == '+') && blankAt(line, i+1):
			marks++
		case c >= '0' && c <= '9' || (c == '.' || c == ')') && i > 0 && line[i-1] >= '0' && line[i-1] <= '9':
			if c == '.' || c == ')' {
				marks++
			}
		default:
			return marks
		}
	}
	return marks
}

func blankAt(line []byte, i int) bool { return i < len(line) && (line[i] == ' ' || line[i] == '\t') }
