package syntax

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/trawlsearch/trawl/query"
)

// Parse reads text in pattern type pt, unless a patterntype: filter in it names
// another, and returns the validated union of basic queries. A text of white
// space has none. The error is a *query.SyntaxError, found with errors.As.
//
// Parts of the text that may have been meant otherwise are the query's Warnings.
func Parse(text string, pt query.PatternType) (*query.Query, error) {
	q, t, err := parse(text, pt)
	if err != nil {
		return nil, proposed(err, text, pt)
	}
	if t.root != nil {
		q.Warnings = warnings(text, q.PatternType, t)
	}
	return q, nil
}

// parse returns the query and the tree it was made of.
func parse(text string, pt query.PatternType) (*query.Query, tree, error) {
	if len(text) > maxTextBytes {
		return nil, tree{}, tooLong(text)
	}
	q := &query.Query{Text: text, PatternType: pt}
	if strings.TrimSpace(text) == "" {
		return q, tree{}, nil
	}
	q.PatternType = effectiveType(text, pt)
	t, err := parseTree(text, q.PatternType)
	if err != nil {
		return nil, t, err
	}
	q.Basics, err = basics(t, q.PatternType)
	return q, t, err
}

// basics returns the validated basic queries of a tree.
func basics(t tree, pt query.PatternType) ([]query.Basic, error) {
	root, err := combiner{pt}.node(hoist(t))
	if err != nil {
		return nil, err
	}
	drafts, err := split(root)
	if err != nil {
		return nil, err
	}
	var out []query.Basic
	v := newValidator(pt)
	for _, d := range drafts {
		b := d.basic()
		spellCounts(b.Filters)
		if err := v.filters(b.Filters); err != nil {
			return nil, err
		}
		b.Filters = lastOnes(b.Filters)
		if err := v.basic(b); err != nil {
			return nil, err
		}
		if b.Filters = v.revisions.copied(b.Filters); v.revisions.bytes > maxCopiedBytes {
			return nil, tooManyBasics()
		}
		if pt == query.Keyword {
			b.Phrase = phrase(b)
		}
		out = append(out, b)
	}
	return out, nil
}

// proposed adds the mended text to an error that knows how to mend it.
func proposed(err error, text string, pt query.PatternType) error {
	var e *query.SyntaxError
	if !errors.As(err, &e) || len(text) > maxWarnedBytes {
		return err
	}
	pt = effectiveType(text, pt)
	switch {
	case errors.Is(err, errGroupBesideTerm):
		e.Proposed = proposal(InType(text, query.Keyword), query.Keyword)
	case errors.Is(err, errUnopened):
		e.Proposed = withoutUnopened(text, pt)
	case e.Fix != "":
		e.Proposed = proposal(text[:e.Span.Start]+e.Fix+text[e.Span.End:], pt)
	}
	return err
}

// withoutUnopened proposes text without the parentheses that close nothing, "" if
// no operator shows that they were to group: they may be part of a pattern.
func withoutUnopened(text string, pt query.PatternType) string {
	for {
		_, t, err := parse(text, pt)
		var e *query.SyntaxError
		switch {
		case err == nil && hasOperator(t.root):
			return proposal(text, pt)
		case !errors.Is(err, errUnopened) || !errors.As(err, &e):
			return ""
		}
		text = together(text[:e.Span.Start], text[e.Span.End:])
	}
}

// lastOnes returns filters without those that a later one stands in for.
func lastOnes(filters []query.Filter) []query.Filter {
	last := map[string]int{}
	for _, f := range filters {
		if names[f.Field].lastCounts {
			last[f.Field] = max(last[f.Field], f.Span.Start)
		}
	}
	return slices.DeleteFunc(filters, func(f query.Filter) bool {
		return names[f.Field].lastCounts && f.Span.Start < last[f.Field]
	})
}

// spellCounts writes the number that count:all stands for.
func spellCounts(filters []query.Filter) {
	for i, f := range filters {
		if f.Field == "count" && strings.EqualFold(f.Value, "all") {
			filters[i].Value = strconv.Itoa(query.CountAll)
		}
	}
}
