package compile

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/match"
	"github.com/trawlsearch/trawl/query/search/ident"
	"github.com/trawlsearch/trawl/store/lang"
)

// unsupported returns the error for a field that the parser knows and the search does
// not, or nil: such a filter is refused, not ignored.
func unsupported(b query.Basic) error {
	for _, f := range b.Filters {
		if f.Field == "rule" || f.Field == "g" {
			return &query.SyntaxError{Message: fmt.Sprintf("unrecognized field %q", f.Field), Span: f.Span,
				Hint: "this filter is not supported: remove it"}
		}
	}
	return nil
}

// Options are what a query means besides its text.
type Options struct {
	// DefaultCount is the count limit of a query that names none.
	DefaultCount int
	// Now is what dates are counted from.
	Now time.Time
	// Addresses returns the verified addresses of a user by their name, for
	// author:@name; nil knows no users.
	Addresses func(name string) []string
}

// Compile makes b ready to run, as the searches it stands for.
func Compile(b query.Basic, o Options) ([]*Query, error) {
	out, err := compileWhole(b, o)
	if err != nil {
		return nil, err
	}
	return out.split(), nil
}

func compileWhole(b query.Basic, o Options) (*Query, error) {
	if err := unsupported(b); err != nil {
		return nil, err
	}
	out := &Query{Basic: b, Limit: o.DefaultCount, Index: query.Yes}
	var err error
	if v := b.Value("index"); v != "" {
		if out.Index, err = query.ParseYesNoOnly(v); err != nil {
			return nil, err
		}
	}
	if v := b.Value("case"); v != "" {
		if out.CaseSensitive, err = query.ParseBool(v); err != nil {
			return nil, err
		}
	}
	if v := b.Value("count"); v != "" {
		out.Counted = true
		if out.Limit, err = query.ParseCount(v); err != nil {
			return nil, err
		}
	}
	if v := b.Value("timeout"); v != "" {
		if out.Timeout, err = query.ParseTimeout(v); err != nil {
			return nil, err
		}
		out.Timeout = max(out.Timeout, 1)
	}
	if v := b.Value("select"); v != "" {
		if out.Select, err = query.ParseSelect(v); err != nil {
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
		if out.Tree, err = out.compileTree(b.Pattern, false); err != nil {
			return nil, err
		}
		out.Tree = simplify(out.Tree)
	}
	out.Patterns = out.Tree
	if err := out.requireContent(); err != nil {
		return nil, err
	}
	if err := out.compilePhrase(); err != nil {
		return nil, err
	}
	out.Share = 1 / float64(max(out.AskedPatterns(), 1))
	out.Terms = out.terms()
	out.Order = out.readingOrder()
	out.chooseTypes()
	if out.Commits, err = newCommitQuery(out, o.Now, o.Addresses); err != nil {
		return nil, err
	}
	if out.CommitAfter, err = newCommitAfter(b, o.Now); err != nil {
		return nil, err
	}
	if name := b.Value("context"); name != "" && name != "global" {
		return nil, &query.ContextError{Name: name}
	}
	if out.RepositoryFilter, err = newRepoFilter(b, o.Now); err != nil {
		return nil, err
	}
	out.Revisions, out.RevisionsTyped = out.RepositoryFilter.specs()
	return out, nil
}

func (q *Query) compilePaths() error {
	for _, f := range q.Filters {
		pf := PathFilter{Negated: f.Negated}
		var err error
		switch {
		case f.Predicate != nil:
			if f.Field == "file" && f.Predicate.Name == "has.owner" {
				q.Owners = append(q.Owners, OwnerFilter{strings.TrimSpace(f.Predicate.Arg), f.Negated})
			}
			if f.Field == "file" && f.Predicate.Name == "has.contributor" {
				c, err := newContributorFilter(f, q.CaseSensitive)
				if err != nil {
					return err
				}
				q.Contributors = append(q.Contributors, c)
			}
			continue
		case f.Field == "file":
			pf.Matcher, err = match.Compile(f.Value, true, q.CaseSensitive)
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
		q.Paths = append(q.Paths, pf)
	}
	// Cheap filters first.
	slices.SortStableFunc(q.Paths, func(x, y PathFilter) int {
		return cost(x) - cost(y)
	})
	return nil
}

// requireContent joins the regexps of file:has.content to the tree.
func (q *Query) requireContent() error {
	for _, f := range q.Values("file") {
		if f.Predicate == nil || f.Predicate.Name == "has.owner" || f.Predicate.Name == "has.contributor" {
			continue
		}
		m, err := match.Compile(f.Predicate.Arg, true, q.CaseSensitive)
		if err != nil {
			return &query.SyntaxError{Message: err.Error(), Span: f.Span}
		}
		q.Atoms = append(q.Atoms, &Atom{
			Matcher: m, Pattern: &query.Pattern{Value: f.Predicate.Arg, IsRegexp: true, FromContent: true, Span: f.Span},
			ContentOnly: true, Silent: true,
		})
		kids := []Tree{Leaf(len(q.Atoms) - 1)}
		if q.Tree != nil {
			kids = append(kids, q.Tree)
		}
		q.Tree = simplify(&And{kids})
	}
	return nil
}

// compilePhrase makes the phrase ready; one that is the pattern itself says
// nothing about where it stands.
func (q *Query) compilePhrase() error {
	if q.Phrase == "" || q.AskedPatterns() < 2 {
		return nil
	}
	m, err := match.Compile(q.Phrase, false, q.CaseSensitive)
	if err != nil {
		return err
	}
	q.FoldedPhrase, q.PhraseMatcher = q.Phrase, m
	if !q.CaseSensitive {
		q.FoldedPhrase = strings.ToLower(q.FoldedPhrase)
	}
	return nil
}

func (q *Query) compileRepoTests() (err error) {
	for _, f := range q.Filters {
		t, ok, err := newFileTest(f, q.CaseSensitive)
		if err != nil {
			return err
		}
		if ok {
			q.FileTests = append(q.FileTests, t)
		}
	}
	q.Descriptions, err = descriptions(q.Basic)
	return err
}

func cost(f PathFilter) int {
	if f.quick != nil {
		return 0
	}
	return 1
}

func (q *Query) compileTree(n query.Node, negated bool) (Tree, error) {
	switch n := n.(type) {
	case *query.And:
		kids, err := q.compileTrees(n.Children, negated)
		return &And{kids}, err
	case *query.Or:
		kids, err := q.compileTrees(n.Children, negated)
		return &Or{kids}, err
	case *query.Not:
		kid, err := q.compileTree(n.Child, !negated)
		return &not{kid}, err
	case *query.Pattern:
		if n.Value == "" && !n.IsRegexp {
			return Constant(true), nil
		}
		m, err := match.Compile(n.Value, n.IsRegexp, q.CaseSensitive)
		if err != nil {
			return nil, &query.SyntaxError{Message: err.Error(), Span: n.Span}
		}
		a := &Atom{Matcher: m, Pattern: n, ContentOnly: n.FromContent, Negated: negated}
		a.Owner, a.Member = ident.Qualified(a.Text())
		a.Words = ident.Words(nil, a.Text())
		q.Atoms = append(q.Atoms, a)
		return Leaf(len(q.Atoms) - 1), nil
	}
	return nil, fmt.Errorf("unknown node %v", n)
}

func (q *Query) compileTrees(nodes []query.Node, negated bool) (kids []Tree, err error) {
	kids = make([]Tree, len(nodes))
	for i, n := range nodes {
		if kids[i], err = q.compileTree(n, negated); err != nil {
			return nil, err
		}
	}
	return kids, nil
}

// chooseTypes decides which searches q starts from its type: filters, its
// patterns and its other filters.
func (q *Query) chooseTypes() {
	types := q.Values("type")
	hasFile := len(q.Paths)+len(q.Owners)+len(q.Contributors) > 0
	onlyContent := q.onlyContent()
	if len(types) == 0 {
		q.InContent, q.InPath = true, !onlyContent
		q.Documents = q.Tree != nil || hasFile
		q.InRepositoryNames = !onlyContent
	}
	for _, t := range types {
		switch t.Value {
		case "file":
			q.InContent = true
		case "path":
			q.InPath = true
		case "repo":
			q.InRepositoryNames = true
		case "symbol":
			q.InSymbols = true
		}
		q.Documents = q.Documents || (t.Value == "file" || t.Value == "path") && (q.Tree != nil || hasFile)
	}
	q.InRepositoryNames = q.InRepositoryNames && !slices.ContainsFunc(q.Filters, func(f query.Filter) bool {
		return !slices.Contains(repoOnly, f.Field)
	})
}

// onlyContent reports whether every pattern was written content:.
func (q *Query) onlyContent() bool {
	n := 0
	for _, a := range q.Atoms {
		switch {
		case a.Silent:
		case !a.ContentOnly:
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

// SameShape reports whether a and b have the same limit and selection, so that their
// documents are confirmed and answered together. Queries of commits have no shape in
// common with others.
func SameShape(a, b *Query) bool {
	return a.Commits == nil && b.Commits == nil && a.Limit == b.Limit && slices.Equal(a.Select, b.Select)
}
