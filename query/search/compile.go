package search

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/match"
	"github.com/trawlsearch/trawl/query/owners"
	"github.com/trawlsearch/trawl/store/lang"
)

// basic is a basic query made ready to run.
type basic struct {
	query.Basic
	caseSensitive bool
	// limit is the count limit, timeout 0 when the query names none.
	limit   int
	counted bool
	timeout time.Duration
	sel     []string

	// content and path say what of a document patterns are tried against, docs
	// whether documents are searched at all, repos whether names are. symbols
	// says that patterns are tried against names of symbols, and nothing else.
	content, path, docs, repos, symbols bool

	tree  tree
	atoms []*atom
	// patterns is the tree without what filters add to it.
	patterns tree
	// commits is set for a search of commits, which does nothing else.
	commits *commitQuery
	paths   []pathFilter
	// phrase is the keyword phrase that ranks higher, folded unless
	// caseSensitive; phraseMatcher is set when it is more than one pattern.
	phrase        string
	phraseMatcher *match.Matcher
	// names are the words of the patterns that may be names of definitions.
	names []term
	// order is that in which the lists of atoms are read.
	order []nextAtom
	// share is what one pattern counts of a document's points.
	share float64

	// fileTests ask repositories for files; descriptions show where a
	// description was asked for.
	fileTests    []fileTest
	commitAfter  *commitAfter
	descriptions []*regexp.Regexp
	// owned ask for owners by the rules at each revision, which are read before
	// the first document.
	owned []ownedFilter
	// contributors ask for authors of commits, whose paths are read before the
	// first document.
	contributors []*contributorFilter
	rules        map[revisionKey]*owners.Rules

	// targets are the repositories to search, leftOut the forks and archived
	// ones that would be, had the query asked for them.
	targets, leftOut map[uint32]*target
	// revSpecs are the revisions to search of each, revsSaid tells that some were
	// typed; index is what index: asks.
	revSpecs []revSpec
	revsSaid bool
	index    query.YesNoOnly
}

// atom is a pattern made ready to run.
type atom struct {
	*match.Matcher
	pattern *query.Pattern
	// contentOnly says that the pattern was written content:.
	contentOnly bool
	negated     bool
	// owner and member are the parts of a literal that is a qualified name.
	owner, member string
	// words are those of a literal.
	words []string
	// silent says that the atom only has to hold, by content whatever the type:
	// filters say: it came from file:has.content and shows nowhere.
	silent bool
}

// text is what a literal looks for, empty for a regexp.
func (a *atom) text() string {
	if a.pattern.IsRegexp {
		return ""
	}
	return a.pattern.Value
}

// pathFilter is a file: or lang: filter.
type pathFilter struct {
	*match.Matcher
	// quick, if set, decides instead of the Matcher.
	quick   func(path string) bool
	negated bool
}

// hasSpans reports whether the filter matches a part of the paths it holds for.
func (f *pathFilter) hasSpans() bool { return !f.negated && f.quick == nil }

func (f *pathFilter) holds(path string) bool {
	if f.quick != nil {
		return f.quick(path) != f.negated
	}
	_, found := f.Short(nil, path)
	return found != f.negated
}

// supported are the fields that are searched with; others are refused, not
// ignored.
var supported = []string{"repo", "file", "lang", "case", "type", "content", "count", "patterntype", "select",
	"timeout", "archived", "fork", "context", "visibility", "index", "rev", "repohasfile", "repohascommitafter",
	"author", "committer", "message", "before", "after"}

// predicates are those that are searched with, by field.
var predicates = map[string][]string{
	"repo": {
		"has.path", "contains.path", "has.content", "contains.content", "has.file", "contains.file", "contains",
		"has.commit.after", "contains.commit.after", "has.description", "has.topic", "has.tag", "has.key", "has.meta", "has",
	},
	"file": {"has.content", "contains.content", "has.owner", "has.contributor"},
}

// unsupported returns the error for a part of the query that cannot be
// searched, or nil.
func unsupported(b query.Basic) error {
	for _, f := range b.Filters {
		switch {
		case !slices.Contains(supported, f.Field):
			return &query.SyntaxError{Message: fmt.Sprintf("unrecognized field %q", f.Field), Span: f.Span,
				Hint: "this filter is not supported: remove it"}
		case f.Predicate != nil && !slices.Contains(predicates[f.Field], f.Predicate.Name):
			return &query.SyntaxError{Message: fmt.Sprintf("unrecognized predicate %q", f.Field+":"+f.Predicate.Name), Span: f.Span,
				Hint: "this predicate is not supported: remove it"}
		}
	}
	return nil
}

// compile makes b ready, except for its repositories.
func compile(b query.Basic, defaultCount int) (*basic, error) {
	if err := unsupported(b); err != nil {
		return nil, err
	}
	out := &basic{Basic: b, limit: defaultCount, index: query.Yes}
	var err error
	if v := b.Value("index"); v != "" {
		if out.index, err = query.ParseYesNoOnly(v); err != nil {
			return nil, err
		}
	}
	if v := b.Value("case"); v != "" {
		if out.caseSensitive, err = query.ParseBool(v); err != nil {
			return nil, err
		}
	}
	if v := b.Value("count"); v != "" {
		out.counted = true
		if out.limit, err = query.ParseCount(v); err != nil {
			return nil, err
		}
	}
	if v := b.Value("timeout"); v != "" {
		if out.timeout, err = query.ParseTimeout(v); err != nil {
			return nil, err
		}
		out.timeout = max(out.timeout, 1)
	}
	if v := b.Value("select"); v != "" {
		if out.sel, err = query.ParseSelect(v); err != nil {
			return nil, err
		}
	}
	if err := out.compilePaths(); err != nil {
		return nil, err
	}
	if err := out.compileRepoTests(); err != nil {
		return nil, err
	}
	if b.Pattern != nil {
		if out.tree, err = out.compileTree(b.Pattern, false); err != nil {
			return nil, err
		}
		out.tree = simplify(out.tree)
	}
	out.patterns = out.tree
	if err := out.requireContent(); err != nil {
		return nil, err
	}
	if err := out.compilePhrase(); err != nil {
		return nil, err
	}
	out.share = 1 / float64(max(out.asked(), 1))
	out.names = out.terms()
	out.order = out.readingOrder()
	out.chooseTypes()
	return out, nil
}

func (b *basic) compilePaths() error {
	for _, f := range b.Filters {
		pf := pathFilter{negated: f.Negated}
		var err error
		switch {
		case f.Predicate != nil:
			if f.Field == "file" && f.Predicate.Name == "has.owner" {
				b.owned = append(b.owned, ownedFilter{strings.TrimSpace(f.Predicate.Arg), f.Negated})
			}
			if f.Field == "file" && f.Predicate.Name == "has.contributor" {
				c, err := newContributorFilter(f, b.caseSensitive)
				if err != nil {
					return err
				}
				b.contributors = append(b.contributors, c)
			}
			continue
		case f.Field == "file":
			pf.Matcher, err = match.Compile(f.Value, true, b.caseSensitive)
		case f.Field == "lang":
			name, ok := lang.Lookup(f.Value)
			if !ok {
				return &query.SyntaxError{Message: fmt.Sprintf("unknown language: %q", f.Value), Span: f.Span}
			}
			pf.quick = lang.Matcher(name)
			pf.Matcher, err = match.Compile(lang.FilePattern(name), true, false)
		default:
			continue
		}
		if err != nil {
			return &query.SyntaxError{Message: err.Error(), Span: f.Span}
		}
		b.paths = append(b.paths, pf)
	}
	// Cheap filters first.
	slices.SortStableFunc(b.paths, func(x, y pathFilter) int {
		return cost(x) - cost(y)
	})
	return nil
}

// requireContent joins the regexps of file:has.content to the tree.
func (b *basic) requireContent() error {
	for _, f := range b.Values("file") {
		if f.Predicate == nil || f.Predicate.Name == "has.owner" || f.Predicate.Name == "has.contributor" {
			continue
		}
		m, err := match.Compile(f.Predicate.Arg, true, b.caseSensitive)
		if err != nil {
			return &query.SyntaxError{Message: err.Error(), Span: f.Span}
		}
		b.atoms = append(b.atoms, &atom{
			Matcher: m, pattern: &query.Pattern{Value: f.Predicate.Arg, IsRegexp: true, FromContent: true, Span: f.Span},
			contentOnly: true, silent: true,
		})
		kids := []tree{leaf(len(b.atoms) - 1)}
		if b.tree != nil {
			kids = append(kids, b.tree)
		}
		b.tree = simplify(&and{kids})
	}
	return nil
}

// compilePhrase makes the phrase ready; one that is the pattern itself says
// nothing about where it stands.
func (b *basic) compilePhrase() error {
	if b.Phrase == "" || b.asked() < 2 {
		return nil
	}
	m, err := match.Compile(b.Phrase, false, b.caseSensitive)
	if err != nil {
		return err
	}
	b.phrase, b.phraseMatcher = b.Phrase, m
	if !b.caseSensitive {
		b.phrase = strings.ToLower(b.phrase)
	}
	return nil
}

func (b *basic) compileRepoTests() (err error) {
	for _, f := range b.Filters {
		t, ok, err := newFileTest(f, b.caseSensitive)
		if err != nil {
			return err
		}
		if ok {
			b.fileTests = append(b.fileTests, t)
		}
	}
	b.descriptions, err = descriptions(b.Basic)
	return err
}

func cost(f pathFilter) int {
	if f.quick != nil {
		return 0
	}
	return 1
}

func (b *basic) compileTree(n query.Node, negated bool) (tree, error) {
	switch n := n.(type) {
	case query.Const:
		return constant(n), nil
	case *query.And, *query.Or:
		_, isAnd := n.(*query.And)
		var nodes []query.Node
		if a, ok := n.(*query.And); ok {
			nodes = a.Children
		} else {
			nodes = n.(*query.Or).Children
		}
		kids := make([]tree, len(nodes))
		for i, c := range nodes {
			var err error
			if kids[i], err = b.compileTree(c, negated); err != nil {
				return nil, err
			}
		}
		if isAnd {
			return &and{kids}, nil
		}
		return &or{kids}, nil
	case *query.Not:
		kid, err := b.compileTree(n.Child, !negated)
		return &not{kid}, err
	case *query.Pattern:
		if n.Value == "" && !n.IsRegexp {
			return constant(true), nil
		}
		m, err := match.Compile(n.Value, n.IsRegexp, b.caseSensitive)
		if err != nil {
			return nil, &query.SyntaxError{Message: err.Error(), Span: n.Span}
		}
		a := &atom{Matcher: m, pattern: n, contentOnly: n.FromContent, negated: negated}
		a.owner, a.member = qualified(a.text())
		a.words = nameWords(nil, a.text())
		b.atoms = append(b.atoms, a)
		return leaf(len(b.atoms) - 1), nil
	}
	return nil, fmt.Errorf("unknown node %v", n)
}

// chooseTypes decides which searches b starts from its type: filters, its
// patterns and its other filters.
func (b *basic) chooseTypes() {
	types := b.Values("type")
	hasFile := len(b.paths)+len(b.owned)+len(b.contributors) > 0
	onlyContent := b.onlyContent()
	if len(types) == 0 {
		b.content, b.path = true, !onlyContent
		b.docs = b.tree != nil || hasFile
		b.repos = !onlyContent
	}
	for _, t := range types {
		switch t.Value {
		case "file":
			b.content = true
		case "path":
			b.path = true
		case "repo":
			b.repos = true
		case "symbol":
			b.symbols = true
		}
		b.docs = b.docs || (t.Value == "file" || t.Value == "path") && (b.tree != nil || hasFile)
	}
	b.repos = b.repos && !slices.ContainsFunc(b.Filters, func(f query.Filter) bool {
		return !slices.Contains(repoOnly, f.Field)
	})
}

// onlyContent reports whether every pattern was written content:.
func (b *basic) onlyContent() bool {
	n := 0
	for _, a := range b.atoms {
		switch {
		case a.silent:
		case !a.contentOnly:
			return false
		default:
			n++
		}
	}
	return n > 0
}

// repoOnly are the filters under which repository names are searched.
var repoOnly = []string{"repo", "rev", "context", "type", "index", "count", "timeout", "fork", "archived", "visibility",
	"case", "patterntype", "select", "repohasfile", "repohascommitafter"}

// sameShape reports whether the documents of a and b can be confirmed in one
// pass and answered together; a search of commits is a pass of its own.
func sameShape(a, b *basic) bool {
	return a.commits == nil && b.commits == nil && a.limit == b.limit && slices.Equal(a.sel, b.sel)
}

// described returns what prints the plan for traces, and keeps no more of b than
// its patterns.
func (b *basic) described() func() string {
	whole, patterns, needs := b.Basic, make([]*query.Pattern, len(b.atoms)), make([]postings.Expr, len(b.atoms))
	for i, a := range b.atoms {
		patterns[i], needs[i] = a.pattern, a.Expr
	}
	return func() string {
		var parts []string
		for i, p := range patterns {
			parts = append(parts, strconv.Itoa(i)+" "+p.String()+" needs "+needs[i].String())
		}
		return whole.String() + " [" + strings.Join(parts, "; ") + "]"
	}
}

// countsMatches reports whether each match in a text counts, and not the text or
// its repository alone.
func (b *basic) countsMatches() bool {
	return b.sel == nil || b.sel[0] != "repo" && b.sel[0] != "file"
}

// pathExpr is what the path lists can say about the path filters.
func (b *basic) pathExpr() postings.Expr {
	var parts []postings.Expr
	for _, f := range b.paths {
		if f.hasSpans() {
			parts = append(parts, f.Expr)
		}
	}
	return postings.NewAnd(parts...)
}
