package report

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/date"
)

// commitFacets counts commits per filter that would select them.
type commitFacets struct {
	messages, diffs query.SuggestedFilter
	// authors are counted by the text of their filter.
	authors map[string]*query.SuggestedFilter
	dates   [len(dateFilters)]int
	// began is when the search began. bounds are the times of dateFilters from
	// then, in seconds, nil before there is a commit to compare with them.
	began  time.Time
	bounds *[len(dateFilters)]int64
}

// dateFilters are the filters of kind commit date. A commit counts for each that
// selects it.
var dateFilters = [...]struct{ field, when, label string }{
	{"after", "24 hours ago", "Last 24 hours"},
	{"after", "1 week ago", "Last week"},
	{"after", "1 month ago", "Last month"},
	{"before", "2 months ago", "Older than 2 months"},
}

func newCommitFacets(now time.Time) commitFacets {
	return commitFacets{
		messages: query.SuggestedFilter{Value: "type:commit", Label: "Commits", Kind: kindType},
		diffs:    query.SuggestedFilter{Value: "type:diff", Label: "Diffs", Kind: kindType},
		authors:  map[string]*query.SuggestedFilter{},
		began:    now,
	}
}

// dateBounds returns the times of dateFilters for a search that began at now.
func dateBounds(now time.Time) *[len(dateFilters)]int64 {
	var bounds [len(dateFilters)]int64
	for i, f := range dateFilters {
		t, err := date.Parse(f.when, now)
		if err != nil {
			panic("search: the date of a suggested filter: " + err.Error())
		}
		bounds[i] = t.Unix()
		if f.field == "before" {
			bounds[i] = date.CeilSecond(t)
		}
	}
	return &bounds
}

func (cf *commitFacets) add(m *query.CommitMatch, caseSensitive bool) {
	if m.IsDiff {
		cf.diffs.Count += m.Count()
	} else {
		cf.messages.Count += m.Count()
	}
	cf.addAuthor(m.Author, caseSensitive)
	if cf.bounds == nil {
		cf.bounds = dateBounds(cf.began)
	}
	seconds := m.Committer.Date.Unix()
	for i, f := range dateFilters {
		if f.field == "after" && seconds > cf.bounds[i] || f.field == "before" && seconds < cf.bounds[i] {
			cf.dates[i]++
		}
	}
}

// addAuthor counts one commit for the whole address of its author, as an address
// may be a part of another. Nothing selects an author without one.
func (cf *commitFacets) addAuthor(a query.Signature, caseSensitive bool) {
	if a.Email == "" {
		return
	}
	key := a.Email
	if !caseSensitive {
		key = strings.ToLower(key)
	}
	f := cf.authors[key]
	if f == nil {
		f = &query.SuggestedFilter{Value: "author:^" + quoteValue(a.Email) + "$", Label: a.Name, Kind: kindAuthor}
		cf.authors[key] = f
	}
	f.Count++
}

// appendEntries appends every filter that counts anything, but for types.
func (cf *commitFacets) appendEntries(out []query.SuggestedFilter, authors bool) []query.SuggestedFilter {
	for i, f := range dateFilters {
		if cf.dates[i] > 0 {
			out = append(out, query.SuggestedFilter{Value: f.field + ":" + strconv.Quote(f.when), Label: f.label, Count: cf.dates[i], Kind: kindCommitDate})
		}
	}
	if !authors {
		return out
	}
	for _, f := range cf.authors {
		out = append(out, *f)
	}
	return out
}

// quoteValue writes a text as the regexp of a filter that matches it. A space
// is escaped, since a bare one would end the filter's value.
func quoteValue(text string) string {
	return strings.ReplaceAll(regexp.QuoteMeta(text), " ", `\ `)
}
