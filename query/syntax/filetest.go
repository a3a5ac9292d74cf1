package syntax

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/trawlsearch/trawl/query"
)

// FileTest is what has.file asks of a single file. A side that is not asked
// for is empty.
type FileTest struct{ Path, Content string }

// fileOptions are the words of a file test: the option for the path has
// another name in the older spelling, where it also cannot stand alone.
type fileOptions struct{ path, badRegexp, negated string }

// ParseFileTest reads the argument of has.file, contains.file or contains: a
// small query of the options path: and content:.
func ParseFileTest(p query.Predicate) (FileTest, error) {
	opt := fileOptions{
		path:      "path",
		badRegexp: "`contains.file` predicate has invalid `%s` argument: %w",
		negated:   "predicates do not currently support negated values",
	}
	if p.Name == "contains" {
		opt = fileOptions{
			path:      "file",
			badRegexp: "the repo:contains() predicate has invalid `%s` argument: %w",
			negated:   "the repo:contains() predicate does not currently support negated values",
		}
	}
	if strings.TrimSpace(p.Arg) == "" {
		return FileTest{}, fmt.Errorf("one of %s or content must be set", opt.path)
	}
	t, err := parseTree(p.Arg, query.Regexp)
	if err != nil {
		return FileTest{}, err
	}
	if hasOr(t.root) {
		return FileTest{}, errors.New("predicates do not currently support 'or' queries")
	}
	return opt.read(leaves(t.root, nil))
}

func (o fileOptions) read(all []*leaf) (FileTest, error) {
	test := FileTest{}
	for _, l := range all {
		switch {
		case l.negated || l.filter != nil && l.filter.Negated:
			return test, errors.New(o.negated)
		case l.pattern != nil && (len(all) > 1 || o.path == "file"):
			return test, bareBesideOptions(l.pattern.Value)
		case l.pattern != nil:
			return test, o.set(&test.Path, o.path, bare(l.pattern))
		}
		var err error
		switch name := strings.ToLower(l.typed); name {
		case o.path:
			err = o.set(&test.Path, name, l.filter.Value)
		case "content":
			err = o.set(&test.Content, name, l.filter.Value)
		default:
			err = fmt.Errorf("unsupported option %q", name)
		}
		if err != nil {
			return test, err
		}
	}
	if test == (FileTest{}) {
		return test, fmt.Errorf("one of %s or content must be set", o.path)
	}
	return test, nil
}

func (o fileOptions) set(side *string, name, re string) error {
	if *side != "" {
		return fmt.Errorf("cannot specify %s multiple times", name)
	}
	*side = re
	if err := compiles(re); err != nil {
		return fmt.Errorf(o.badRegexp, name, err)
	}
	return nil
}

func bareBesideOptions(value string) error {
	return &query.SyntaxError{
		Message: fmt.Sprintf("prepend 'file:' or 'content:' to %q to search repositories containing files or content respectively.", value),
		Hint:    "content:" + value,
	}
}

// bare is the regular expression of a term that stands alone.
func bare(p *query.Pattern) string {
	if p.IsRegexp {
		return p.Value
	}
	return regexp.QuoteMeta(p.Value)
}

func hasOr(n node) bool {
	b, ok := n.(*branch)
	if !ok {
		return false
	}
	if b.op == or {
		return true
	}
	for _, k := range b.kids {
		if hasOr(k) {
			return true
		}
	}
	return false
}
