package shard

// IndexVersion numbers the layouts of what stands in a shard. A shard's header
// has that of the shard. Versions are never renumbered or removed: shards of an
// older one are searched as they are until they have been rewritten.
type IndexVersion int

const (
	// IndexFoldedLists has posting lists of trigrams folded to lower case.
	IndexFoldedLists IndexVersion = 1
	// IndexExactLists has lists of trigrams with an upper-case letter besides.
	IndexExactLists IndexVersion = 2
	// IndexPackedText has text that readers unpack themselves; the engine keeps it packed.
	IndexPackedText IndexVersion = 3

	// IndexNewest is what this program writes.
	IndexNewest = IndexPackedText
)

// IndexAbout returns a short description of an index version.
type IndexAbout struct {
	Version IndexVersion
	Name    string
	// Gain is what a search has of it, Releases are the programs that read it.
	Gain, Releases string
}

// IndexFormats are all index versions there ever were, the oldest first.
func IndexFormats() []IndexAbout {
	return []IndexAbout{
		{IndexFoldedLists, "folded", "the first index", "all"},
		{IndexExactLists, "exact", "`case:yes MUTEX_LOCK` reads lists of its own spelling", "0.1 and later"},
		{IndexPackedText, "packed", "text beyond the caches is unpacked in a third of the time", "0.1 and later"},
	}
}

// Outdated reports whether the shard would be laid out in another way if it was
// written now.
func (h *Header) Outdated() bool { return h.Index < IndexNewest }

// exact reports whether there are lists for trigrams with an upper-case letter.
func (h *Header) exact() bool { return h.Index >= IndexExactLists }

// packed reports whether the chunks of text are packed.
func (h *Header) packed() bool { return h.Index >= IndexPackedText }
