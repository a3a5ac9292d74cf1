package search

// facetScope is what a query says itself about what filters are suggested for. A
// filter that is appended to the query has to select what it counts, so some are
// not suggested to some queries. The zero value is a query of patterns only.
type facetScope struct {
	// only is the type that the query asks for. With types, it asks for several,
	// and one more would select nothing less.
	only  string
	types bool
	// negated says that a pattern is: a document that has it in its path, or in
	// its text, matches where only the other is looked at.
	negated bool
	// selects says that the query has a select:, directories that it selects
	// what is no file.
	selects, directories bool
	// caseSensitive says how author: and file: are compared, caseMixed that parts
	// of the query differ.
	caseSensitive, caseMixed bool
	// anyRevision says that a suggestion names no revision: rev: forbids it, and a
	// glob is not cut with a name.
	anyRevision bool
}

// suggests reports whether filters of type: are suggested.
func (s *facetScope) suggests(kind string) bool {
	return !s.types && !s.selects && (s.only == "" || s.only == kind)
}
