package report

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/match"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/shard"
)

// Gaps counts the documents and commits that a search skipped. A method whose
// comment says so makes the answer incomplete, whichever run of a search that
// yields recorded it. The others record content that no search could find. Zero
// of anything records nothing. It is safe for concurrent use.
type Gaps struct {
	mu sync.Mutex // guards all below; nothing is called while it is held
	// timeout is the time that the search has, maxTimeout the most that a query
	// may ask for; 0 before they are known.
	timeout, maxTimeout                  time.Duration
	missing, cloning, indexing, timedOut unready
	others                               []query.Skipped
	// incomplete says that the search did not look at everything it chose.
	incomplete bool
	// mark grows with every change.
	mark uint64
}

// change runs f under the lock.
func (g *Gaps) change(f func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f()
	g.mark++
}

// left reports whether any repository was not finished in time, and whether
// anything else makes the answer incomplete.
func (g *Gaps) left() (timedOut, incomplete bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.timedOut.len() > 0, g.incomplete
}

// marked returns the mark.
func (g *Gaps) marked() uint64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.mark
}

// TimedOut records repositories that were not finished in time, by ascending
// repository id. The answer is incomplete.
func (g *Gaps) TimedOut(names []string) {
	g.addNames(&g.timedOut, names)
}

// Missing records repositories with a generation that could not be found, by
// ascending repository id.
func (g *Gaps) Missing(names []string) {
	g.addNames(&g.missing, names)
}

// NotIndexed are the repositories that a search chose and that have no generation.
type NotIndexed struct {
	// Missing have no readable source, Cloning are not fetched yet, and the source of
	// Indexing is on this machine.
	Missing, Cloning, Indexing store.IDs
	// Name returns the name of one, also later.
	Name func(id uint32) string
}

// Len returns how many there are.
func (n *NotIndexed) Len() int { return n.Missing.Len() + n.Cloning.Len() + n.Indexing.Len() }

// NotIndexed records repositories without a generation.
func (g *Gaps) NotIndexed(n *NotIndexed) {
	if n.Len() == 0 {
		return
	}
	g.change(func() {
		for _, of := range []struct {
			to  *unready
			ids *store.IDs
		}{{&g.missing, &n.Missing}, {&g.cloning, &n.Cloning}, {&g.indexing, &n.Indexing}} {
			of.to.ids.Join(of.ids)
			of.to.name = n.Name
		}
	})
}

func (g *Gaps) addNames(to *unready, names []string) {
	if len(names) > 0 {
		g.change(func() { to.others.Add(names) })
	}
}

// Skip records anything else that the query could not look at. A later entry
// with the same reason replaces the earlier; an empty severity is warn.
func (g *Gaps) Skip(s query.Skipped) {
	if s.Severity == "" {
		s.Severity = "warn"
	}
	g.change(func() {
		for i := range g.others {
			if g.others[i].Reason == s.Reason {
				g.others[i] = s
				return
			}
		}
		g.others = append(g.others, s)
	})
}

// SetTimeout says how long the search may take, and how long any may.
func (g *Gaps) SetTimeout(timeout, longest time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.timeout, g.maxTimeout = timeout, longest
}

// Incomplete records that the search did not look at everything that it chose.
func (g *Gaps) Incomplete() { g.change(func() { g.incomplete = true }) }

// UnreadableShards records shards of which some part is damaged. The answer is
// incomplete.
func (g *Gaps) UnreadableShards(n int) {
	g.unreadableIndex(n, "shard", "Part of the index could not be read, so results may be missing. "+
		"The server rebuilds damaged parts by itself; `trawl check --repair` does so at once.")
}

// UnreadableRecords records repositories whose records are damaged. The answer
// is incomplete.
func (g *Gaps) UnreadableRecords(n int) {
	g.unreadableIndex(n, "record", "The records of repositories are damaged, so they were not searched. "+
		"`trawl check` names them, and `trawl check --repair` indexes those again whose source is known.")
}

func (g *Gaps) unreadableIndex(n int, what, message string) {
	if n > 0 {
		g.Incomplete()
		g.Skip(query.Skipped{Reason: ReasonIndexUnreadable, Title: plural(n, what, what+"s") + " unreadable", Severity: "warn", Message: message})
	}
}

// Unreachable records repositories that git could not read, by ascending
// repository id. The answer is incomplete.
func (g *Gaps) Unreachable(names []string) {
	if len(names) > 0 {
		g.Incomplete()
		g.Missing(names)
	}
}

// Fetching records repositories whose mirror is not on this node yet, by ascending
// repository id. The answer is incomplete.
func (g *Gaps) Fetching(names []string) {
	if len(names) > 0 {
		g.Incomplete()
		g.addNames(&g.cloning, names)
	}
}

// GitBusy records repositories that git had no memory for. The answer is
// incomplete.
func (g *Gaps) GitBusy(names []string) {
	if len(names) == 0 {
		return
	}
	g.Incomplete()
	g.Skip(query.Skipped{
		Reason: ReasonGitBusy, Title: plural(len(names), "repository", "repositories") + " not read", Severity: "warn",
		Message: "Revisions of these repositories that are not indexed are read through git, whose processes use all the memory " +
			"that they may have at the moment. Search again later: `" + strings.Join(names[:min(len(names), MaxNamed)], "`, `") + "`.",
	})
}

// RevisionsNotIndexed records repositories with revisions that index:only leaves
// out. The answer is incomplete.
func (g *Gaps) RevisionsNotIndexed(repositories int) {
	if repositories == 0 {
		return
	}
	g.Incomplete()
	g.Skip(query.Skipped{
		Reason: ReasonRevisionNotIndexed, Title: formatCount(repositories) + " not indexed", Severity: "info",
		Message: "Only indexed branches were searched, as `index:only` asks; revisions of " + plural(repositories, "repository", "repositories") +
			" are not indexed.",
		SuggestedTitle: "search all revisions", SuggestedQuery: "index:yes",
	})
}

// RevisionsOverLimit records revisions beyond what one search may list. The
// answer is incomplete.
func (g *Gaps) RevisionsOverLimit(n int) {
	if n == 0 {
		return
	}
	g.Incomplete()
	g.Skip(query.Skipped{
		Reason: ReasonRevisionLimit, Title: plural(n, "revision", "revisions"), Severity: "warn",
		Message: plural(n, "revision was", "revisions were") + " not searched: there are more revisions without an index than one search may read. " +
			"Name fewer, or index their branches.",
	})
}

// RevisionsUnreadable records revisions whose files git cannot list. The answer
// is incomplete.
func (g *Gaps) RevisionsUnreadable(names []string) {
	if len(names) == 0 {
		return
	}
	g.Incomplete()
	g.Skip(query.Skipped{
		Reason: ReasonRevisionUnreadable, Title: formatCount(len(names)) + " unreadable", Severity: "warn",
		Message: "Files of these revisions cannot be listed, as in a repository that is damaged or shallow: `" +
			strings.Join(names[:min(len(names), MaxNamed)], "`, `") + "`.",
	})
}

// ObjectsMissing records files whose content git could not read. The answer is
// incomplete.
func (g *Gaps) ObjectsMissing(files int) {
	if files == 0 {
		return
	}
	g.Incomplete()
	of := countFiles(files)
	g.Skip(query.Skipped{
		Reason: ReasonObjectsMissing, Title: of + " unreadable", Severity: "warn",
		Message: "The content of " + of + " at the revisions searched is not there or damaged. Only the paths were searched.",
	})
}

// NoText records documents without searchable text, by reason.
func (g *Gaps) NoText(counts map[shard.Reason]int) {
	total := 0
	var parts []string
	for reason := shard.Reason(0); int(reason) < shard.NumReasons; reason++ {
		if n := counts[reason]; n > 0 {
			total += n
			parts = append(parts, fmt.Sprintf("%s %s", formatCount(n), reason))
		}
	}
	if total == 0 {
		return
	}
	g.Skip(query.Skipped{
		Reason: ReasonNoText, Title: countFiles(total) + " without text", Severity: "info",
		Message: fmt.Sprintf("Only the paths of %s were searched, since they hold no text that can be: %s. `trawl repo skipped` lists them.",
			countFiles(total), strings.Join(parts, ", ")),
	})
}

// SymbolsMissing records files whose symbols were not read yet. The answer is
// incomplete.
func (g *Gaps) SymbolsMissing(files int) {
	if files == 0 {
		return
	}
	g.Incomplete()
	g.Skip(query.Skipped{
		Reason: ReasonSymbolsMissing, Title: "symbols missing", Severity: "warn",
		Message: fmt.Sprintf("The symbols of %s have not been read yet, so results may be missing. "+
			"If this message stays, universal-ctags is not installed or symbols are switched off: see the log of the server.", countFiles(files)),
	})
}

// SymbolsFailed records files that no parser of symbols could read.
func (g *Gaps) SymbolsFailed(files int) {
	if files == 0 {
		return
	}
	of := countFiles(files)
	g.Skip(query.Skipped{
		Reason: ReasonSymbolsFailed, Title: of + " without symbols", Severity: "info",
		Message: "The symbols of " + of + " could not be read: the text is too large, or its parser too slow. Search for the text instead.",
	})
}

// TextsCut records texts with more matches than are kept. The answer is
// incomplete. Files can be listed in place of their matches unless the query
// selects something itself.
func (g *Gaps) TextsCut(texts int, selects bool) {
	if texts == 0 {
		return
	}
	g.Incomplete()
	what := plural(texts, "text", "texts")
	s := query.Skipped{
		Reason: ReasonTextCut,
		Title:  what + " cut short",
		Message: fmt.Sprintf("Only the first %s matches in %s were kept, whatever `count:` says, so there are more than were counted. "+
			"A longer pattern matches less often; the rest is in the text itself, at its raw address.", formatCount(match.MaxSpans), what),
		Severity: "info",
	}
	if !selects {
		s.Message += " `select:file` lists the files alone."
		s.SuggestedTitle, s.SuggestedQuery = "list files", "select:file"
	}
	g.Skip(s)
}

// PreviewsShortened records commits with more matches than their preview shows.
func (g *Gaps) PreviewsShortened(n int) {
	if n == 0 {
		return
	}
	of := plural(n, "preview", "previews")
	g.Skip(query.Skipped{
		Reason: ReasonPreviewShortened,
		Title:  of + " shortened",
		Message: "All matches are counted, but " + of + " of a diff left some out: at most 5 files are shown, 3 hunks of each and 7 lines of a hunk. " +
			"The page of a commit has all of it.",
		Severity: "info",
	})
}

// OlderCommits records commits that time was up for before git had read them; n
// is a lower bound if more may have followed. The answer is incomplete.
func (g *Gaps) OlderCommits(n int, more bool) {
	if n == 0 && !more {
		return
	}
	g.Incomplete()
	s := query.Skipped{Reason: ReasonHistoryDepth, Severity: "warn"}
	switch {
	case n == 0:
		s.Title = "older commits not searched"
	case more:
		s.Title = formatCount(n) + "+ commits not searched"
	default:
		s.Title = plural(n, "commit", "commits") + " not searched"
	}
	s.Message = "Commits older than the index reaches are read through git, the newest first, until the time is up. " +
		"Narrow the search with `after:`, `author:` or `file:`, give it more time, or have more commits indexed with the setting `history-diffs`."
	g.mu.Lock()
	if g.timeout < g.maxTimeout {
		s.SuggestedTitle, s.SuggestedQuery = "search longer", "timeout:"+g.maxTimeout.String()
	}
	g.mu.Unlock()
	g.Skip(s)
}

// HistoriesMissing records repositories whose commits are still being indexed.
func (g *Gaps) HistoriesMissing(names []string) {
	g.histories(ReasonHistoryMissing, "not read yet",
		"are still being read into the index; until that is done they are searched through git, which is slow", names)
}

// HistoriesUnreadable records repositories whose commits git could not read. The
// answer is incomplete.
func (g *Gaps) HistoriesUnreadable(names []string) {
	if len(names) > 0 {
		g.Incomplete()
	}
	g.histories(ReasonHistoryUnreadable, "unreadable", "could not be read from their source, so commits may be missing", names)
}

func (g *Gaps) histories(reason, word, state string, names []string) {
	if len(names) == 0 {
		return
	}
	s := query.Skipped{Reason: reason, Severity: "warn", Title: plural(len(names), "history", "histories") + " " + word}
	s.Message = "The commits of " + plural(len(names), "repository", "repositories") + " " + state + ":" + listNames(names, len(names))
	g.Skip(s)
}

// DiffsTooLarge records files of commits whose diffs are not kept.
func (g *Gaps) DiffsTooLarge(n int) {
	if n == 0 {
		return
	}
	g.Skip(query.Skipped{
		Reason: ReasonDiffTooLarge, Title: plural(n, "diff", "diffs") + " too large", Severity: "info",
		Message: "The diffs of " + plural(n, "changed file", "changed files") +
			" are larger than the index keeps, or damaged. Their commits are still found by message, author, date and path.",
	})
}

// Unfinished are the names of repositories that were not searched, or not all of
// them.
type Unfinished struct {
	// Cloning are being fetched, Indexing are indexed for the first time, and
	// Missing have no readable source.
	Cloning, Indexing, Missing []string
	TimedOut                   []string
}

// Repositories returns the repositories that were not finished up to now.
func (g *Gaps) Repositories() Unfinished {
	g.mu.Lock()
	defer g.mu.Unlock()
	return Unfinished{
		Cloning: g.cloning.names(math.MaxInt), Indexing: g.indexing.names(math.MaxInt),
		Missing: g.missing.names(math.MaxInt), TimedOut: g.timedOut.names(math.MaxInt),
	}
}

// HasUnfinished reports whether there are such repositories up to now.
func (g *Gaps) HasUnfinished() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.cloning.len()+g.indexing.len()+g.missing.len()+g.timedOut.len() > 0
}
