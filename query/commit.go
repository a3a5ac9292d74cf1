package query

import "time"

// Signature is who made a commit, and when.
type Signature struct {
	Name, Email string
	// Date has the zone that the commit names.
	Date time.Time
}

// CommitMatch is a commit that matched by its message or by what it changed.
type CommitMatch struct {
	Repo *Repository
	// OID is the full hex id of the commit.
	OID               string
	Author, Committer Signature
	// Message is valid UTF-8 without white space around it.
	Message string
	// IsDiff says that what the commit changed was searched, not its message.
	IsDiff bool
	// Body is what is shown: Message, or a preview made by query/diff, which
	// is empty or ends with a newline.
	Body string
	// Ranges are places in Body, sorted and disjoint.
	Ranges []Range
	// Hidden is how many places were found in what Body leaves out. Cut says that
	// it leaves out something that matches.
	Hidden int
	Cut    bool
}

// Count returns the number of places found, at least 1.
func (m *CommitMatch) Count() int { return max(len(m.Ranges)+m.Hidden, 1) }

// In returns the repository that holds the commit.
func (m *CommitMatch) In() *Repository { return m.Repo }

// truncate returns m with n places: its first ranges, then hidden ones.
func (m *CommitMatch) truncate(n int) *CommitMatch {
	cut := *m
	shown := min(n, len(m.Ranges))
	cut.Ranges = m.Ranges[:shown:shown]
	cut.Hidden = n - shown
	return &cut
}
