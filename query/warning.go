package query

// Warning is a part of a query text that is searched as it stands, but may have
// been meant as something else.
type Warning struct {
	// Message says how the part was read.
	Message string
	Span    Span
	// Proposed is the whole query as it may have been meant, empty if that is
	// not known.
	Proposed string
	// Plausible says that people also mean what was read, so the warning is of
	// use only where nothing was found.
	Plausible bool
}
