package markdown

import (
	"regexp"

	"github.com/microcosm-cc/bluemonday"
)

// policy lists what may stay of the HTML of strangers. Styles, forms, frames and scripts
// are not on it, of ids only those of headings, and of classes those that name the language
// of code, which placer reads and removes.
var policy = newPolicy()

func newPolicy() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements("h1", "h2", "h3", "h4", "h5", "h6", "p", "br", "hr", "div", "span", "center", "blockquote", "pre", "code", "kbd", "samp", "var",
		"em", "strong", "b", "i", "u", "s", "del", "ins", "sub", "sup", "small", "abbr", "mark", "q", "cite", "dl", "dt", "dd", "ul", "ol", "li",
		"table", "thead", "tbody", "tfoot", "tr", "th", "td", "caption", "details", "summary")
	p.AllowNoAttrs().OnElements("span", "a")
	p.AllowAttrs("href").OnElements("a")
	p.AllowAttrs("src", "alt").OnElements("img")
	p.AllowAttrs("title").OnElements("a", "img", "abbr")
	p.AllowAttrs("width", "height").Matching(bluemonday.NumberOrPercent).OnElements("img")
	p.AllowAttrs("align").Matching(regexp.MustCompile(`^(?:left|right|center)$`)).OnElements("p", "div", "img", "h1", "h2", "h3", "h4", "h5", "h6", "td", "th", "table")
	p.AllowAttrs("id").Matching(regexp.MustCompile(`^`+idPrefix+`[\p{L}\p{N}_-]*$`)).OnElements("h1", "h2", "h3", "h4", "h5", "h6")
	p.AllowAttrs("class").Matching(regexp.MustCompile(`^` + languageClass + `[A-Za-z0-9+#._-]{1,40}$`)).OnElements("code")
	p.AllowAttrs("start").Matching(bluemonday.Integer).OnElements("ol")
	p.AllowAttrs("colspan", "rowspan").Matching(regexp.MustCompile(`^[1-9][0-9]?$`)).OnElements("td", "th")
	p.AllowAttrs("open").Matching(regexp.MustCompile(`^(?:open)?$`)).OnElements("details")
	p.AllowURLSchemes("http", "https", "mailto")
	p.AllowRelativeURLs(true)
	p.RequireParseableURLs(true)
	p.RequireNoFollowOnFullyQualifiedLinks(true)
	p.RequireNoReferrerOnFullyQualifiedLinks(true)
	p.SkipElementsContent("math", "svg", "textarea", "select", "title", "template")
	return p
}
