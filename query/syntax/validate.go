package syntax

import (
	"errors"
	"fmt"
	"regexp"
	resyntax "regexp/syntax"
	"unicode/utf8"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/date"
	"github.com/trawlsearch/trawl/query/plan"
	"github.com/trawlsearch/trawl/store/lang"
)

// validator checks basic queries one after the other. It checks each node once:
// the basic queries of a union share most of their filters and patterns.
type validator struct {
	pt        query.PatternType
	revisions revisions
	// values holds the start of every filter whose value is good.
	values   map[int]bool
	patterns map[*query.Pattern]bool
	// size is that of the programs of all regular expressions.
	size int
}

func newValidator(pt query.PatternType) *validator {
	return &validator{
		pt:        pt,
		revisions: revisions{values: map[revKey]string{}},
		values:    map[int]bool{},
		patterns:  map[*query.Pattern]bool{},
	}
}

// filters returns the first thing wrong with the filters of a basic query.
func (v *validator) filters(filters []query.Filter) error {
	seen := map[string]bool{}
	for _, f := range filters {
		if err := v.filter(f, seen[f.Field]); err != nil {
			return located(err, f.Span)
		}
		seen[f.Field] = true
	}
	return nil
}

// basic returns the first thing wrong with the patterns of b, or with how they
// and the filters go together.
func (v *validator) basic(b query.Basic) error {
	if err := v.expression(b.Pattern); err != nil {
		return err
	}
	return crossCheck(b, v.pt)
}

func (v *validator) filter(f query.Filter, again bool) error {
	field := names[f.Field]
	if field.singular && again {
		return &query.SyntaxError{
			Message: fmt.Sprintf("field %q may not be used more than once", f.Field),
			Hint:    fmt.Sprintf("remove %s", f),
		}
	}
	sign := field.sign(f)
	if sign != nil && field.signFirst {
		return sign
	}
	if !v.values[f.Span.Start] {
		if err := checkValue(f); err != nil {
			return fixed(err, func(value string) string {
				return formatFilter(query.Filter{Field: f.Field, Negated: f.Negated, Value: value})
			})
		}
		text := f.Value
		if f.Predicate != nil {
			text = f.Predicate.Arg
		}
		if err := v.weigh(text); err != nil {
			return err
		}
		v.values[f.Span.Start] = true
	}
	return sign
}

// sign refuses a "-" or NOT before a field that cannot be turned round.
func (fd *field) sign(f query.Filter) error {
	if !f.Negated || fd.negatable {
		return nil
	}
	f.Negated = false
	return &query.SyntaxError{
		Message: fmt.Sprintf("field %q does not support negation", f.Field),
		Hint:    f.String(),
	}
}

// checkValue judges the value of a filter by itself.
func checkValue(f query.Filter) error {
	if f.Predicate != nil {
		return checkPredicate(f)
	}
	switch f.Field {
	case "repo":
		return checkRepo(f)
	case "file", "repohasfile", "author", "committer", "message":
		return checkRegexp(f.Value, f.Field+":")
	case "lang":
		return checkLanguage(f.Value)
	case "case":
		_, err := query.ParseBool(f.Value)
		return hinted(err, "case:yes")
	case "count":
		_, err := query.ParseCount(f.Value)
		return hinted(err, "count:1000 or count:all")
	case "timeout":
		_, err := query.ParseTimeout(f.Value)
		return hinted(err, "timeout:30s")
	case "fork", "archived", "index":
		if _, err := query.ParseYesNoOnly(f.Value); err != nil {
			err = fmt.Errorf("invalid value %q for field %q. Valid values are: yes, only, no", f.Value, f.Field)
			return hinted(err, f.Field+":yes")
		}
	case "select":
		_, err := query.ParseSelect(f.Value)
		return hinted(err, "select one of repo, file, file.path, file.directory, file.owners, content, symbol, commit")
	case "before", "after":
		if !date.Valid(f.Value) {
			return hinted(date.ErrFormat, f.Field+`:2024-01-31 or `+f.Field+`:"2 weeks ago"`)
		}
	case "repohascommitafter":
		return dated("repohascommitafter: ", f.Value, "repohascommitafter:2024-01-31")
	case "rev":
		if len(f.Value) > maxRevBytes {
			return revTooLong(f.Span)
		}
	case "g":
		return hinted(errors.New(`unrecognized field "g"`), "repo:regexp")
	}
	return nil
}

// checkRepo compiles the name. A negated value is a name as a whole, since
// leaving out single revisions means nothing.
func checkRepo(f query.Filter) error {
	name, revs := f.Value, []string(nil)
	if !f.Negated {
		name, revs, _ = query.SplitRepoRevs(f.Value)
	}
	if err := checkRegexp(name, "repo:"); err != nil {
		return fixed(err, func(re string) string { return re + f.Value[len(name):] })
	}
	for _, rev := range revs {
		if when, _, ok := query.ParseAtTime(rev); ok && !date.Valid(when) {
			return hinted(date.ErrFormat, "rev:at.time(2024-01-31)")
		}
	}
	return nil
}

// dated says where a text that is no date stands, since the text itself may be
// anything.
func dated(prefix, value, hint string) error {
	if date.Valid(value) {
		return nil
	}
	return hinted(wrapped(prefix, date.ErrFormat), hint)
}

func checkLanguage(value string) error {
	if _, ok := lang.Lookup(value); ok {
		return nil
	}
	hint, fix := languageHint(value)
	return &query.SyntaxError{Message: fmt.Sprintf("unknown language: %q", value), Hint: hint, Fix: fix}
}

// expression compiles the patterns of n that are regular expressions.
func (v *validator) expression(n query.Node) error {
	var first error
	query.VisitPatterns(n, func(p *query.Pattern, negated bool) {
		if first == nil && !v.patterns[p] {
			first = located(v.pattern(p, negated), p.Span)
			v.patterns[p] = first == nil
		}
	})
	return first
}

func (v *validator) pattern(p *query.Pattern, negated bool) error {
	switch {
	case v.pt == query.Structural && negated:
		return &query.SyntaxError{
			Message: "the query contains a negated search pattern. Structural search does not support negated search patterns at the moment",
		}
	case !p.IsRegexp:
		return nil
	}
	if err := checkRegexp(p.Value, ""); err != nil {
		return fixed(err, func(re string) string {
			if p.FromContent {
				return formatFilter(query.Filter{Field: "content", Negated: negated, Value: re})
			}
			if negated {
				return "not " + escapeRegexp(re)
			}
			return escapeRegexp(re)
		})
	}
	return v.weigh(p.Value)
}

// fixed writes the Fix of a value as the part of the query that has it.
func fixed(err error, write func(value string) string) error {
	var e *query.SyntaxError
	if errors.As(err, &e) && e.Fix != "" {
		e.Fix = write(e.Fix)
	}
	return err
}

// weigh adds a regular expression to what the query takes. Text that is none
// takes nothing.
func (v *validator) weigh(re string) error {
	t := &resyntax.Regexp{Op: resyntax.OpLiteral}
	if regexp.QuoteMeta(re) == re && utf8.ValidString(re) {
		t.Rune = []rune(re) // as most are
	} else {
		var err error
		if t, err = resyntax.Parse(re, resyntax.Perl); err != nil {
			return nil
		}
	}
	size, height := plan.Size(t)
	if height > plan.MaxHeight {
		return patternTooDeep()
	}
	if v.size += size; v.size > maxProgram {
		return tooManyRepetitions()
	}
	return nil
}

// checkRegexp compiles re. prefix is what stands before it in the query.
func checkRegexp(re, prefix string) error {
	_, err := resyntax.Parse(re, resyntax.Perl)
	if err == nil {
		return nil
	}
	hint, fix := regexpHint(re, prefix, err)
	return &query.SyntaxError{Message: err.Error(), Hint: hint, Fix: fix}
}

// hinted makes a SyntaxError of err, if it is one.
func hinted(err error, hint string) error {
	if err == nil {
		return nil
	}
	return &query.SyntaxError{Message: err.Error(), Hint: hint}
}

// located gives an error without a place the place at.
func located(err error, at query.Span) error {
	var e *query.SyntaxError
	if errors.As(err, &e) && e.Span == (query.Span{}) {
		e.Span = at
	}
	return err
}
