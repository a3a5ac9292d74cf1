package complete

import (
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/trawlsearch/trawl/query"
)

// leastNarrow is how many characters the index needs to narrow a search down; mostQuick is the
// count limit of a query that names none, and no more is found while someone types.
const (
	leastNarrow = 3
	mostQuick   = 10_000
)

// quick reports whether a query can be run while it is typed: in each of its parts the
// index narrows down what is read. What is read through git, what searches for something
// else first, and what has no text of three characters is not quick. It errs towards
// false: such a query waits for Enter.
func quick(q *query.Query) bool {
	return len(q.Basics) > 0 && !slices.ContainsFunc(q.Basics, func(b query.Basic) bool {
		return b.Pattern == nil || !narrow(b.Pattern) || slices.ContainsFunc(b.Filters, slow)
	})
}

// slow reports whether a filter has much to be read.
func slow(f query.Filter) bool {
	if f.Predicate != nil {
		return true
	}
	value := strings.ToLower(f.Value)
	switch f.Field {
	case "type":
		return value == "commit" || value == "diff"
	case "index":
		return value != "yes" && value != "only"
	case "repo":
		return strings.Contains(value, "@")
	case "rev":
		return true
	case "count":
		n, err := strconv.Atoi(value)
		return err != nil || n > mostQuick
	}
	return false
}

// narrow reports whether whatever a node matches has a text of three characters that the
// node names.
func narrow(n query.Node) bool {
	switch n := n.(type) {
	case *query.And:
		return slices.ContainsFunc(n.Children, narrow)
	case *query.Or:
		return !slices.ContainsFunc(n.Children, func(c query.Node) bool { return !narrow(c) })
	case *query.Pattern:
		if !n.IsRegexp {
			return utf8.RuneCountInString(n.Value) >= leastNarrow
		}
		tree, err := syntax.Parse(n.Value, syntax.Perl)
		return err == nil && literal(tree)
	}
	return false
}

// literal reports whether every text of a regular expression has the same three
// characters in it, or some of each alternative.
func literal(tree *syntax.Regexp) bool {
	switch tree.Op {
	case syntax.OpLiteral:
		return len(tree.Rune) >= leastNarrow
	case syntax.OpConcat:
		return slices.ContainsFunc(tree.Sub, literal)
	case syntax.OpAlternate:
		return !slices.ContainsFunc(tree.Sub, func(sub *syntax.Regexp) bool { return !literal(sub) })
	case syntax.OpCapture, syntax.OpPlus:
		return literal(tree.Sub[0])
	case syntax.OpRepeat:
		return tree.Min > 0 && literal(tree.Sub[0])
	}
	return false
}
