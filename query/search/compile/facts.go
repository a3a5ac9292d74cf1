package compile

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/syntax"
	"github.com/trawlsearch/trawl/store"
)

// factTest is a predicate on what is known about a repository besides its
// files.
type factTest func(*store.Repository) bool

// newFactTest returns nil for a predicate that is not about facts. Parsing the
// query has judged the argument.
func newFactTest(f query.Filter) (factTest, error) {
	arg := f.Predicate.Arg
	var test factTest
	switch f.Predicate.Name {
	case "has.description":
		re, err := regexp.Compile(syntax.DescriptionRegexp(arg))
		if err != nil {
			return nil, &query.SyntaxError{Message: err.Error(), Span: f.Span}
		}
		test = func(r *store.Repository) bool { return re.MatchString(r.Description) }
	case "has.topic":
		test = func(r *store.Repository) bool { return slices.Contains(r.Topics, arg) }
	case "has.key":
		test = func(r *store.Repository) bool {
			_, ok := r.Metadata[arg]
			return ok
		}
	case "has.tag":
		test = func(r *store.Repository) bool {
			value, ok := r.Metadata[arg]
			return ok && value == nil
		}
	case "has.meta", "has":
		var err error
		if test, err = newMetaTest(*f.Predicate); err != nil {
			return nil, &query.SyntaxError{Message: err.Error(), Span: f.Span}
		}
	default:
		return nil, nil
	}
	if f.Negated {
		return func(r *store.Repository) bool { return !test(r) }, nil
	}
	return test, nil
}

// newMetaTest tests one key and its value together: with a regexp for the key,
// the same key must have the value.
func newMetaTest(p query.Predicate) (factTest, error) {
	meta, err := syntax.ParseMeta(p)
	if err != nil {
		return nil, err
	}
	key, err := newTextTest(meta.Key)
	if err != nil {
		return nil, err
	}
	value := func(v *string) bool { return !meta.NoValue || v == nil }
	if meta.Value != nil {
		text, err := newTextTest(*meta.Value)
		if err != nil {
			return nil, err
		}
		value = func(v *string) bool { return v != nil && text(*v) }
	}
	return func(r *store.Repository) bool {
		for k, v := range r.Metadata {
			if key(k) && value(v) {
				return true
			}
		}
		return false
	}, nil
}

func newTextTest(t syntax.MetaText) (func(string) bool, error) {
	if !t.IsRegexp {
		return func(s string) bool { return s == t.Text }, nil
	}
	re, err := regexp.Compile(t.Text)
	if err != nil {
		return nil, fmt.Errorf("metadata %q: %w", t.Text, err)
	}
	return re.MatchString, nil
}

// descriptions are the regexps whose matches a repository shows in its
// description.
func descriptions(b query.Basic) ([]*regexp.Regexp, error) {
	var out []*regexp.Regexp
	for _, f := range b.Values("repo") {
		if f.Predicate == nil || f.Predicate.Name != "has.description" {
			continue
		}
		re, err := regexp.Compile(syntax.DescriptionRegexp(f.Predicate.Arg))
		if err != nil {
			return nil, &query.SyntaxError{Message: err.Error(), Span: f.Span}
		}
		out = append(out, re)
	}
	return out, nil
}
