package graphql

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/graph-gophers/graphql-go"

	"github.com/trawlsearch/trawl/httpapi/graphql/gitobject"
	"github.com/trawlsearch/trawl/httpapi/graphql/wire"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/search/answer"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/query/syntax"
)

// searchArgs are the arguments of Query.search.
type searchArgs struct {
	Version, PatternType, Query wire.String
}

// Search does not search yet: that happens when its results are asked for, and
// once.
func (*resolver) Search(ctx context.Context, args searchArgs) *searchCall {
	return &searchCall{
		s: sessionOf(ctx), text: args.Query.Or(""), version: args.Version.Or("V1"), patternType: args.PatternType.Or(""),
		keep: needsMatches(ctx), width: sessionOf(ctx).Width(ctx),
	}
}

// searchCall is the type Search.
type searchCall struct {
	s                          *session
	text, version, patternType string
	// keep says that a field needs the matches themselves; width is about how
	// many fields each is shown with.
	keep  bool
	width int

	once   sync.Once
	answer *searchResults
	err    error
}

// needsMatches tells whether a field that was asked for needs the matches
// themselves, and not only their number.
func needsMatches(ctx context.Context) bool {
	for _, field := range []string{"results.results", "results.repositories", "results.repositoriesCount", "results.sparkline", "stats"} {
		if graphql.HasSelectedField(ctx, field) {
			return true
		}
	}
	return false
}

// Results are those of the stream. It searches once, however often it is asked.
func (c *searchCall) Results(ctx context.Context) (*searchResults, error) {
	c.once.Do(func() {
		o := search.Options{Report: report.New(c.s.Now)}
		c.s.trace.Search(&o)
		c.answer = &searchResults{s: c.s, results: o.Report, kept: &kept{s: c.s, needed: c.keep, width: c.width}}
		q, err := c.parse()
		var out search.Outcome
		if err == nil {
			out = c.s.search(ctx, q, o, c.answer.kept)
			err = out.Err
		}
		o.Report.Finish(false)
		c.answer.alert = out.Alert
		c.answer.progress = o.Report.Progress()
		c.err = c.answer.explain(err)
	})
	return c.answer, c.err
}

// search runs a query for the client, in the turns that its streams have, too.
func (s *session) search(ctx context.Context, q *query.Query, o search.Options, sink answer.Sink) search.Outcome {
	if err := s.Call(); err != nil {
		return search.Outcome{Err: err}
	}
	o.Display = -1
	o.AskedBy(s.Actor.ClientKey(), s.Actor.Visible())
	s.Rest()
	defer s.Resume(ctx)
	return s.searcher.Search(ctx, q, o, sink)
}

// parse reads the query as the stream would.
func (c *searchCall) parse() (*query.Query, error) {
	pt, err := syntax.ParsePatternType(c.version, c.patternType)
	if err != nil {
		return nil, err
	}
	return syntax.Parse(c.text, pt)
}

// explain turns what a person can mend into an alert.
func (r *searchResults) explain(err error) error {
	var wrong *query.SyntaxError
	var context *query.ContextError
	switch {
	case err == nil:
	case errors.As(err, &wrong):
		r.alert = search.QueryAlert(err)
	case errors.As(err, &context):
		r.alert = &query.Alert{Title: "Unable To Process Query", Description: query.Capitalize(err.Error())}
	default:
		return err
	}
	return nil
}

// kept is a sink that holds matches as far as they are needed and fit.
type kept struct {
	s       *session
	needed  bool
	width   int
	matches []query.Match
	// dropped says that some did not fit.
	dropped bool
}

// Send keeps what fits.
func (k *kept) Send(matches []query.Match) error {
	if !k.needed || k.dropped {
		return nil
	}
	for _, m := range matches {
		if !k.s.Keep(weight(m), places(m), k.width) {
			k.dropped = true
			return nil
		}
		k.matches = append(k.matches, m)
	}
	return nil
}

// weight is about how many bytes a match holds.
func weight(m query.Match) int {
	const frame = 200
	switch m := m.(type) {
	case *query.FileMatch:
		n := frame + len(m.Path)
		for _, c := range m.Chunks {
			n += len(c.Content) + 24*len(c.Ranges)
		}
		return n + 80*len(m.Symbols)
	case *query.CommitMatch:
		return frame + len(m.Message) + len(m.Body) + 24*len(m.Ranges)
	}
	return frame
}

// places is how many lines and symbols a match is shown with, or a few more.
func places(m query.Match) int {
	f, ok := m.(*query.FileMatch)
	if !ok {
		return 0
	}
	n := len(f.Symbols)
	for _, c := range f.Chunks {
		n += len(c.Ranges)
	}
	return n
}

// searchResults is the type SearchResults.
type searchResults struct {
	s        *session
	results  *report.Report
	kept     *kept
	progress query.Progress
	alert    *query.Alert
}

// Results are the matches that the schema knows.
func (r *searchResults) Results() []*searchResult {
	out := make([]*searchResult, 0, len(r.kept.matches))
	for _, m := range r.kept.matches {
		if found := r.result(m); found != nil {
			out = append(out, found)
		}
	}
	return out
}

// result returns nil for a match of a kind that the schema does not have, or
// of a repository that went away since.
func (r *searchResults) result(m query.Match) *searchResult {
	repo := r.s.repositoryNamed(m.In().Name)
	if repo == nil {
		return nil
	}
	switch m := m.(type) {
	case *query.FileMatch:
		return &searchResult{&fileMatch{r.s, repo, m}}
	case *query.CommitMatch:
		return &searchResult{newCommitMatch(r.s, repo, m)}
	case *query.RepoMatch:
		return &searchResult{repo}
	}
	return nil
}

func (r *searchResults) MatchCount() int32      { return wire.Int32(r.progress.Matches) }
func (r *searchResults) ResultCount() int32     { return wire.Int32(r.progress.Matches) }
func (r *searchResults) LimitHit() bool         { return r.results.LimitHit() || r.kept.dropped }
func (r *searchResults) IndexUnavailable() bool { return false }
func (r *searchResults) ElapsedMilliseconds() int32 {
	return wire.Int32(r.progress.Took.Milliseconds())
}
func (r *searchResults) Alert() *searchAlert { return newSearchAlert(r.alert) }

// ApproximateResultCount has a plus sign if there may be more.
func (r *searchResults) ApproximateResultCount() string {
	count := strconv.Itoa(r.progress.Matches)
	if r.LimitHit() || r.results.Skips().HasUnfinished() {
		count += "+"
	}
	return count
}

// sparkDays is the length of a sparkline.
const sparkDays = 30

// Sparkline counts commits by day, the last one today.
func (r *searchResults) Sparkline() []int32 {
	out := []int32{}
	today := r.s.Now()
	for _, m := range r.kept.matches {
		c, ok := m.(*query.CommitMatch)
		if !ok {
			continue
		}
		if len(out) == 0 {
			out = make([]int32, sparkDays)
		}
		if day := int(today.Sub(c.Author.Date).Hours() / 24); day >= 0 && day < sparkDays {
			out[sparkDays-1-day] += wire.Int32(c.Count())
		}
	}
	return out
}

// Repositories are those with a result.
func (r *searchResults) Repositories() []*gitobject.Repository {
	seen := map[string]bool{}
	out := []*gitobject.Repository{}
	for _, m := range r.kept.matches {
		name := m.In().Name
		if seen[name] {
			continue
		}
		seen[name] = true
		if repo := r.s.repositoryNamed(name); repo != nil {
			out = append(out, repo)
		}
	}
	return out
}

// RepositoriesCount counts them.
func (r *searchResults) RepositoriesCount() int32 { return wire.Int32(len(r.Repositories())) }

// Cloning are the repositories that are being fetched for the first time. A local
// one that is being indexed is none of them, as in the stream.
func (r *searchResults) Cloning() []*gitobject.Repository {
	return r.named(r.results.Skips().Repositories().Cloning)
}

// Missing are those without a readable source.
func (r *searchResults) Missing() []*gitobject.Repository {
	return r.named(r.results.Skips().Repositories().Missing)
}

// Timedout are those that were not finished in time.
func (r *searchResults) Timedout() []*gitobject.Repository {
	return r.named(r.results.Skips().Repositories().TimedOut)
}

func (r *searchResults) named(names []string) []*gitobject.Repository {
	out := []*gitobject.Repository{}
	for _, name := range names {
		if repo := r.s.repositoryNamed(name); repo != nil {
			out = append(out, repo)
		}
	}
	return out
}

// DynamicFilters are those of the stream.
func (r *searchResults) DynamicFilters() []searchFilter {
	out := []searchFilter{}
	for _, f := range r.results.Filters() {
		out = append(out, searchFilter{f.Value, f.Label, wire.Int32(f.Count), !f.Exhaustive, string(f.Kind)})
	}
	return out
}

// searchFilter is the type SearchFilter.
type searchFilter struct {
	Value, Label string
	Count        int32
	LimitHit     bool
	Kind         string
}

// searchAlert is the type SearchAlert.
type searchAlert struct {
	Title             string
	Description, Kind *string
	ProposedQueries   *[]proposedQuery
}

func newSearchAlert(a *query.Alert) *searchAlert {
	if a == nil {
		return nil
	}
	out := &searchAlert{Title: a.Title, Description: wire.TextOrNull(a.Description), Kind: wire.TextOrNull(a.Kind)}
	if len(a.Proposed) > 0 {
		proposed := []proposedQuery{}
		for _, p := range a.Proposed {
			proposed = append(proposed, proposedQuery{Description: wire.TextOrNull(p.Description), Query: p.Query})
		}
		out.ProposedQueries = &proposed
	}
	return out
}

// proposedQuery is the type SearchQueryDescription.
type proposedQuery struct {
	Description *string
	Query       string
	Annotations *[]annotation
}

// annotation is the type SearchQueryAnnotation; there are none.
type annotation struct{ Name, Value string }

// Stats counts what the search finds.
func (c *searchCall) Stats(ctx context.Context) (*searchStats, error) {
	r, err := c.Results(ctx)
	if err != nil {
		return nil, err
	}
	return &searchStats{r}, nil
}

// searchStats is the type SearchResultsStats.
type searchStats struct{ r *searchResults }

func (s *searchStats) ApproximateResultCount() string { return s.r.ApproximateResultCount() }
func (s *searchStats) Sparkline() []int32             { return s.r.Sparkline() }

// Languages sums the documents that were found, and for a repository all of its
// documents.
func (s *searchStats) Languages() ([]gitobject.LanguageStatistics, error) {
	byName := map[string]*gitobject.LanguageStatistics{}
	add := func(l gitobject.LanguageStatistics) {
		if l.Name == "" {
			return
		}
		if byName[l.Name] == nil {
			byName[l.Name] = &gitobject.LanguageStatistics{Name: l.Name}
		}
		sum := byName[l.Name]
		sum.TotalBytes += l.TotalBytes
		sum.TotalLines = wire.Int32(int(sum.TotalLines) + int(l.TotalLines))
	}
	for _, m := range s.r.kept.matches {
		rec := s.r.s.ByName(m.In().Name)
		if rec == nil {
			continue
		}
		switch m := m.(type) {
		case *query.FileMatch:
			l, err := s.r.s.LanguageAt(rec, m.Path, m.Language)
			if err != nil {
				return nil, err
			}
			add(l)
		case *query.RepoMatch:
			all, err := s.r.s.Languages(rec)
			if err != nil {
				return nil, err
			}
			for _, l := range all {
				add(l)
			}
		}
	}
	return gitobject.SortLanguages(byName), nil
}

// ParseSearchQuery shows the tree of a query.
func (*resolver) ParseSearchQuery(args struct {
	Query, PatternType                         wire.String
	OutputPhase, OutputFormat, OutputVerbosity wire.String
}) (string, error) {
	pt, err := syntax.ParsePatternType("V3", args.PatternType.Or("standard"))
	if err != nil {
		return "", err
	}
	q, err := syntax.Parse(args.Query.Or(""), pt)
	if err != nil {
		var wrong *query.SyntaxError
		if errors.As(err, &wrong) {
			return "", wire.Refuse("%s", wrong.Error())
		}
		return "", err
	}
	t := queryTree{spans: args.OutputVerbosity.Or("BASIC") != "MINIMAL" && args.OutputVerbosity.Or("BASIC") != "BASIC"}
	switch args.OutputFormat.Or("JSON") {
	case "SEXP":
		return t.sexp(q), nil
	case "MERMAID":
		return t.mermaid(q), nil
	}
	text, err := t.json(q)
	if err != nil {
		return "", fmt.Errorf("show query: %w", err)
	}
	return text, nil
}
