package report

// FacetScope says which kinds of filters are suggested for a query. A filter
// that is appended to the query has to select what it counts, so some are not
// suggested to some queries. The zero value is a query of patterns only.
type FacetScope struct {
	// OnlyType is the type that the query asks for.
	OnlyType string
	// ManyTypes says that it asks for several, so that one more selects no less.
	ManyTypes bool
	// Negated says that a pattern is: a document that has it in its path, or in
	// its text, matches where only the other is looked at.
	Negated bool
	// Selects says that the query has a select:.
	Selects bool
	// SelectsDirectories says that it selects something else than files.
	SelectsDirectories bool
	// CaseSensitive says how author: and file: are compared.
	CaseSensitive bool
	// CaseMixed says that parts of the query differ in that.
	CaseMixed bool
	// AnyRevision says that a suggestion names no revision: rev: forbids it, and a
	// glob is not cut with a name.
	AnyRevision bool
}

// suggests reports whether filters of type: are suggested.
func (s *FacetScope) suggests(kind string) bool {
	return !s.ManyTypes && !s.Selects && (s.OnlyType == "" || s.OnlyType == kind)
}
