package metrics

// reasons are the reasons for which a search leaves something out. One that does
// not stand here is counted as "other".
var reasons = []string{
	"backend-missing", "content-unsearchable", "credential-ended", "diff-too-large", "display", "document-match-limit", "excluded-archive",
	"git-busy", "history-depth", "history-missing", "history-unreadable",
	"objects-missing", "preview-shortened", "repository-cloning", "repository-fork", "repository-indexing", "repository-missing", "revision-limit", "revision-not-indexed",
	"revision-unreadable", "search-error", "server-closing", "shard-match-limit", "shard-timeout", "symbols-failed", "symbols-missing",
}
