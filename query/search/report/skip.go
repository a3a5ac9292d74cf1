package report

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/match"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/shard"
)

// Skip is something that a search skipped, as it is reported to a client. It is added to one
// report. The zero value is nothing, which a function that makes a Skip of zero things returns.
type Skip struct {
	// entry is what is reported. Title and message are made when they are read if
	// there are repositories.
	entry query.Skipped
	// incomplete says that it makes the answer incomplete.
	incomplete bool
	// timeHelps says that a search with more time skips less.
	timeHelps bool
	// repositories, if not nil, are those that were skipped.
	repositories *repositories
}

// NewSkip returns a Skip that is reported as it stands, and that leaves the answer
// complete. An empty severity is warn.
func NewSkip(entry query.Skipped) Skip { return newSkip(1, entry) }

// newSkip returns a Skip that leaves the answer complete, nothing if n is 0.
func newSkip(n int, entry query.Skipped) Skip {
	if n == 0 {
		return Skip{}
	}
	entry.Severity = cmp.Or(entry.Severity, "warn")
	return Skip{entry: entry}
}

// newIncomplete returns a Skip that makes the answer incomplete, nothing if n is 0.
func newIncomplete(n int, entry query.Skipped) Skip { return incomplete(newSkip(n, entry)) }

// incomplete returns skip as one that makes the answer incomplete, nothing if it is nothing.
func incomplete(skip Skip) Skip {
	skip.incomplete = skip.entry.Reason != ""
	return skip
}

// notReadyReasons are the reasons of repositories that are not ready to be searched, in
// the order in which they are reported.
func notReadyReasons() []string { return []string{ReasonMissing, ReasonCloning, ReasonIndexing} }

// newRepositories returns a Skip of repositories that are not ready or timed out, as reason
// says, nothing if there are none. It leaves the answer complete.
func newRepositories(reason string, of repositories) Skip {
	if of.len() == 0 {
		return Skip{}
	}
	severity := "info"
	switch reason {
	case ReasonMissing:
		of.word, of.state = "missing", "not readable at its source"
	case ReasonCloning:
		of.word, of.state = "cloning", "still being fetched"
	case ReasonIndexing:
		of.word, of.state = "being indexed", "still being indexed for the first time"
	case ReasonTimeout:
		of.word, of.state, severity = "timed out", "not searched in time", "warn"
	}
	return Skip{entry: query.Skipped{Reason: reason, Severity: severity}, repositories: &of}
}

// newNamed is newRepositories for those with some names.
func newNamed(reason string, names []string) Skip {
	var of repositories
	of.others.Add(names)
	return newRepositories(reason, of)
}

// NotIndexed are repositories without a generation: for ReasonMissing those without a
// readable source, for ReasonCloning those that are not fetched yet, and for
// ReasonIndexing those whose source is on this machine. name returns the name of one,
// also later.
func NotIndexed(reason string, ids *store.IDs, name func(id uint32) string) Skip {
	of := repositories{name: name}
	of.ids.Join(ids)
	return newRepositories(reason, of)
}

// Missing are repositories with a generation that could not be found, by ascending
// repository id.
func Missing(names []string) Skip { return newNamed(ReasonMissing, names) }

// Unreachable are repositories that git could not read, by ascending repository id. The
// answer is incomplete.
func Unreachable(names []string) Skip { return incomplete(newNamed(ReasonMissing, names)) }

// Fetching are repositories whose mirror is not on this node yet, by ascending repository
// id. The answer is incomplete.
func Fetching(names []string) Skip { return incomplete(newNamed(ReasonCloning, names)) }

// TimedOut are repositories that were not finished in time, by ascending repository id.
// The answer is incomplete.
func TimedOut(names []string) Skip { return incomplete(newNamed(ReasonTimeout, names)) }

// UnreadableShards are shards of which some part is damaged. The answer is
// incomplete.
func UnreadableShards(n int) Skip {
	return unreadableIndex(n, "shard", "Part of the index could not be read, so results may be missing. "+
		"The server rebuilds damaged parts by itself; `trawl check --repair` does so at once.")
}

// UnreadableRecords are repositories whose records are damaged. The answer is
// incomplete.
func UnreadableRecords(n int) Skip {
	return unreadableIndex(n, "record", "The records of repositories are damaged, so they were not searched. "+
		"`trawl check` names them, and `trawl check --repair` indexes those again whose source is known.")
}

func unreadableIndex(n int, what, message string) Skip {
	return newIncomplete(n, query.Skipped{Reason: ReasonIndexUnreadable, Title: plural(n, what, what+"s") + " unreadable", Message: message})
}

// GitBusy are repositories that git had no memory for. The answer is incomplete.
func GitBusy(names []string) Skip {
	return newIncomplete(len(names), query.Skipped{
		Reason: ReasonGitBusy, Title: plural(len(names), "repository", "repositories") + " not read",
		Message: "Revisions of these repositories that are not indexed are read through git, whose processes use all the memory " +
			"that they may have at the moment. Search again later: `" + strings.Join(names[:min(len(names), MaxNamed)], "`, `") + "`.",
	})
}

// RevisionsNotIndexed are repositories with revisions that index:only leaves out.
// The answer is incomplete.
func RevisionsNotIndexed(repositories int) Skip {
	return newIncomplete(repositories, query.Skipped{
		Reason: ReasonRevisionNotIndexed, Title: formatCount(repositories) + " not indexed", Severity: "info",
		Message: "Only indexed branches were searched, as `index:only` asks; revisions of " + plural(repositories, "repository", "repositories") +
			" are not indexed.",
		SuggestedTitle: "search all revisions", SuggestedQuery: "index:yes",
	})
}

// RevisionsOverLimit are revisions beyond what one search may list. The answer is
// incomplete.
func RevisionsOverLimit(n int) Skip {
	return newIncomplete(n, query.Skipped{
		Reason: ReasonRevisionLimit, Title: plural(n, "revision", "revisions"),
		Message: plural(n, "revision was", "revisions were") + " not searched: there are more revisions without an index than one search may read. " +
			"Name fewer, or index their branches.",
	})
}

// RevisionsUnreadable are revisions whose files git cannot list. The answer is
// incomplete.
func RevisionsUnreadable(names []string) Skip {
	return newIncomplete(len(names), query.Skipped{
		Reason: ReasonRevisionUnreadable, Title: formatCount(len(names)) + " unreadable",
		Message: "Files of these revisions cannot be listed, as in a repository that is damaged or shallow: `" +
			strings.Join(names[:min(len(names), MaxNamed)], "`, `") + "`.",
	})
}

// ObjectsMissing are files whose content git could not read. The answer is
// incomplete.
func ObjectsMissing(files int) Skip {
	of := countFiles(files)
	return newIncomplete(files, query.Skipped{
		Reason: ReasonObjectsMissing, Title: of + " unreadable",
		Message: "The content of " + of + " at the revisions searched is not there or damaged. Only the paths were searched.",
	})
}

// NoText are documents without searchable text, by reason.
func NoText(counts map[shard.Reason]int) Skip {
	total := 0
	var parts []string
	for reason := shard.Reason(0); int(reason) < shard.NumReasons; reason++ {
		if n := counts[reason]; n > 0 {
			total += n
			parts = append(parts, fmt.Sprintf("%s %s", formatCount(n), reason))
		}
	}
	return newSkip(total, query.Skipped{
		Reason: ReasonNoText, Title: countFiles(total) + " without text", Severity: "info",
		Message: fmt.Sprintf("Only the paths of %s were searched, since they hold no text that can be: %s. `trawl repo skipped` lists them.",
			countFiles(total), strings.Join(parts, ", ")),
	})
}

// SymbolsMissing are files whose symbols were not read yet. The answer is
// incomplete.
func SymbolsMissing(files int) Skip {
	return newIncomplete(files, query.Skipped{
		Reason: ReasonSymbolsMissing, Title: "symbols missing",
		Message: fmt.Sprintf("The symbols of %s have not been read yet, so results may be missing. "+
			"If this message stays, universal-ctags is not installed or symbols are switched off: see the log of the server.", countFiles(files)),
	})
}

// SymbolsFailed are files that no parser of symbols could read.
func SymbolsFailed(files int) Skip {
	of := countFiles(files)
	return newSkip(files, query.Skipped{
		Reason: ReasonSymbolsFailed, Title: of + " without symbols", Severity: "info",
		Message: "The symbols of " + of + " could not be read: the text is too large, or its parser too slow. Search for the text instead.",
	})
}

// TextsCut are texts with more matches than are kept. The answer is incomplete.
// Files can be listed in place of their matches unless the query selects something
// itself.
func TextsCut(texts int, selects bool) Skip {
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
	return newIncomplete(texts, s)
}

// PreviewsShortened are commits with more matches than their preview shows.
func PreviewsShortened(n int) Skip {
	of := plural(n, "preview", "previews")
	return newSkip(n, query.Skipped{
		Reason: ReasonPreviewShortened,
		Title:  of + " shortened",
		Message: "All matches are counted, but " + of + " of a diff left some out: at most 5 files are shown, 3 hunks of each and 7 lines of a hunk. " +
			"The page of a commit has all of it.",
		Severity: "info",
	})
}

// OlderCommits are commits that time was up for before git had read them; n is a lower
// bound if more may have followed. The answer is incomplete.
func OlderCommits(n int, more bool) Skip {
	title := plural(n, "commit", "commits") + " not searched"
	switch {
	case n == 0 && !more:
		return Skip{}
	case n == 0:
		title = "older commits not searched"
	case more:
		title = formatCount(n) + "+ commits not searched"
	}
	skip := newIncomplete(1, query.Skipped{Reason: ReasonHistoryDepth, Title: title,
		Message: "Commits older than the index reaches are read through git, the newest first, until the time is up. " +
			"Narrow the search with `after:`, `author:` or `file:`, give it more time, or have more commits indexed with the setting `history-diffs`.",
	})
	skip.timeHelps = true
	return skip
}

// HistoriesMissing are repositories whose commits are still being indexed.
func HistoriesMissing(names []string) Skip {
	return newSkip(len(names), histories(ReasonHistoryMissing, "not read yet",
		"are still being read into the index; until that is done they are searched through git, which is slow", names))
}

// HistoriesUnreadable are repositories whose commits git could not read. The answer
// is incomplete.
func HistoriesUnreadable(names []string) Skip {
	return newIncomplete(len(names), histories(ReasonHistoryUnreadable, "unreadable", "could not be read from their source, so commits may be missing", names))
}

func histories(reason, word, state string, names []string) query.Skipped {
	return query.Skipped{
		Reason: reason, Title: plural(len(names), "history", "histories") + " " + word,
		Message: "The commits of " + plural(len(names), "repository", "repositories") + " " + state + ":" + listNames(names, len(names)),
	}
}

// DiffsTooLarge are files of commits whose diffs are not kept.
func DiffsTooLarge(n int) Skip {
	return newSkip(n, query.Skipped{
		Reason: ReasonDiffTooLarge, Title: plural(n, "diff", "diffs") + " too large", Severity: "info",
		Message: "The diffs of " + plural(n, "changed file", "changed files") +
			" are larger than the index keeps, or damaged. Their commits are still found by message, author, date and path.",
	})
}
