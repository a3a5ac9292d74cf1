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
	w, from, ends := Word{Span: query.Span{Start: cursor}}, 0, newWordEnds(before)
	for from < cursor {
		if blank(before[from]) || before[from] == '(' {
			from++
			continue
		}
		field, n := fieldAt(before[from:])
		end := ends.of(from+n, field)
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

// wordEnds finds where words of a text end. closed are the open parentheses that have a
// closing one, so that no word has to be read to the end of the text for it.
type wordEnds struct {
	text   string
	closed []bool
}

func newWordEnds(text string) wordEnds {
	out := wordEnds{text, make([]bool, len(text))}
	var open []int
	for i := range len(text) {
		switch {
		case text[i] == '(':
			open = append(open, i)
		case text[i] == ')' && len(open) > 0:
			out.closed[open[len(open)-1]] = true
			open = open[:len(open)-1]
		}
	}
	return out
}

// of is where the word ends that begins at i, or the value of a field: quoted ones with
// their quote, others at white space outside of parentheses. A parenthesis that is left
// open holds together what a predicate is called with, and nothing else.
func (e wordEnds) of(i int, field *field) int {
	text := e.text
	if i < len(text) && (text[i] == '"' || text[i] == '\'') {
		if _, n, err := delimited(text[i:], false); err == nil {
			return i + n
		}
		return len(text)
	}
	called := -1 // where the call of a predicate opens
	if at := strings.IndexByte(text[i:min(len(text), i+maxPredicate+1)], '('); field != nil && at >= 0 && slices.Contains(field.predicates, text[i:i+at]) {
		called = i + at
	}
	for deep := 0; i < len(text) && (deep > 0 || !blank(text[i])); i++ {
		switch {
		case text[i] == '(' && (e.closed[i] || i == called):
			deep++
		case text[i] == ')' && deep > 0:
			deep--
		}
	}
	return i
}

// maxPredicate is the length of the longest name of a predicate.
const maxPredicate = len("contains.commit.after")

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
