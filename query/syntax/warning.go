package syntax

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/trawlsearch/trawl/query"
)

// People do not type longer texts, and a text with many mistakes needs only a
// few warnings.
const (
	maxWarnedBytes = 4 << 10
	maxWarnings    = 5
)

// warner collects the near misses of a text: parts that are searched for as text,
// or that have no effect, and look like something that has one.
type warner struct {
	text string
	pt   query.PatternType
	all  []*leaf
	out  []query.Warning
}

// warnings returns the near misses of a tree.
func warnings(text string, pt query.PatternType, t tree) []query.Warning {
	if len(text) > maxWarnedBytes || pt == query.Structural {
		return nil
	}
	w := &warner{text: text, pt: pt, all: leaves(t.root, nil)}
	slices.SortFunc(w.all, func(a, b *leaf) int { return cmp.Compare(a.span().Start, b.span().Start) })
	if t.unclosed {
		w.parenthesis(t.root)
	}
	for _, l := range w.all {
		switch {
		case l.filter == nil:
			w.pattern(l)
		case l.filter.Predicate == nil && !l.filter.Quoted:
			w.filter(l)
		}
		if len(w.out) >= maxWarnings {
			break
		}
	}
	return w.out
}

// warn adds a warning of what stands at a place; with is what to write there, ""
// if that is not known.
func (w *warner) warn(at query.Span, with, format string, args ...any) *query.Warning {
	warning := query.Warning{Message: fmt.Sprintf(format, args...), Span: at}
	if with != "" {
		warning.Proposed = proposal(w.text[:at.Start]+with+w.text[at.End:], w.pt)
	}
	w.out = append(w.out, warning)
	return &w.out[len(w.out)-1]
}

// proposal returns text as a query to run in place of another read in pt, "" if
// it does not parse.
func proposal(text string, pt query.PatternType) string {
	text = InType(text, pt)
	if _, _, err := parse(text, pt); err != nil {
		return ""
	}
	return text
}

// InType returns text, read in pt, with a filter that names the type.
func InType(text string, pt query.PatternType) string {
	return WithFilter(WithoutFilter(text, pt, "patterntype"), "patternType", string(pt))
}

// parenthesis warns of one that is never closed, so that all are text.
func (w *warner) parenthesis(root node) {
	at := strings.IndexByte(w.text, '(')
	missing := strings.Count(w.text, "(") - strings.Count(w.text, ")")
	closed := ""
	for n := 1; n <= missing && closed == ""; n++ {
		text := w.text + strings.Repeat(")", n)
		if _, t, err := parse(text, w.pt); err == nil && !t.unclosed {
			closed = proposal(text, w.pt)
		}
	}
	warning := w.warn(query.Span{Start: at, End: at + 1}, "", "A parenthesis is not closed, so parentheses are searched for as text.")
	warning.Proposed = closed
	warning.Plausible = !hasOperator(root)
}

// hasOperator reports whether the text joins terms by an operator, which shows
// that the parenthesis was to group.
func hasOperator(n node) bool {
	b, ok := n.(*branch)
	return ok && (b.op != run || slices.ContainsFunc(b.kids, hasOperator))
}

var (
	fieldForm = regexp.MustCompile(`^-?([A-Za-z]{3,20}):[^:/\s]`)
	// Only the letters that name a flag, so that a path is none.
	slashForm     = regexp.MustCompile(`^/((?:[^/\\]|\\.)+)/([gims]{1,4})$`)
	predicateForm = regexp.MustCompile(`^([a-zA-Z]+(?:\.[a-zA-Z]+)*)\(.*\)$`)
)

// pattern warns of text that looks like a filter, a regular expression or a
// quotation.
func (w *warner) pattern(l *leaf) {
	p := l.pattern
	src, at := w.text[p.Span.Start:p.Span.End], p.Span
	if l.negated {
		at.Start += len(src) - len(strings.TrimLeft(src[len("not"):], " \t\r\n"))
		src = w.text[at.Start:at.End]
	}
	if p.Quoted {
		return
	}
	// Most words can have neither form.
	var field, slashes []int
	if strings.Contains(src, ":") {
		field = fieldForm.FindStringSubmatchIndex(src)
	}
	if strings.HasPrefix(src, "/") {
		slashes = slashForm.FindStringSubmatchIndex(src)
	}
	if m := field; m != nil {
		typed := src[m[2]:m[3]]
		if near := nearest(strings.ToLower(typed), filterNames()); near != "" {
			w.warn(at, src[:m[2]]+near+src[m[3]:], "There is no filter `%s:`, so `%s` is searched for as text. Is `%s:` meant?", typed, query.Shorten(src), near)
		}
		return
	}
	s := scanner{text: w.text, pt: w.pt}
	if m := slashes; m != nil && s.slashes() {
		w.warn(at, withFlags(src[m[2]:m[3]], src[m[4]:m[5]]), "`%s` is searched for as text: a regular expression ends with its second slash. Flags stand in it, as in `/(?s)x/`, and letter case counts only with `case:yes`.", query.Shorten(src))
		return
	}
	if s.quotes() {
		w.quote(src, at)
	}
}

// withFlags writes a regular expression with the flags that mean something here.
func withFlags(re, letters string) string {
	flags := ""
	for _, f := range "ims" {
		if strings.ContainsRune(letters, f) {
			flags += string(f)
		}
	}
	if flags != "" {
		re = "(?" + flags + ")" + re
	}
	return "/" + re + "/"
}

// quote warns of a quotation that does not end, or that never began.
func (w *warner) quote(src string, at query.Span) {
	const asText = "The quote in `%s` has no other, so it is searched for as text."
	last := len(src) - 1
	switch first := src[0]; {
	case first == '"' || first == '\'':
		if strings.IndexByte(w.text[at.Start+1:], first) >= 0 {
			return
		}
		end := max(at.End, w.endOfRun(at.Start)) // a word behind `not` is a run of its own
		with := ""
		if strings.TrimSpace(w.text[at.Start+1:end]) != "" {
			with = w.text[at.Start:end] + string(first)
		}
		warning := w.warn(query.Span{Start: at.Start, End: end}, with, asText, query.Shorten(src))
		warning.Span = at
		warning.Plausible = first == '\''
	case src[last] == '"' && strings.Count(w.text, `"`) == 1:
		w.warn(at, "", asText, query.Shorten(src)).Plausible = true
	}
}

// endOfRun returns where the words that follow on from end: at a filter, an
// operator, a parenthesis or the end of the text.
func (w *warner) endOfRun(from int) int {
	end := from
	for _, l := range w.all {
		at := l.span()
		switch {
		case at.End <= from:
			continue
		case l.filter != nil || l.negated || end > from && strings.TrimSpace(w.text[end:at.Start]) != "":
			return end
		}
		end = at.End
	}
	return end
}

// filter warns of a value that has no effect.
func (w *warner) filter(l *leaf) {
	f := l.filter
	switch f.Field {
	case "type":
		if !slices.Contains(typeNames, f.Value) {
			w.value(f, typeNames, "so it finds nothing")
		}
	case "visibility":
		if !slices.Contains(visibilities, strings.ToLower(f.Value)) {
			w.value(f, visibilities, "so it keeps everything")
		}
	case "patterntype":
		if _, ok := patternTypes[f.Value]; !ok {
			w.value(f, []string{"keyword", "standard", "literal", "regexp"}, "so it is left out of account")
		}
	case "repo", "file", "rev":
		w.predicate(f, l.typed)
	}
}

var (
	typeNames    = []string{"file", "path", "symbol", "repo", "commit", "diff"}
	visibilities = []string{"any", "public", "private"}
)

func (w *warner) value(f *query.Filter, known []string, effect string) {
	if f.Value == "" || f.Negated {
		return
	}
	near, with := nearest(strings.ToLower(f.Value), known), ""
	if near != "" && f.Field != "patterntype" {
		with = f.Field + ":" + near
	}
	warning := w.warn(f.Span, with, "`%s:` has no value `%s`, %s. It is one of %s.", f.Field, query.Shorten(f.Value), effect, strings.Join(known, ", "))
	if near != "" && f.Field == "patterntype" {
		warning.Proposed = proposal(w.text, patternTypes[near])
	}
}

// predicate warns of a call that is read as a regular expression.
func (w *warner) predicate(f *query.Filter, typed string) {
	m := predicateForm.FindStringSubmatch(f.Value)
	if m == nil {
		return
	}
	name, known := m[1], names[f.Field].predicates
	prefix, _, dotted := strings.Cut(strings.ToLower(name), ".")
	if !dotted && prefix != "has" || !slices.ContainsFunc(known, func(k string) bool { return strings.HasPrefix(k, prefix) }) {
		return
	}
	with := ""
	if near := nearest(strings.ToLower(name), known); near != "" {
		with = f.Field + ":" + near + f.Value[len(name):]
		if f.Negated {
			with = "-" + with
		}
	}
	w.warn(f.Span, with, "`%s:%s` is read as a regular expression: `%s:` has no predicate `%s`.", typed, query.Shorten(f.Value), f.Field, name)
}

// filterNames are those worth proposing, in order.
func filterNames() []string {
	var out []string
	for _, f := range fields() {
		if f.name != "g" && f.name != "rule" {
			out = append(append(out, f.name), f.aliases...)
		}
	}
	return slices.DeleteFunc(out, func(name string) bool { return len(name) < 3 })
}

// nearest returns the first of known that is typed itself or one slip of the
// hand away from it, "" if none is.
func nearest(typed string, known []string) string {
	if slices.Contains(known, typed) {
		return typed
	}
	for _, k := range known {
		if oneSlip(typed, k) {
			return k
		}
	}
	return ""
}

// oneSlip reports whether a becomes b by one byte inserted, left out or replaced,
// or two neighbours swapped.
func oneSlip(a, b string) bool {
	i, j := 0, 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	for j < len(a)-i && j < len(b)-i && a[len(a)-1-j] == b[len(b)-1-j] {
		j++
	}
	x, y := a[i:len(a)-j], b[i:len(b)-j]
	return len(x)+len(y) > 0 && len(x) <= 1 && len(y) <= 1 || len(x) == 2 && len(y) == 2 && x[0] == y[1] && x[1] == y[0]
}
