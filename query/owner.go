package query

// OwnerMatch is a person or team who owns documents that matched.
type OwnerMatch struct {
	// Repo is the repository whose rules say so, the first if several do.
	Repo *Repository
	// Handle is a name on a code host without its @, Email an address; one of
	// them is empty.
	Handle, Email string
	// IsTeam says that the handle is that of a team.
	IsTeam bool
}

// Count returns 1.
func (m *OwnerMatch) Count() int { return 1 }

// In returns the repository whose rules name the owner.
func (m *OwnerMatch) In() *Repository { return m.Repo }
