package manage

import "time"

// LastSync is what a server knows of the last sync of a repository that did something.
type LastSync struct {
	// Log is nil if this server has synced nothing of the repository since it started, or
	// too many others since.
	Log *SyncLog
	// Node is where people find the node of a cluster that syncs the repository, "" for
	// the one that is asked, and where Log is set.
	Node string
}

// SyncLog is the log of a sync. Its texts hold no secrets and no control characters. It
// is shared, and not to be changed.
type SyncLog struct {
	Began time.Time
	// Took is the whole time, with that of waiting.
	Took time.Duration
	// Steps are in the order of their beginning. What followed the sync comes last.
	Steps []SyncStep
	// Reindexed says that all was to be read again.
	Reindexed bool
	// Added, Removed and Unchanged count documents.
	Added, Removed, Unchanged int
	// Bytes counts the bytes of files read.
	Bytes int64
	// Skipped counts the documents added whose content is not searched, by why.
	Skipped []SkippedCount
	// Branches are the first of those whose commit has changed; MoreBranches counts the
	// others.
	Branches     []BranchChange
	MoreBranches int
	// Git is what git said last.
	Git []string
	// Error is why the sync failed, or what it left out, "" for nothing.
	Error string
}

// SyncStep is a step of a sync, or of what followed it.
type SyncStep struct {
	// Phase is that of ingest.Progress.
	Phase string
	Took  time.Duration
	// Count is how many documents, symbols or commits were read, 0 for other steps.
	Count int
	// Error is why it failed.
	Error string
}

// SkippedCount is how many documents have a reason.
type SkippedCount struct {
	Reason string
	Count  int
}

// BranchChange is a branch with its commit before and after a sync, "" for none.
type BranchChange struct{ Name, Before, After string }
