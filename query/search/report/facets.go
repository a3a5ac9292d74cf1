package report

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/store/lang"
)

// The kinds of filters that a search suggests.
const (
	kindRepo    query.FilterKind = "repo"
	kindLang    query.FilterKind = "lang"
	kindFile    query.FilterKind = "file"
	kindType    query.FilterKind = "type"
	kindUtility query.FilterKind = "utility"
	kindSymbol  query.FilterKind = "symbol type"
	kindAuthor  query.FilterKind = "author"

	kindCommitDate query.FilterKind = "commit date"
)

// maxFilters bounds the suggestions of kind repo, and all others together.
const maxFilters = 1000

// facets counts matches per filter that would select them. It is fed once
// per match, so it finds a repository or language again by comparing with the
// last one before it asks a map, and builds a filter's text only once.
type facets struct {
	repos map[repoRev]*query.SuggestedFilter
	langs map[string]*query.SuggestedFilter
	// seen holds the repositories with a match of any kind.
	seen map[uint32]struct{}

	code, paths, names query.SuggestedFilter
	symbols            query.SuggestedFilter
	symbolKinds        map[query.SymbolKind]int
	forks, archived    query.SuggestedFilter
	files              [len(fileFilters)]int
	commits            commitFacets
	scope              FacetScope
	// named are the languages that a match was detected in: only those are
	// suggested, and each counts what its filter keeps.
	named map[string]bool

	lastSeen    *query.Repository
	lastRepo    *query.Repository
	lastRev     string
	lastRepoFor *query.SuggestedFilter
}

// repoRev is what one filter of kind repo selects.
type repoRev struct {
	id  uint32
	rev string
}

// newFacets returns a set for a search that runs now.
func newFacets(now time.Time) facets {
	return facets{
		commits:     newCommitFacets(now),
		repos:       map[repoRev]*query.SuggestedFilter{},
		langs:       map[string]*query.SuggestedFilter{},
		named:       map[string]bool{},
		symbolKinds: map[query.SymbolKind]int{},
		seen:        map[uint32]struct{}{},
		code:        query.SuggestedFilter{Value: "type:file", Label: "Code", Kind: kindType},
		paths:       query.SuggestedFilter{Value: "type:path", Label: "Paths", Kind: kindType},
		symbols:     query.SuggestedFilter{Value: "type:symbol", Label: "Symbols", Kind: kindType},
		names:       query.SuggestedFilter{Value: "type:repo", Label: "Repositories", Kind: kindType},
		forks:       query.SuggestedFilter{Value: "fork:yes", Label: "Include forked repos", Kind: kindUtility},
		archived:    query.SuggestedFilter{Value: "archived:yes", Label: "Include archived repos", Kind: kindUtility},
	}
}

// add counts one match.
func (fs *facets) add(m query.Match) {
	if repo := m.In(); repo != fs.lastSeen {
		fs.seen[repo.ID] = struct{}{}
		fs.lastSeen = repo
	}
	switch m := m.(type) {
	case *query.FileMatch:
		fs.addFile(m)
	case *query.CommitMatch:
		fs.repo(m.Repo, "").Count += m.Count()
		fs.commits.add(m, fs.scope.CaseSensitive)
	case *query.RepoMatch:
		fs.names.Count++
	}
}

func (fs *facets) addFile(m *query.FileMatch) {
	n := m.Count()
	fs.repo(m.Repo, m.Rev).Count += n
	if !fs.scope.SelectsDirectories {
		fs.addPath(m, n)
	}
	fs.addSymbols(m.Symbols)
	if fs.scope.OnlyType != "" {
		fs.code.Count += n // whichever type it is, all is of that
		fs.paths.Count += n
		return
	}
	fs.code.Count += min(m.InText, n)
	if m.InPath {
		fs.paths.Count++
	}
}

// addPath counts a match for the filters that select by its path.
func (fs *facets) addPath(m *query.FileMatch, n int) {
	if m.Language != "" {
		fs.named[m.Language] = true
	}
	for _, name := range lang.Claiming(m.Path) {
		fs.lang(name).Count += n
	}
	for i, hit := range matchFileFilters(m.Path, fs.scope.CaseSensitive) {
		if hit {
			fs.files[i] += n
		}
	}
}

func (fs *facets) exclude(forks, archived int) {
	fs.forks.Count += forks
	fs.archived.Count += archived
}

// repositories is the number of repositories with a match.
func (fs *facets) repositories() int { return len(fs.seen) }

func (fs *facets) repo(r *query.Repository, rev string) *query.SuggestedFilter {
	if fs.scope.AnyRevision {
		rev = ""
	}
	if r == fs.lastRepo && rev == fs.lastRev {
		return fs.lastRepoFor
	}
	key := repoRev{r.ID, rev}
	f := fs.repos[key]
	if f == nil {
		f = &query.SuggestedFilter{Value: repoValue(r.Name, rev), Label: r.Name, Kind: kindRepo}
		fs.repos[key] = f
	}
	fs.lastRepo, fs.lastRev, fs.lastRepoFor = r, rev, f
	return f
}

func (fs *facets) lang(name string) *query.SuggestedFilter {
	f := fs.langs[name]
	if f == nil {
		f = &query.SuggestedFilter{Value: langValue(name), Label: name, Kind: kindLang}
		fs.langs[name] = f
	}
	return f
}

func repoValue(name, rev string) string {
	v := "repo:^" + quoteValue(name) + "$"
	if rev != "" {
		v += "@" + rev
	}
	return v
}

func langValue(name string) string {
	name = strings.ToLower(name)
	if strings.Contains(name, " ") {
		name = strconv.Quote(name)
	}
	return "lang:" + name
}

// entries copies every filter that counts anything.
func (fs *facets) entries() []query.SuggestedFilter {
	out := make([]query.SuggestedFilter, 0, len(fs.repos)+len(fs.langs)+len(fs.files)+5)
	for _, f := range []query.SuggestedFilter{fs.code, fs.symbols, fs.paths, fs.names, fs.forks, fs.archived, fs.commits.messages, fs.commits.diffs} {
		kind, isType := strings.CutPrefix(f.Value, "type:")
		if f.Count > 0 && (!isType || fs.scope.suggests(kind)) {
			out = append(out, f)
		}
	}
	for i, f := range fileFilters {
		if fs.files[i] > 0 && !fs.scope.CaseMixed {
			out = append(out, query.SuggestedFilter{Value: "-file:" + f.pattern, Label: f.label, Count: fs.files[i], Kind: kindFile})
		}
	}
	for kind, n := range fs.symbolKinds {
		if !fs.scope.Selects {
			out = append(out, symbolFilter(kind, n))
		}
	}
	out = fs.commits.appendEntries(out, !fs.scope.CaseMixed)
	for name, f := range fs.langs {
		if fs.named[name] {
			out = append(out, *f)
		}
	}
	for _, f := range fs.repos {
		out = append(out, *f)
	}
	return out
}

// orderFilters puts the filters in their order on the wire: types and utilities, then
// the rest, each by falling count and then by value. Under a negated pattern the
// counts of types of files are lower bounds: see FacetScope.
func orderFilters(entries []query.SuggestedFilter, exhaustive, negated bool) []query.SuggestedFilter {
	repos, others := topFilters{}, topFilters{}
	for _, e := range entries {
		e.Exhaustive = exhaustive && !(negated && (e.Value == "type:file" || e.Value == "type:path"))
		if e.Kind == kindRepo {
			repos.add(e)
			continue
		}
		others.add(e)
	}
	out := append(others.sorted(), repos.sorted()...)
	slices.SortFunc(out, compareFilters)
	return out
}

func compareFilters(a, b query.SuggestedFilter) int {
	if x, y := important(a), important(b); x != y {
		if x {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Value, b.Value))
}

func important(f query.SuggestedFilter) bool {
	return f.Kind == kindType || f.Kind == kindUtility
}

// topFilters keeps the first maxFilters of what is added. A search may match
// in a hundred thousand repositories, too many to sort for every event.
type topFilters struct {
	kept []query.SuggestedFilter
	// cut says that kept once overflowed; then kept[maxFilters-1] bounds what
	// may still enter.
	cut bool
}

func (t *topFilters) add(f query.SuggestedFilter) {
	if t.cut && compareFilters(f, t.kept[maxFilters-1]) > 0 {
		return
	}
	t.kept = append(t.kept, f)
	if len(t.kept) == 2*maxFilters {
		t.kept = t.sorted()
		t.cut = true
	}
}

func (t *topFilters) sorted() []query.SuggestedFilter {
	slices.SortFunc(t.kept, compareFilters)
	return t.kept[:min(len(t.kept), maxFilters)]
}

// addSymbols counts symbols by kind.
func (fs *facets) addSymbols(symbols []query.Symbol) {
	fs.symbols.Count += len(symbols)
	for _, sym := range symbols {
		if sym.Kind != "" {
			fs.symbolKinds[sym.Kind]++
		}
	}
}

// symbolFilter labels a kind by its words, each with a capital: EnumMember.
func symbolFilter(kind query.SymbolKind, n int) query.SuggestedFilter {
	label := ""
	for word := range strings.SplitSeq(string(kind), "-") {
		label += query.Capitalize(word)
	}
	return query.SuggestedFilter{Value: "select:symbol." + string(kind), Label: label, Count: n, Kind: kindSymbol}
}
