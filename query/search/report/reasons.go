package report

// The reasons for which a search leaves something out, as skipped entries and
// coverage name them. Documents without searchable content have reasons of their
// own: shard.Reason.
const (
	ReasonMatchLimit         = "shard-match-limit"
	ReasonTimeout            = "shard-timeout"
	ReasonDisplay            = "display"
	ReasonTextCut            = "document-match-limit"
	ReasonPreviewShortened   = "preview-shortened"
	ReasonIndexUnreadable    = "backend-missing"
	ReasonFork               = "repository-fork"
	ReasonArchived           = "excluded-archive"
	ReasonCloning            = "repository-cloning"
	ReasonIndexing           = "repository-indexing"
	ReasonMissing            = "repository-missing"
	ReasonGitBusy            = "git-busy"
	ReasonRevisionNotIndexed = "revision-not-indexed"
	ReasonRevisionLimit      = "revision-limit"
	ReasonRevisionUnreadable = "revision-unreadable"
	ReasonObjectsMissing     = "objects-missing"
	ReasonNoText             = "content-unsearchable"
	ReasonSymbolsMissing     = "symbols-missing"
	ReasonSymbolsFailed      = "symbols-failed"
	ReasonHistoryDepth       = "history-depth"
	ReasonHistoryMissing     = "history-missing"
	ReasonHistoryUnreadable  = "history-unreadable"
	ReasonDiffTooLarge       = "diff-too-large"
)
