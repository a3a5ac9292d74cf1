package search

import (
	"regexp"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/query"
)

// commitFilters counts commits per filter that would select them.
type commitFilters struct {
	messages, diffs query.SuggestedFilter
	// authors are counted by the text of their filter.
	authors map[string]*query.SuggestedFilter
	dates   [len(dateFilters)]int
	// now is the moment that dates are compared with.
	now time.Time
}

// dateFilters are the filters of kind commit date; a commit counts for the
// first that its age is below of. The values of all but the first do not
// select what their labels say, and are what clients of this API know.
var dateFilters = [...]struct {
	below        time.Duration
	value, label string
}{
	{25 * time.Hour, "after:yesterday", "Last 24 hours"},
	{8 * 24 * time.Hour, `before:"1 week ago"`, "Last week"},
	{31 * 24 * time.Hour, `before:"1 month ago"`, "Last month"},
	{1<<63 - 1, `before:"2 months ago"`, "Older than 2 months"},
}

func newCommitFilters(now time.Time) commitFilters {
	return commitFilters{
		messages: query.SuggestedFilter{Value: "type:commit", Label: "Commits", Kind: kindType},
		diffs:    query.SuggestedFilter{Value: "type:diff", Label: "Diffs", Kind: kindType},
		authors:  map[string]*query.SuggestedFilter{},
		now:      now,
	}
}

func (s *commitFilters) add(m *query.CommitMatch) {
	if m.IsDiff {
		s.diffs.Count += m.Count()
	} else {
		s.messages.Count += m.Count()
	}
	s.addAuthor(m.Author)
	date := m.Committer.Date
	if date.IsZero() {
		date = m.Author.Date
	}
	age := s.now.Sub(date)
	for i, f := range dateFilters {
		if age < f.below || i == len(dateFilters)-1 {
			s.dates[i]++
			break
		}
	}
}

// addAuthor counts one commit. Nothing selects an author without an address.
func (s *commitFilters) addAuthor(a query.Signature) {
	if a.Email == "" {
		return
	}
	value := "author:" + quoteValue(a.Email)
	f := s.authors[value]
	if f == nil {
		f = &query.SuggestedFilter{Value: value, Label: a.Name, Kind: kindAuthor}
		s.authors[value] = f
	}
	f.Count++
}

// appendEntries appends every filter that counts anything.
func (s *commitFilters) appendEntries(out []query.SuggestedFilter) []query.SuggestedFilter {
	for _, f := range []query.SuggestedFilter{s.messages, s.diffs} {
		if f.Count > 0 {
			out = append(out, f)
		}
	}
	for i, f := range dateFilters {
		if s.dates[i] > 0 {
			out = append(out, query.SuggestedFilter{Value: f.value, Label: f.label, Count: s.dates[i], Kind: kindCommitDate})
		}
	}
	for _, f := range s.authors {
		out = append(out, *f)
	}
	return out
}

// quoteValue writes a text as the regexp of a filter that matches it. A space
// is escaped, since a bare one would end the filter's value.
func quoteValue(text string) string {
	return strings.ReplaceAll(regexp.QuoteMeta(text), " ", `\ `)
}
