package syntax

import (
	"cmp"
	"slices"
	"strings"

	"github.com/trawlsearch/trawl/query"
)

// MarkKind says what a part of a query text is read as.
type MarkKind string

// The kinds of marks. Text that is searched for as it stands has none.
const (
	MarkField     MarkKind = "field"     // the name of a filter with its colon, "-" and "not" in front
	MarkValue     MarkKind = "value"     // what it is given
	MarkPredicate MarkKind = "predicate" // the name of a test that is called as the value
	MarkRevision  MarkKind = "revision"  // the revisions behind the "@" of a repo: filter
	MarkOperator  MarkKind = "operator"  // and, or, not, and parentheses that group
	MarkQuoted    MarkKind = "quoted"    // a pattern in quotes, with them
	MarkRegexp    MarkKind = "regexp"    // what is special in a regular expression, with the slashes around it
)

// Mark is a part of a query text that is more than text to search for.
type Mark struct {
	Span query.Span
	Kind MarkKind
}

// Marks returns what the parts of text are read as in pattern type pt, unless a
// patterntype: filter in it names another: in their order, none within another.
// It is for showing a query while it is written: of a text that does not parse,
// the filters are marked.
func Marks(text string, pt query.PatternType) []Mark {
	if len(text) > maxTextBytes {
		return nil
	}
	pt = effectiveType(text, pt)
	m := marker{text: text, pt: pt}
	t, err := parseTree(text, pt)
	if err != nil || t.root == nil {
		m.loose()
		return m.out
	}
	all := leaves(t.root, nil)
	slices.SortFunc(all, func(a, b *leaf) int { return cmp.Compare(a.span().Start, b.span().Start) })
	at := 0
	for _, l := range all {
		m.between(at, l.span().Start)
		m.leaf(l)
		at = l.span().End
	}
	m.between(at, len(text))
	return m.out
}

type marker struct {
	text string
	pt   query.PatternType
	out  []Mark
}

func (m *marker) mark(from, to int, kind MarkKind) {
	if from < to {
		m.out = append(m.out, Mark{query.Span{Start: from, End: to}, kind})
	}
}

// loose marks the filters of a text that has no tree.
func (m *marker) loose() {
	ends := newWordEnds(m.text)
	for from := 0; from < len(m.text); {
		if blank(m.text[from]) || m.text[from] == '(' {
			from++
			continue
		}
		field, n := fieldAt(m.text[from:])
		end := ends.of(from+n, field)
		if field != nil {
			m.mark(from, from+n, MarkField)
			m.mark(from+n, end, MarkValue)
		}
		from = max(end, from+1)
	}
}

// between marks what stands between leaves: operators, parentheses and space.
func (m *marker) between(from, to int) {
	for from < to {
		n := 1
		switch {
		case m.text[from] == '(' || m.text[from] == ')':
		case letter(m.text[from]):
			for from+n < to && letter(m.text[from+n]) {
				n++
			}
		default:
			from++
			continue
		}
		m.mark(from, from+n, MarkOperator)
		from += n
	}
}

func (m *marker) leaf(l *leaf) {
	at := l.span()
	if l.negated || l.filter != nil && l.filter.Negated && m.text[at.Start] != '-' {
		m.mark(at.Start, at.Start+len("not"), MarkOperator)
		rest := m.text[at.Start+len("not") : at.End]
		at.Start = at.End - len(strings.TrimLeft(rest, " \t\n\v\f\r"))
	}
	if l.filter != nil {
		m.filter(l.filter, at)
		return
	}
	switch {
	case l.pattern.Quoted:
		m.mark(at.Start, at.End, MarkQuoted)
	case l.pattern.IsRegexp && m.pt != query.Regexp: // between slashes
		m.mark(at.Start, at.Start+1, MarkRegexp)
		m.special(at.Start+1, at.End-1)
		m.mark(at.End-1, at.End, MarkRegexp)
	case l.pattern.IsRegexp:
		m.special(at.Start, at.End)
	}
}

func (m *marker) filter(f *query.Filter, at query.Span) {
	field, n := fieldAt(m.text[at.Start:at.End])
	if field == nil {
		return
	}
	m.mark(at.Start, at.Start+n, MarkField)
	from := at.Start + n
	switch {
	case f.Predicate != nil:
		m.mark(from, from+len(f.Predicate.Name)+1, MarkPredicate)
		m.mark(from+len(f.Predicate.Name)+1, at.End-1, MarkValue)
		m.mark(at.End-1, at.End, MarkPredicate)
	case f.Quoted:
		m.mark(from, at.End, MarkQuoted)
	case field.regexp:
		end := at.End
		if i := strings.IndexByte(m.text[from:end], '@'); i >= 0 && field.name == "repo" {
			end = from + i
		}
		last := len(m.out)
		m.special(from, end)
		m.fill(last, from, end)
		m.mark(end, at.End, MarkRevision)
	default:
		m.mark(from, at.End, MarkValue)
	}
}

// fill marks as a value what is not marked between from and to, where the marks
// from number i on are.
func (m *marker) fill(i, from, to int) {
	inside := slices.Clone(m.out[i:])
	m.out = m.out[:i]
	for _, mark := range inside {
		m.mark(from, mark.Span.Start, MarkValue)
		m.out = append(m.out, mark)
		from = mark.Span.End
	}
	m.mark(from, to, MarkValue)
}

// special marks what is special in a regular expression of RE2: escapes, classes,
// groups, repetitions and assertions.
func (m *marker) special(from, to int) {
	for i := from; i < to; {
		n := specialAt(m.text[i:to])
		if n == 0 {
			i++
			continue
		}
		if k := len(m.out) - 1; k >= 0 && m.out[k].Kind == MarkRegexp && m.out[k].Span.End == i && i > from {
			m.out[k].Span.End = i + n
		} else {
			m.mark(i, i+n, MarkRegexp)
		}
		i += n
	}
}

// specialAt returns the length of what is special at the beginning of a part of a
// regular expression, 0 if nothing is.
func specialAt(text string) int {
	switch text[0] {
	case '*', '+', '?', '|', ')', '^', '$', '.':
		return 1
	case '\\':
		return min(2, len(text))
	case '(':
		if end := strings.IndexAny(text, ":)>"); strings.HasPrefix(text, "(?") && end > 0 && text[end] != ')' {
			return end + 1
		}
		return 1
	case '{':
		end := strings.IndexByte(text, '}')
		if end > 1 && strings.Trim(text[1:end], "0123456789,") == "" {
			return end + 1
		}
	case '[':
		return classLength(text)
	}
	return 0
}

// classLength is the length of the class at the beginning of text, all of it if
// the class is not closed.
func classLength(text string) int {
	i := 1
	if i < len(text) && text[i] == '^' {
		i++
	}
	for first := i; i < len(text); i++ {
		switch {
		case text[i] == '\\':
			i++
		case strings.HasPrefix(text[i:], "[:"):
			if end := strings.Index(text[i:], ":]"); end > 0 {
				i += end + 1
			}
		case text[i] == ']' && i > first:
			return i + 1
		}
	}
	return len(text)
}
