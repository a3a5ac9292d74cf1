package syntax

import (
	"strconv"
	"strings"

	"github.com/trawlsearch/trawl/query"
)

// Parse reads text in pattern type pt, unless a patterntype: filter in it names
// another, and returns the validated union of basic queries. A text of white
// space has none. The error is a *query.SyntaxError, found with errors.As.
func Parse(text string, pt query.PatternType) (*query.Query, error) {
	if len(text) > maxTextBytes {
		return nil, tooLong(text)
	}
	q := &query.Query{Text: text, PatternType: pt}
	if strings.TrimSpace(text) == "" {
		return q, nil
	}
	q.PatternType = effectiveType(text, pt)
	t, err := parseTree(text, q.PatternType)
	if err != nil {
		return nil, err
	}
	root, err := combiner{q.PatternType}.node(hoist(t))
	if err != nil {
		return nil, err
	}
	drafts, err := split(root)
	if err != nil {
		return nil, err
	}
	v := newValidator(q.PatternType)
	for _, d := range drafts {
		b := d.basic()
		spellCounts(b.Filters)
		if err := v.basic(b); err != nil {
			return nil, err
		}
		if b.Filters = v.revisions.copied(b.Filters); v.revisions.bytes > maxCopiedBytes {
			return nil, tooManyBasics()
		}
		if q.PatternType == query.Keyword {
			b.Phrase = phrase(b)
		}
		q.Basics = append(q.Basics, b)
	}
	return q, nil
}

// spellCounts writes the number that count:all stands for.
func spellCounts(filters []query.Filter) {
	for i, f := range filters {
		if f.Field == "count" && strings.EqualFold(f.Value, "all") {
			filters[i].Value = strconv.Itoa(query.CountAll)
		}
	}
}
