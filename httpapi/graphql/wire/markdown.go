package wire

import "html"

// Markdown is the type Markdown.
type Markdown struct{ Text, HTML string }

// PlainMarkdown shows text as it is.
func PlainMarkdown(text string) Markdown { return Markdown{text, Paragraph(html.EscapeString(text))} }

// Paragraph is HTML in a paragraph.
func Paragraph(inner string) string { return "<p>" + inner + "</p>" }

// Anchor is a link as HTML.
func Anchor(text, address string) string {
	return `<a href="` + html.EscapeString(address) + `">` + html.EscapeString(text) + "</a>"
}

// Match is the type SearchResultMatch.
type Match struct {
	URL        string
	Body       Markdown
	Highlights []Highlight
}

// Highlight is the type Highlight.
type Highlight struct{ Line, Character, Length int32 }

// HighlightedString is the type HighlightedString.
type HighlightedString struct {
	Value      string
	Highlights []Highlight
}
