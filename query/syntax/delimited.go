package syntax

import (
	"fmt"
	"strings"

	"github.com/trawlsearch/trawl/query"
)

// delimited reads the string between two delimiters: quotes or slashes. It
// returns the text with its escapes resolved and the length read; the error
// says why text does not begin with such a string, or, if strict, which escape
// means nothing.
func delimited(text string, strict bool) (value string, n int, err error) {
	delim := text[0]
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == delim:
			return b.String(), i + 1, nil
		case c != '\\':
			b.WriteByte(c)
		case i+1 == len(text):
			return "", 0, &query.SyntaxError{Message: "unterminated escape sequence", Hint: fmt.Sprintf("close with %c", delim)}
		default:
			i++
			s, ok := unescape(text[i], delim)
			if !ok && strict {
				return "", 0, &query.SyntaxError{
					Message: "unrecognized escape sequence",
					Span:    query.Span{Start: i - 1, End: i + 1},
					Hint:    `write \\ for a backslash inside quotes`,
					Fix:     `\\` + text[i:i+1],
				}
			}
			b.WriteString(s)
		}
	}
	return "", 0, unterminated(delim, text)
}

func unterminated(delim byte, text string) error {
	return &query.SyntaxError{
		Message: fmt.Sprintf("unterminated literal: expected %c", delim),
		Span:    query.Span{End: len(text)},
		Hint:    fmt.Sprintf("close the value with %c", delim),
		Fix:     text + string(delim),
	}
}

// unescape returns what a backslash and c stand for. The letters that mean
// something to a regular expression keep their backslash, and so does any
// other character, which is then not ok.
func unescape(c, delim byte) (s string, ok bool) {
	switch c {
	case delim, '\\':
		return string(c), true
	case 'n':
		return "\n", true
	case 'r':
		return "\r", true
	case 't':
		return "\t", true
	case 'a', 'b', 'f', 'v':
		return `\` + string(c), true
	}
	return `\` + string([]byte{c}), false
}

// escape writes value between delimiters so that delimited reads it back.
func escape(value string, delim byte) string {
	var b strings.Builder
	b.WriteByte(delim)
	for i := 0; i < len(value); i++ {
		if c := value[i]; c == delim || c == '\\' {
			b.WriteByte('\\')
		}
		b.WriteByte(value[i])
	}
	b.WriteByte(delim)
	return b.String()
}
