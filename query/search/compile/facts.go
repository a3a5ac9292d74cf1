package compile

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/match"
	"github.com/trawlsearch/trawl/query/syntax"
	"github.com/trawlsearch/trawl/store"
)

// FactFilter is a predicate on what is known about a repository besides its files.
type FactFilter struct {
	// Negated says that repositories have to fail.
	Negated bool

	test func(*store.Repository) bool
	// find returns those that pass, negated or not; nil if no index has them.
	find func(*store.FactIndex) *store.IDs
}

// Find returns the repositories that pass, negated or not. ok is false if the index does
// not have them.
func (f *FactFilter) Find(index *store.FactIndex) (passed *store.IDs, ok bool) {
	if f.find == nil {
		return nil, false
	}
	return f.find(index), true
}

// newFactFilter returns one without a test for a predicate that is not about facts.
// Parsing the query has judged the argument.
func newFactFilter(f query.Filter) (FactFilter, error) {
	out := FactFilter{Negated: f.Negated}
	arg := f.Predicate.Arg
	switch f.Predicate.Name {
	case "has.description":
		text := syntax.DescriptionRegexp(arg)
		re, err := regexp.Compile(text)
		if err != nil {
			return out, &query.SyntaxError{Message: err.Error(), Span: f.Span}
		}
		out.test = func(r *store.Repository) bool { return re.MatchString(r.Description) }
		if lines, err := match.CompileLines(text, true, true); err == nil && !re.MatchString("") {
			out.find = func(index *store.FactIndex) *store.IDs { return index.Description(lines, re) }
		}
	case "has.topic":
		out.test = func(r *store.Repository) bool { return slices.Contains(r.Topics, arg) }
		out.find = func(index *store.FactIndex) *store.IDs { return index.Topic(arg) }
	case "has.key":
		out.setMetadata(func(key string, _ *string) bool { return key == arg })
	case "has.tag":
		out.setMetadata(func(key string, value *string) bool { return key == arg && value == nil })
	case "has.meta", "has":
		test, err := newMetaTest(*f.Predicate)
		if err != nil {
			return out, &query.SyntaxError{Message: err.Error(), Span: f.Span}
		}
		out.setMetadata(test)
	}
	return out, nil
}

// setMetadata has the filter ask for a key and its value together.
func (f *FactFilter) setMetadata(test func(key string, value *string) bool) {
	f.test = func(r *store.Repository) bool {
		for k, v := range r.Metadata {
			if test(k, v) {
				return true
			}
		}
		return false
	}
	f.find = func(index *store.FactIndex) *store.IDs { return index.Metadata(test) }
}

// newMetaTest tests one key and its value together: with a regexp for the key,
// the same key must have the value.
func newMetaTest(p query.Predicate) (func(key string, value *string) bool, error) {
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
	return func(k string, v *string) bool { return key(k) && value(v) }, nil
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
