package compile

import (
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/match"
	"github.com/trawlsearch/trawl/query/syntax"
)

// FileTest asks of a repository whether one of its documents has a path and a
// content; a side that is not asked for is empty.
type FileTest struct {
	FileQuestion
	Negated bool
	// Documents is the search of documents that answers the question.
	Documents *Query
}

// FileQuestion is what makes two tests the same, so that it is answered once.
type FileQuestion struct {
	Path, Content string
	caseSensitive bool
}

// newFileTest returns ok false for a filter that is no test of files.
func newFileTest(f query.Filter, caseSensitive bool) (t FileTest, ok bool, err error) {
	t = FileTest{FileQuestion: FileQuestion{caseSensitive: caseSensitive}, Negated: f.Negated}
	switch {
	case f.Field == "repohasfile":
		t.Path = f.Value
	case f.Field != "repo" || f.Predicate == nil:
		return t, false, nil
	default:
		switch f.Predicate.Test() {
		case "has.path":
			t.Path = f.Predicate.Arg
		case "has.content":
			t.Content = f.Predicate.Arg
		case "has.file":
			both, err := syntax.ParseFileTest(*f.Predicate)
			if err != nil {
				return t, false, &query.SyntaxError{Message: err.Error(), Span: f.Span}
			}
			t.Path, t.Content = both.Path, both.Content
		default:
			return t, false, nil
		}
	}
	// Both sides have to compile before anything is searched.
	t.Documents, err = t.documents()
	return t, err == nil, err
}

// documents returns the search of documents that answers q.
func (q FileQuestion) documents() (*Query, error) {
	b := &Query{CaseSensitive: q.caseSensitive, InContent: true, Documents: true}
	if q.Path != "" {
		m, err := match.Compile(q.Path, true, q.caseSensitive)
		if err != nil {
			return nil, &query.SyntaxError{Message: err.Error()}
		}
		b.Paths = []PathFilter{{Matcher: m}}
	}
	if q.Content != "" {
		m, err := match.Compile(q.Content, true, q.caseSensitive)
		if err != nil {
			return nil, &query.SyntaxError{Message: err.Error()}
		}
		b.Atoms = []*Atom{{Matcher: m, ContentOnly: true}}
		b.Tree = Leaf(0)
	}
	b.Order = b.readingOrder()
	return b, nil
}
