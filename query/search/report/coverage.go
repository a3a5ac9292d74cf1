package report

// Coverage counts the documents or commits of one repository at one revision
// that a search looked at.
type Coverage struct {
	// Repository is its name, Revision the revision as typed, empty for the
	// default branch, and Commit the full id of what was searched, empty when
	// there is nothing yet.
	Repository, Revision, Commit string
	// Commits says that the numbers are of commits, Commit being the newest.
	Commits bool
	// Documents are those of the commit. Candidates are those of them that the
	// index did not rule out, Verified those that were tried; a document counts
	// again for each part of a query that is searched by itself. Both are -1 for
	// a client that may not see all repositories, since the lists that decide are
	// of all.
	Documents, Candidates, Verified int
	// Unsearched counts the skipped ones, by reason.
	Unsearched []Unsearched
}

// Work returns Candidates and Verified.
func (c Coverage) Work() [2]int { return [2]int{c.Candidates, c.Verified} }

// Unsearched counts the documents that a search did not look at for one reason,
// in the words that skipped entries and lists of skipped documents have: their
// content ("binary"), or all of them ("shard-timeout").
type Unsearched struct {
	Reason string
	// Documents is 0 when their number is unknown.
	Documents int
}

// Rest sums up the repositories that a list of Coverage has no place for.
type Rest struct {
	Repositories, Documents int
	// Unsearchable are the documents without searchable content.
	Unsearchable int
}

// ReasonStopped is the reason in coverage where a search ended for another reason
// than a limit, such as a client that has gone.
const ReasonStopped = "stopped"
