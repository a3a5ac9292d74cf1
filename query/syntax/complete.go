package syntax

import (
	"slices"
	"strings"

	"github.com/trawlsearch/trawl/query"
)

// Word is what stands at a cursor in the text of a query, whole or not.
type Word struct {
	// Span is what takes the place of a completion: the word with what follows the
	// cursor without white space, and a "-" in front.
	Span query.Span
	// Field is the filter whose value it is, "" for a word of its own.
	Field   string
	Negated bool
	// Text is the value, or the word without its "-", up to the cursor.
	Text string
}

// WordAt returns the word at a cursor, which counts bytes. It is empty behind white
// space.
func WordAt(text string, cursor int) Word {
	cursor = max(0, min(cursor, len(text)))
	before := text[:cursor]
	w, from := Word{Span: query.Span{Start: cursor}}, 0
	for from < cursor {
		if blank(before[from]) || before[from] == '(' {
			from++
			continue
		}
		field, n := fieldAt(before[from:])
		end := wordEnd(before, from+n, field != nil)
		if end == cursor {
			w = Word{Span: query.Span{Start: from}, Negated: before[from] == '-'}
			if field != nil {
				w.Field, w.Text = field.name, strings.Trim(before[from+n:], `"'`)
			} else {
				w.Text = strings.TrimPrefix(before[from:], "-")
			}
		}
		from = end
	}
	for w.Span.End = cursor; w.Span.End < len(text) && !blank(text[w.Span.End]) && text[w.Span.End] != ')'; {
		w.Span.End++
	}
	return w
}

// wordEnd is where the word or value that begins at i ends: quoted ones with
// their quote, others at white space outside of parentheses. A parenthesis that is open
// to the end of the text holds together what a predicate is called with, and no words.
func wordEnd(text string, i int, value bool) int {
	if i < len(text) && (text[i] == '"' || text[i] == '\'') {
		if _, n, err := delimited(text[i:], false); err == nil {
			return i + n
		}
		return len(text)
	}
	deep, first := 0, len(text)
	for ; i < len(text) && (deep > 0 || !blank(text[i])); i++ {
		switch text[i] {
		case '(':
			deep++
		case ')':
			deep--
		}
		if blank(text[i]) {
			first = min(first, i)
		}
	}
	if deep > 0 && !value {
		return first
	}
	return i
}

// Field is a filter that people write.
type Field struct {
	Name      string
	Negatable bool
	// Predicates may be called as the value, and Values are those there are, or
	// examples of them.
	Predicates, Values []string
}

// Fields returns the filters that queries are completed with.
func Fields() []Field {
	var out []Field
	for _, f := range fields() {
		if !f.unlisted {
			out = append(out, Field{f.name, f.negatable, f.predicates, f.values})
		}
	}
	return out
}

// FieldNamed returns the filter of a name.
func FieldNamed(name string) (Field, bool) {
	all := Fields()
	i := slices.IndexFunc(all, func(f Field) bool { return f.Name == name })
	if i < 0 {
		return Field{}, false
	}
	return all[i], true
}

// FormatFilter writes a filter so that it is read as it is, with quotes if it
// needs them.
func FormatFilter(f query.Filter) string { return formatFilter(f) }
