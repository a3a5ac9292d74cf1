package markdown

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
)

// idPrefix begins the ids of headings, so that none is one of the page around.
const idPrefix = "md-"

// maxID is how long an id is.
const maxID = 100

// headingIDs gives each heading of a text an id.
type headingIDs struct{ used map[string]int }

// Generate makes an id of the text of a heading.
func (h *headingIDs) Generate(value []byte, _ ast.NodeKind) []byte {
	id := idPrefix + slug(string(value))
	if h.used == nil {
		h.used = map[string]int{}
	}
	n := h.used[id]
	h.used[id]++
	if n > 0 {
		id += "-" + strconv.Itoa(n)
	}
	return []byte(id)
}

// Put is for ids that the text gives itself, which are dropped.
func (*headingIDs) Put([]byte) {}

// slug is what links call a heading: small letters, digits, and dashes for spaces.
func slug(text string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(strings.TrimSpace(text)) {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '_', r == '-':
			b.WriteRune(r)
		case r == ' ':
			b.WriteByte('-')
		}
		if b.Len() >= maxID {
			break
		}
	}
	return b.String()
}
