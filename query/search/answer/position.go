package answer

// Position is a position between two groups of documents: those before it are sent.
// The zero value is before the first group.
type Position struct {
	// Groups is how many groups are before it, TextsCut how many of their documents
	// have more matches than are kept.
	Groups, TextsCut int
	// counts are those of the sender at that position.
	counts counts
}

// counts are the counts of a sender: its limits, and its matches up to now.
type counts struct {
	// left is how many matches the whole search may still count, leftHere how many
	// the basic queries at hand may, display how many may still be sent.
	left, leftHere, display int
	// found is how many matches were found, whether the sink got them or not.
	found int
	// shortened is how many of them leave out something that matches.
	shortened int
	// counted and delivered are how many matches were counted, and how many the sink
	// took, by all runs.
	counted, delivered int
}

// Progress is how far an answer has come. The zero value is its beginning.
type Progress struct {
	// counted and delivered are how many matches were counted, and how many the sink
	// took.
	counted, delivered int
	// position is behind the last group of documents that was sent as a whole.
	position Position
}

// Position returns the place from which documents are verified.
func (p *Progress) Position() Position { return p.position }
