package report

import (
	"fmt"
	"strings"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/match"
	"github.com/trawlsearch/trawl/store/shard"
)

// Omission is something that a search did not look at, as a client is told of it. The
// zero value is nothing, which a function that makes an Omission of zero things returns.
type Omission struct {
	skipped query.Skipped
	// incomplete says that it makes the answer incomplete. The others are told, and do
	// not.
	incomplete bool
}

// incompleteFor returns an omission that makes the answer incomplete, nothing if n is 0.
func incompleteFor(n int, s query.Skipped) Omission {
	if n == 0 {
		return Omission{}
	}
	return Omission{s, true}
}

// told returns an omission that leaves the answer complete, nothing if n is 0.
func told(n int, s query.Skipped) Omission {
	if n == 0 {
		return Omission{}
	}
	return Omission{s, false}
}

// UnreadableShards are shards of which some part is damaged. The answer is
// incomplete.
func UnreadableShards(n int) Omission {
	return unreadableIndex(n, "shard", "Part of the index could not be read, so results may be missing. "+
		"The server rebuilds damaged parts by itself; `trawl check --repair` does so at once.")
}

// UnreadableRecords are repositories whose records are damaged. The answer is
// incomplete.
func UnreadableRecords(n int) Omission {
	return unreadableIndex(n, "record", "The records of repositories are damaged, so they were not searched. "+
		"`trawl check` names them, and `trawl check --repair` indexes those again whose source is known.")
}

func unreadableIndex(n int, what, message string) Omission {
	return incompleteFor(n, query.Skipped{Reason: ReasonIndexUnreadable, Title: plural(n, what, what+"s") + " unreadable", Message: message})
}

// GitBusy are repositories that git had no memory for. The answer is incomplete.
func GitBusy(names []string) Omission {
	return incompleteFor(len(names), query.Skipped{
		Reason: ReasonGitBusy, Title: plural(len(names), "repository", "repositories") + " not read",
		Message: "Revisions of these repositories that are not indexed are read through git, whose processes use all the memory " +
			"that they may have at the moment. Search again later: `" + strings.Join(names[:min(len(names), MaxNamed)], "`, `") + "`.",
	})
}

// RevisionsNotIndexed are repositories with revisions that index:only leaves out.
// The answer is incomplete.
func RevisionsNotIndexed(repositories int) Omission {
	return incompleteFor(repositories, query.Skipped{
		Reason: ReasonRevisionNotIndexed, Title: formatCount(repositories) + " not indexed", Severity: "info",
		Message: "Only indexed branches were searched, as `index:only` asks; revisions of " + plural(repositories, "repository", "repositories") +
			" are not indexed.",
		SuggestedTitle: "search all revisions", SuggestedQuery: "index:yes",
	})
}

// RevisionsOverLimit are revisions beyond what one search may list. The answer is
// incomplete.
func RevisionsOverLimit(n int) Omission {
	return incompleteFor(n, query.Skipped{
		Reason: ReasonRevisionLimit, Title: plural(n, "revision", "revisions"),
		Message: plural(n, "revision was", "revisions were") + " not searched: there are more revisions without an index than one search may read. " +
			"Name fewer, or index their branches.",
	})
}

// RevisionsUnreadable are revisions whose files git cannot list. The answer is
// incomplete.
func RevisionsUnreadable(names []string) Omission {
	return incompleteFor(len(names), query.Skipped{
		Reason: ReasonRevisionUnreadable, Title: formatCount(len(names)) + " unreadable",
		Message: "Files of these revisions cannot be listed, as in a repository that is damaged or shallow: `" +
			strings.Join(names[:min(len(names), MaxNamed)], "`, `") + "`.",
	})
}

// ObjectsMissing are files whose content git could not read. The answer is
// incomplete.
func ObjectsMissing(files int) Omission {
	of := countFiles(files)
	return incompleteFor(files, query.Skipped{
		Reason: ReasonObjectsMissing, Title: of + " unreadable",
		Message: "The content of " + of + " at the revisions searched is not there or damaged. Only the paths were searched.",
	})
}

// NoText are documents without searchable text, by reason.
func NoText(counts map[shard.Reason]int) Omission {
	total := 0
	var parts []string
	for reason := shard.Reason(0); int(reason) < shard.NumReasons; reason++ {
		if n := counts[reason]; n > 0 {
			total += n
			parts = append(parts, fmt.Sprintf("%s %s", formatCount(n), reason))
		}
	}
	return told(total, query.Skipped{
		Reason: ReasonNoText, Title: countFiles(total) + " without text", Severity: "info",
		Message: fmt.Sprintf("Only the paths of %s were searched, since they hold no text that can be: %s. `trawl repo skipped` lists them.",
			countFiles(total), strings.Join(parts, ", ")),
	})
}

// SymbolsMissing are files whose symbols were not read yet. The answer is
// incomplete.
func SymbolsMissing(files int) Omission {
	return incompleteFor(files, query.Skipped{
		Reason: ReasonSymbolsMissing, Title: "symbols missing",
		Message: fmt.Sprintf("The symbols of %s have not been read yet, so results may be missing. "+
			"If this message stays, universal-ctags is not installed or symbols are switched off: see the log of the server.", countFiles(files)),
	})
}

// SymbolsFailed are files that no parser of symbols could read.
func SymbolsFailed(files int) Omission {
	of := countFiles(files)
	return told(files, query.Skipped{
		Reason: ReasonSymbolsFailed, Title: of + " without symbols", Severity: "info",
		Message: "The symbols of " + of + " could not be read: the text is too large, or its parser too slow. Search for the text instead.",
	})
}

// TextsCut are texts with more matches than are kept. The answer is incomplete.
// Files can be listed in place of their matches unless the query selects something
// itself.
func TextsCut(texts int, selects bool) Omission {
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
	return incompleteFor(texts, s)
}

// PreviewsShortened are commits with more matches than their preview shows.
func PreviewsShortened(n int) Omission {
	of := plural(n, "preview", "previews")
	return told(n, query.Skipped{
		Reason: ReasonPreviewShortened,
		Title:  of + " shortened",
		Message: "All matches are counted, but " + of + " of a diff left some out: at most 5 files are shown, 3 hunks of each and 7 lines of a hunk. " +
			"The page of a commit has all of it.",
		Severity: "info",
	})
}

// HistoriesMissing are repositories whose commits are still being indexed.
func HistoriesMissing(names []string) Omission {
	return told(len(names), histories(ReasonHistoryMissing, "not read yet",
		"are still being read into the index; until that is done they are searched through git, which is slow", names))
}

// HistoriesUnreadable are repositories whose commits git could not read. The answer
// is incomplete.
func HistoriesUnreadable(names []string) Omission {
	return incompleteFor(len(names), histories(ReasonHistoryUnreadable, "unreadable", "could not be read from their source, so commits may be missing", names))
}

func histories(reason, word, state string, names []string) query.Skipped {
	return query.Skipped{
		Reason: reason, Title: plural(len(names), "history", "histories") + " " + word,
		Message: "The commits of " + plural(len(names), "repository", "repositories") + " " + state + ":" + listNames(names, len(names)),
	}
}

// DiffsTooLarge are files of commits whose diffs are not kept.
func DiffsTooLarge(n int) Omission {
	return told(n, query.Skipped{
		Reason: ReasonDiffTooLarge, Title: plural(n, "diff", "diffs") + " too large", Severity: "info",
		Message: "The diffs of " + plural(n, "changed file", "changed files") +
			" are larger than the index keeps, or damaged. Their commits are still found by message, author, date and path.",
	})
}
