package graphql

import "html"

// markdown is the type Markdown.
type markdown struct{ Text, HTML string }

func plainMarkdown(text string) markdown { return markdown{text, paragraph(html.EscapeString(text))} }

func paragraph(inner string) string { return "<p>" + inner + "</p>" }

// anchor is a link as HTML.
func anchor(text, address string) string {
	return `<a href="` + html.EscapeString(address) + `">` + html.EscapeString(text) + "</a>"
}

// match is the type SearchResultMatch.
type match struct {
	URL        string
	Body       markdown
	Highlights []highlight
}

// highlight is the type Highlight.
type highlight struct{ Line, Character, Length int32 }

// highlightedString is the type HighlightedString.
type highlightedString struct {
	Value      string
	Highlights []highlight
}
