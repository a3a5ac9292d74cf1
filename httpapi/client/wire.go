package client

import (
	"encoding/json"
	"time"
)

// Match is one match of any type. Fields that its type does not have are zero;
// Raw holds all of it.
type Match struct {
	// Raw is the object as the server sent it.
	Raw json.RawMessage `json:"-"`

	// Type is "content", "path", "repo", "symbol", "commit", "person" or
	// "team".
	Type string `json:"type"`

	Path        string  `json:"path"`
	PathMatches []Range `json:"pathMatches"`

	RepositoryID    int64      `json:"repositoryID"`
	Repository      string     `json:"repository"`
	RepoStars       int        `json:"repoStars"`
	RepoLastFetched *time.Time `json:"repoLastFetched"`
	// Branches holds the revision as typed, "" for the default branch.
	Branches []string `json:"branches"`
	Commit   string   `json:"commit"`

	// A content match has one of these, as Params.Chunks asked.
	LineMatches  []LineMatch  `json:"lineMatches"`
	ChunkMatches []ChunkMatch `json:"chunkMatches"`

	// Symbols are of matches of type symbol.
	Symbols []Symbol `json:"symbols"`

	Language string `json:"language"`
	Debug    string `json:"debug"`

	// These are of matches of type repo.
	RepositoryMatches  []Range            `json:"repositoryMatches"`
	Description        string             `json:"description"`
	DescriptionMatches []Range            `json:"descriptionMatches"`
	Fork               bool               `json:"fork"`
	Archived           bool               `json:"archived"`
	Private            bool               `json:"private"`
	Metadata           map[string]*string `json:"metadata"`
	Topics             []string           `json:"topics"`

	CommitDetails
	Owner
}

// CommitDetails are the members of a match of type commit.
type CommitDetails struct {
	// Label and Detail are Markdown: links with the texts repository, author
	// and subject, and one with the abbreviated id and the age.
	Label  string `json:"label"`
	Detail string `json:"detail"`
	// URL is the page on the server that shows the commit.
	URL     string `json:"url"`
	OID     string `json:"oid"`
	Message string `json:"message"`

	AuthorName    string    `json:"authorName"`
	AuthorDate    time.Time `json:"authorDate"`
	CommitterName string    `json:"committerName"`
	CommitterDate time.Time `json:"committerDate"`

	// Content is the message or a preview of the diff as a fenced block of
	// Markdown; Ranges are places in it: line, from that of the fence, first
	// rune, and length.
	Content string   `json:"content"`
	Ranges  [][3]int `json:"ranges"`
	// HiddenRanges is how many places were found in what the preview leaves out.
	HiddenRanges int `json:"hiddenRanges"`
}

// Owner holds the members of a match of type person or team. One of Handle and
// Email is empty; the handle has no @.
type Owner struct {
	Handle string `json:"handle"`
	Email  string `json:"email"`
}

// Symbol is a definition.
type Symbol struct {
	// URL is the page on the server that shows it.
	URL           string `json:"url"`
	Name          string `json:"name"`
	ContainerName string `json:"containerName"`
	// Kind is an upper-case word such as FUNCTION.
	Kind string `json:"kind"`
	// Line counts from one.
	Line int `json:"line"`
}

// LineMatch is a line with the pieces of matches in it.
type LineMatch struct {
	Line string `json:"line"`
	// LineNumber counts from zero.
	LineNumber int `json:"lineNumber"`
	// OffsetAndLengths are in runes.
	OffsetAndLengths [][2]int `json:"offsetAndLengths"`
}

// ChunkMatch is a run of lines with the matches in it and lines around them.
type ChunkMatch struct {
	Content      string   `json:"content"`
	ContentStart Location `json:"contentStart"`
	// Ranges are relative to the file.
	Ranges           []Range `json:"ranges"`
	ContentTruncated bool    `json:"contentTruncated"`
}

// Location counts bytes, newlines and runes since the last newline, all from
// zero.
type Location struct {
	Offset int `json:"offset"`
	Line   int `json:"line"`
	Column int `json:"column"`
}

// Range is a half-open interval of a text.
type Range struct {
	Start Location `json:"start"`
	End   Location `json:"end"`
}

// Progress is the state of the search.
type Progress struct {
	Done              bool      `json:"done"`
	RepositoriesCount int       `json:"repositoriesCount"`
	MatchCount        int       `json:"matchCount"`
	DurationMs        int64     `json:"durationMs"`
	Skipped           []Skipped `json:"skipped"`
	Trace             string    `json:"trace"`
}

// Skipped is a reason why the answer may be incomplete.
type Skipped struct {
	Reason    string     `json:"reason"`
	Title     string     `json:"title"`
	Message   string     `json:"message"`
	Severity  string     `json:"severity"`
	Suggested *Suggested `json:"suggested"`
}

// Suggested is a query fragment that changes the outcome.
type Suggested struct {
	Title           string `json:"title"`
	QueryExpression string `json:"queryExpression"`
}

// Filter is a suggestion for narrowing or widening the query.
type Filter struct {
	Value      string `json:"value"`
	Label      string `json:"label"`
	Count      int    `json:"count"`
	Exhaustive bool   `json:"exhaustive"`
	Kind       string `json:"kind"`
}

// Alert is a message to a person about the whole search.
type Alert struct {
	Title           string          `json:"title"`
	Description     string          `json:"description"`
	Kind            string          `json:"kind"`
	ProposedQueries []ProposedQuery `json:"proposedQueries"`
}

// ProposedQuery is a query that may do better.
type ProposedQuery struct {
	Description string `json:"description"`
	Query       string `json:"query"`
}
