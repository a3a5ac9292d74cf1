package syntax

import (
	"fmt"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/plan"
)

// The limits are far above what people type. They bound what one text can cost,
// since a union grows with the product of its "or" groups and a rev: value is
// copied to every repo:.
const (
	maxTextBytes   = 128 << 10
	maxDepth       = 500
	maxLeaves      = 10_000
	maxBasics      = 1000
	maxBasicLeaves = 50_000
	maxRevBytes    = 1 << 10
	maxCopiedBytes = 16 << 20
	maxPhraseBytes = 1 << 10
	// maxProgram is the size of all regular expressions of a query, as plan.Size
	// has it: that of the longest text without repetitions, and a little.
	maxProgram = 150_000
)

func tooLong(text string) error {
	return &query.SyntaxError{
		Message: fmt.Sprintf("query is %d bytes long, the limit is %d", len(text), maxTextBytes),
		Hint:    "search for a shorter text, or split the query",
	}
}

func tooDeep(at int) error {
	return &query.SyntaxError{
		Message: fmt.Sprintf("parentheses nest more than %d deep", maxDepth),
		Span:    query.Span{Start: at, End: at + 1},
		Hint:    "leave out parentheses, or quote a pattern that contains them",
	}
}

func tooManyLeaves(at query.Span) error {
	return &query.SyntaxError{
		Message: fmt.Sprintf("query has more than %d terms and filters", maxLeaves),
		Span:    at,
		Hint:    "write alternatives as one regular expression, /a|b|c/",
	}
}

func tooManyBasics() error {
	return &query.SyntaxError{
		Message: fmt.Sprintf("filters in OR groups expand to more than %d queries or %d terms", maxBasics, maxBasicLeaves),
		Hint:    "write alternatives inside one filter, repo:(a|b) in place of (repo:a or repo:b)",
	}
}

func revTooLong(at query.Span) error {
	return &query.SyntaxError{
		Message: fmt.Sprintf("value of rev: is longer than %d bytes", maxRevBytes),
		Span:    at,
		Hint:    "name fewer revisions, or use a glob such as rev:*refs/tags/v1.*",
	}
}

func tooManyRepetitions() error {
	return &query.SyntaxError{
		Message: "regular expressions are too large with their repetitions spelled out",
		Hint:    "repeat less often, .{0,100} in place of .{0,1000}, or leave out the upper bound",
	}
}

func patternTooDeep() error {
	return &query.SyntaxError{
		Message: fmt.Sprintf("regular expression nests more than %d deep", plan.MaxHeight),
		Hint:    "leave out parentheses",
	}
}
