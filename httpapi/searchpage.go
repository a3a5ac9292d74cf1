package httpapi

import (
	"cmp"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/trawlsearch/trawl/httpapi/web"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/syntax"
)

// searchPath is where people search.
const searchPath = "/search"

// searchData is the data of the search page. The search itself is run by its
// script.
type searchData struct {
	// Query, PatternType, Context and Mode are the parameters q, patternType,
	// context and sm of links that lead here.
	Query, PatternType, Context, Mode string
	CaseSensitive                     bool
	// Places are the search contexts to choose from, without that of all repositories.
	Places []string
	// ContextLines is the parameter cl, one of Contexts.
	ContextLines string
	Contexts     []string
	Types        []choice
	Examples     []Example
	Base         string
	// Home is there when nothing is searched.
	Home *Home
}

type choice struct{ Value, Label string }

// searchExamples show the language; those of Home find something on this server.
var searchExamples = []Example{
	{`parse header`, "files with both words, the best first"},
	{`"out of memory"`, "just this, with its space"},
	{`/func \w+Handler/ lang:go`, "a regular expression, in files of one language"},
	{`file:\.c$ TODO`, "only in some files"},
	{`(timeout or deadline) not file:test`, "one word or the other, in no test"},
	{`type:symbol open`, "where something with this in its name is defined"},
	{`type:diff type:commit leak after:"3 months ago"`, "changes of the last months, and what was said of them"},
	{`count:all password`, "every match there is, not just the first"},
}

// patternTypes are those that people choose from; a link may ask for others.
var patternTypes = []choice{{"keyword", "Words"}, {"standard", "Text as it stands"}, {"regexp", "Regular expression"}}

// contextLines are the numbers of lines around a match that people choose from.
var contextLines = []string{"0", "1", "3", "10"}

// searchData reads the parameters of a page of a search.
func (s *Server) searchData(r *http.Request) searchData {
	q := r.URL.Query()
	data := searchData{
		Query: strings.TrimSpace(q.Get("q")), PatternType: cmp.Or(q.Get("patternType"), "keyword"), Context: q.Get("context"), Mode: q.Get("sm"),
		CaseSensitive: q.Get("case") == "yes", Types: patternTypes, Examples: searchExamples, Base: s.baseURL(r),
		ContextLines: cmp.Or(q.Get("cl"), "1"), Contexts: contextLines,
	}
	if !slices.ContainsFunc(patternTypes, func(c choice) bool { return c.Value == data.PatternType }) {
		data.Types = append(slices.Clone(patternTypes), choice{data.PatternType, data.PatternType})
	}
	if s.Contexts != nil {
		var chosen string
		if data.Places, chosen = s.Contexts(r); !q.Has("context") && data.Query == "" {
			data.Context = chosen
		}
		if len(data.Places) > 0 && data.Context != "" && !slices.Contains(data.Places, data.Context) {
			data.Places = append(data.Places, data.Context)
		}
	}
	return data
}

// contextForm, caseForm and typeForm find the filters that an address may say beside the
// query.
var (
	contextForm = regexp.MustCompile(`(?i)(^|\s)-?context:`)
	caseForm    = regexp.MustCompile(`(?i)(^|\s)case:`)
	typeForm    = regexp.MustCompile(`(?i)(^|\s)patterntype:`)
)

// Sent is the query with what the address adds to it. The page's script does the same.
func (d searchData) Sent() string {
	q := d.Query
	if d.Context != "" && !contextForm.MatchString(d.Query) {
		q = "context:" + d.Context + " " + q
	}
	if d.CaseSensitive && !caseForm.MatchString(d.Query) {
		q += " case:yes"
	}
	return q
}

// Whole is the query as it can be run elsewhere: with all that the address adds to it,
// and with what its words mean.
func (d searchData) Whole() string {
	q := d.Sent()
	known := slices.ContainsFunc(patternTypes, func(c choice) bool { return c.Value == d.PatternType })
	if known && !typeForm.MatchString(d.Query) {
		q = "patternType:" + d.PatternType + " " + q
	}
	return q
}

// Unlimited is Whole without count: and timeout:, which a search job does without.
func (d searchData) Unlimited() string {
	q := d.Whole()
	for _, field := range []string{"count", "timeout"} {
		q = syntax.WithoutFilter(q, query.Keyword, field)
	}
	return q
}

// maxLinked bounds a query in the address of a form that keeps it.
const maxLinked = 4 << 10

// Kept reports whether the query is short enough for the forms that keep it.
func (d searchData) Kept() bool { return len(d.Whole()) <= maxLinked }

func (s sitePages) serveSearch(w http.ResponseWriter, r *http.Request) error {
	data := s.searchData(r)
	scripts := []string{"search.js"}
	if data.Query == "" && s.Home != nil {
		data.Home = s.Home(r)
		scripts = append(scripts, "home.js")
	}
	return s.ServePage(w, r, pages, web.View{
		Page: "search.html", Here: searchPath, Compress: true, Reflected: true, Scripts: scripts, Styles: []string{"search.css"}, Data: data,
		Policy: map[string]string{"worker-src": "'self'"},
	})
}

// serveHome leads to where people search. Whatever was asked for there is kept.
func (s sitePages) serveHome(w http.ResponseWriter, r *http.Request) error {
	to := url.URL{Path: s.Path(searchPath), RawQuery: r.URL.RawQuery}
	http.Redirect(w, r, to.String(), http.StatusTemporaryRedirect)
	return nil
}
