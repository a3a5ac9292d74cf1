package answer

// Position is where the groups of documents are cut in two: those before are sent.
// The zero value is before the first.
type Position struct {
	// Groups is how many are before, cut how many of their documents have more
	// matches than are kept.
	Groups, TextsCut int
	// counts are those of the sender at that place.
	counts counts
}

// counts are what a sender has counted and may still count.
type counts struct {
	// left is what the whole search may still count, leftHere what the basic
	// queries at hand may, display what may still be sent.
	left, leftHere, display int
	// sent is how many matches were found, whether the sink got them or not.
	sent int
	// shortened is how many of them leave out something that matches.
	shortened int
	// counted and taken are how many matches were counted, and how many the sink
	// took, by all runs.
	counted, taken int
}

// Progress is how far an answer has come. The zero value is its beginning.
type Progress struct {
	// counted and taken are how many matches were counted, and how many the sink
	// took.
	counted, taken int
	// position is behind the last group of documents that was sent as a whole.
	position Position
}

// Position returns the place from which documents are verified.
func (p *Progress) Position() Position { return p.position }
