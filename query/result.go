package query

import "time"

// Location is a place in a text: a document, a path or a name. All three
// count from zero.
type Location struct {
	// Offset counts bytes from the start of the text.
	Offset uint32
	// Line counts the newlines before.
	Line uint32
	// Column counts runes since the last newline; an invalid byte is one rune.
	Column uint32
}

// Range is a half-open interval of a text.
type Range struct{ Start, End Location }

// Chunk is a run of whole lines of a document with the ranges confirmed in it.
type Chunk struct {
	// Content is the lines' text with the final newline, if the document has
	// one there. The receiver owns it.
	Content []byte
	// Start is where Content begins in the document; its column is zero.
	Start Location
	// Ranges are relative to the document, sorted and disjoint.
	Ranges []Range
}

// Repository is what a match tells about the repository it stands in.
type Repository struct {
	ID          uint32
	Name        string
	Stars       int
	LastFetched time.Time
	Description string
	Fork        bool
	Archived    bool
	Private     bool
	Topics      []string
	// Metadata maps a key to its value, nil for a tag without one.
	Metadata map[string]*string
}

// Match is one confirmed result: *FileMatch, *CommitMatch, *RepoMatch or
// *OwnerMatch.
type Match interface {
	// Count is the result count: what count:, display and matchCount count.
	Count() int
	// In is the repository of the match; never nil.
	In() *Repository
}

// FileMatch is a document that matched by content, path, symbols or several of
// them.
type FileMatch struct {
	Repo *Repository
	Path string
	// Commit is the full hex id of the commit that was searched.
	Commit string
	// Rev is the revision as typed, empty for the default branch.
	Rev string
	// Language is the name of the detected language, empty if unknown.
	Language string
	// Chunks is empty for a match by path only.
	Chunks []Chunk
	// Symbols are those whose names matched, in the order of the document.
	Symbols []Symbol
	// PathRanges are the places in Path that patterns and file filters hit:
	// expression after expression, neither sorted nor merged.
	PathRanges []Range
	// InText is what the match would count if only text were searched, 0 if the
	// document would not match; InPath says that it would by its path alone.
	InText int
	InPath bool
	// Score orders matches that were found together; higher is better.
	Score float64
	// Debug explains Score when the search was asked to.
	Debug string
}

// RepoMatch is a repository that matched by name, or that select:repo made
// from other matches.
type RepoMatch struct {
	Repo *Repository
	// Rev is the revision as typed; HasRev tells an empty one from none.
	Rev               string
	HasRev            bool
	NameRanges        []Range
	DescriptionRanges []Range
}

// Count returns the number of ranges in content and of symbols, at least 1.
func (m *FileMatch) Count() int {
	n := len(m.Symbols)
	for i := range m.Chunks {
		n += len(m.Chunks[i].Ranges)
	}
	return max(n, 1)
}

// Count returns 1.
func (m *RepoMatch) Count() int { return 1 }

// In returns the repository that holds the document.
func (m *FileMatch) In() *Repository { return m.Repo }

// In returns the repository itself.
func (m *RepoMatch) In() *Repository { return m.Repo }

// Truncate returns m cut to at most n > 0 of its Count, keeping the first
// ranges and then the first symbols, and dropping chunks left without a range.
// It does not change m.
func Truncate(m Match, n int) Match {
	if m.Count() <= n {
		return m
	}
	switch m := m.(type) {
	case *FileMatch:
		return m.truncate(n)
	case *CommitMatch:
		return m.truncate(n)
	}
	return m
}

func (m *FileMatch) truncate(n int) *FileMatch {
	cut := *m
	cut.Chunks = nil
	for _, c := range m.Chunks {
		if n == 0 {
			break
		}
		if len(c.Ranges) > n {
			c.Ranges = c.Ranges[:n:n]
		}
		n -= len(c.Ranges)
		cut.Chunks = append(cut.Chunks, c)
	}
	cut.Symbols = m.Symbols[:min(n, len(m.Symbols)):min(n, len(m.Symbols))]
	return &cut
}

// Skipped is one reason why an answer may be incomplete.
type Skipped struct {
	// Reason is the API's word, such as "shard-match-limit".
	Reason string
	// Title is short plain text, Message Markdown for people.
	Title, Message string
	// Severity is "info" or "warn".
	Severity string
	// SuggestedTitle and SuggestedQuery are a query fragment that changes the
	// outcome and its label; empty when there is none.
	SuggestedTitle, SuggestedQuery string
}

// Progress is the state of a running search at one moment.
type Progress struct {
	Done bool
	// Repositories counts those with a match; told only when Done.
	Repositories int
	Matches      int
	Took         time.Duration
	Skipped      []Skipped
}

// FilterKind is the category of a filter suggestion, as on the wire.
type FilterKind string

// SuggestedFilter is query text that narrows or widens a search, with the
// results counted for it so far.
type SuggestedFilter struct {
	Value, Label string
	Count        int
	Exhaustive   bool
	Kind         FilterKind
}

// Alert tells a person something about the whole search.
type Alert struct {
	Title, Description, Kind string
	// Advice says that the query was searched as it stands, and may mean something else.
	Advice bool
	// Proposed is nil when there is nothing to propose.
	Proposed []ProposedQuery
}

// ProposedQuery is a query that may do better.
type ProposedQuery struct{ Description, Query string }
