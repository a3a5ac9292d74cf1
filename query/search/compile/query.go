package compile

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/match"
	"github.com/trawlsearch/trawl/store/shard"
)

// Query is a basic query made ready to run. Nothing changes it.
type Query struct {
	query.Basic
	CaseSensitive bool
	// Limit is the count limit, and Counted says that the query names it. Timeout
	// is 0 when the query names none.
	Limit   int
	Counted bool
	Timeout time.Duration
	// Select is the path of select:, nil without one.
	Select []string

	// Documents says that documents are searched. Patterns are tried against their
	// text if InContent is set, and against their paths if InPath is.
	Documents, InContent, InPath bool
	// InRepositoryNames says that patterns are tried against the names of
	// repositories, InSymbols that they are tried against the names of symbols and
	// nothing else.
	InRepositoryNames, InSymbols bool

	// Tree is the expression that a document has to match, over Atoms by number;
	// nil matches all. Patterns is the tree without what filters add to it.
	Tree, Patterns Tree
	Atoms          []*Atom
	// Commits is set for a search of commits, which searches nothing else.
	Commits *Commits
	Paths   []PathFilter
	// FoldedPhrase is the keyword phrase that ranks higher, folded unless
	// CaseSensitive is set. PhraseMatcher is set when it has more than one pattern.
	FoldedPhrase  string
	PhraseMatcher *match.Matcher
	// Terms are the words of the patterns that may be names of definitions.
	Terms []Term
	// Order is the order in which the lists of the atoms are read.
	Order []NextAtom
	// Share is what one pattern counts of a document's points.
	Share float64

	// FileTests and CommitAfter test repositories. Descriptions find what a
	// description was selected by.
	FileTests    []FileTest
	CommitAfter  *CommitAfter
	Descriptions []*regexp.Regexp
	// Owners ask for owners by the rules at each revision, which are read before
	// the first document.
	Owners []OwnerFilter
	// Contributors ask for authors of commits, whose paths are read before the
	// first document.
	Contributors []ContributorFilter
	// RepositoryFilter selects repositories. Revisions are those to search of each,
	// and RevisionsTyped says that the query names them. Index is the value of
	// index:.
	RepositoryFilter *RepositoryFilter
	Revisions        []Revision
	RevisionsTyped   bool
	Index            query.YesNoOnly
}

// Atom is a pattern made ready to run.
type Atom struct {
	*match.Matcher
	Pattern *query.Pattern
	// ContentOnly says that the pattern was written content:.
	ContentOnly bool
	Negated     bool
	// Owner and Member are the parts of a literal that is a qualified name.
	Owner, Member string
	// Words are those of a literal.
	Words []string
	// Silent says that the atom only has to hold, by content whatever the type:
	// filters say: it came from file:has.content and shows nowhere.
	Silent bool
}

// Text is what a literal looks for, empty for a regexp.
func (a *Atom) Text() string {
	if a.Pattern.IsRegexp {
		return ""
	}
	return a.Pattern.Value
}

// PathFilter is a file: or lang: filter.
type PathFilter struct {
	*match.Matcher
	// quick, if set, decides instead of the Matcher.
	quick   func(path string) bool
	Negated bool
}

// HasSpans reports whether the filter matches a part of the paths it holds for.
func (f *PathFilter) HasSpans() bool { return !f.Negated && f.quick == nil }

// Holds tests a path.
func (f *PathFilter) Holds(path string) bool {
	if f.quick != nil {
		return f.quick(path) != f.Negated
	}
	_, found := f.Short(nil, path)
	return found != f.Negated
}

// Described returns what prints the plan for traces, and keeps no more of q than
// its patterns.
func (q *Query) Described() func() string {
	whole, patterns, needs := q.Basic, make([]*query.Pattern, len(q.Atoms)), make([]postings.Expr, len(q.Atoms))
	for i, a := range q.Atoms {
		patterns[i], needs[i] = a.Pattern, a.Expr
	}
	return func() string {
		var parts []string
		for i, p := range patterns {
			parts = append(parts, strconv.Itoa(i)+" "+p.String()+" needs "+needs[i].String())
		}
		return whole.String() + " [" + strings.Join(parts, "; ") + "]"
	}
}

// CountsMatches reports whether each match in a text counts, and not the text or
// its repository alone.
func (q *Query) CountsMatches() bool {
	return q.Select == nil || q.Select[0] != "repo" && q.Select[0] != "file"
}

// PathExpr is what the path lists can say about the path filters.
func (q *Query) PathExpr() postings.Expr {
	var parts []postings.Expr
	for _, f := range q.Paths {
		if f.HasSpans() {
			parts = append(parts, f.Expr)
		}
	}
	return postings.NewAnd(parts...)
}

// ExpectsText reports whether q may expect text in a document without any.
func (q *Query) ExpectsText(why shard.Reason) bool {
	return len(q.Paths) > 0 || why != shard.ReasonBinary && why != shard.ReasonSubmodule
}

// PathsHold reports whether the path filters of q take a path.
func (q *Query) PathsHold(path string) bool {
	return !slices.ContainsFunc(q.Paths, func(f PathFilter) bool { return !f.Holds(path) })
}
