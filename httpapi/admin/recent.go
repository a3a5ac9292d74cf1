package admin

import "time"

// Recent is what a server did in the last hour.
type Recent struct {
	// Samples are in the order of their times, Every apart.
	Samples []Sample
	Every   time.Duration
	// Slow are the last searches that took long, the latest first.
	Slow []SlowSearch
}

// Sample is how a server was at a time, and what it did since the one before.
type Sample struct {
	At time.Time
	// Searches counts those that ended; Median and P99 are how long half and 99 of 100
	// of them took at most.
	Searches    int
	Median, P99 time.Duration
	// MemoryBytes is what the process takes.
	MemoryBytes uint64
	// Waiting counts the repositories that are synced or wait for it, Failing those
	// whose last sync failed.
	Waiting, Failing int
	// Lag is what 99 of 100 repositories were looked at within.
	Lag time.Duration
	// FreeBytes is what the disk has left.
	FreeBytes uint64
}

// SlowSearch is a search that took long.
type SlowSearch struct {
	At       time.Time
	Took     time.Duration
	Kind     string
	Matches  int
	Outcome  string
	Complete bool
	// Text is the query, "" unless the settings let it be shown.
	Text string
}
