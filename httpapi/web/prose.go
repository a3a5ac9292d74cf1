package web

import (
	"html/template"
	"strings"
)

// prose makes HTML of the little Markdown that messages have: paragraphs, lists of lines
// that begin with "* ", and `code`.
func prose(text string) template.HTML {
	var b strings.Builder
	list := false
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		item, isItem := strings.CutPrefix(line, "* ")
		if isItem != list {
			b.WriteString(map[bool]string{true: "<ul>", false: "</ul>"}[isItem])
			list = isItem
		}
		tag := "p"
		if isItem {
			tag = "li"
		}
		b.WriteString("<" + tag + ">")
		for i, part := range strings.Split(item, "`") {
			if part = template.HTMLEscapeString(part); i%2 == 1 {
				part = "<code>" + part + "</code>"
			}
			b.WriteString(part)
		}
		b.WriteString("</" + tag + ">")
	}
	if list {
		b.WriteString("</ul>")
	}
	return template.HTML(b.String())
}
