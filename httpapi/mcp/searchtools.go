package mcp

import (
	"context"
	"slices"
	"strings"

	"github.com/trawlsearch/trawl/query/syntax"
)

// shape is how much of what was found is shown.
type shape struct {
	Limit   int `json:"limit,omitempty" jsonschema:"most files to show, 1 to 100; 15 if left out"`
	Context int `json:"context,omitempty" jsonschema:"lines to show around each match, 0 to 10"`
	size
}

type keywordArgs struct {
	Query string `json:"query" jsonschema:"words that all stand in a file, such as: parse config error"`
	within
	shape
}

func keywordSearch(ctx context.Context, a *asker, in keywordArgs) (string, error) {
	return a.files(ctx, in.Query, "keyword", in.within, in.shape)
}

type regexpArgs struct {
	Pattern       string `json:"pattern" jsonschema:"regular expression, such as func \\w+Handler\\("`
	CaseSensitive bool   `json:"case_sensitive,omitempty" jsonschema:"whether upper and lower case differ"`
	within
	shape
}

func regexpSearch(ctx context.Context, a *asker, in regexpArgs) (string, error) {
	if in.CaseSensitive {
		in.Pattern = syntax.WithFilter(in.Pattern, "case", "yes")
	}
	return a.files(ctx, in.Pattern, "regexp", in.within, in.shape)
}

// files searches for files and shows them.
func (a *asker) files(ctx context.Context, text, patternType string, in within, how shape) (string, error) {
	f, err := a.searchWithin(ctx, text, patternType, in, how.Context)
	if err != nil {
		return "", err
	}
	p := newPage(how.MaxBytes)
	shown := f.show(p, bounded(how.Limit, 15, 100))
	return f.finish(p, shown), nil
}

// searchWithin checks a query, adds filters to it and runs it.
func (a *asker) searchWithin(ctx context.Context, text, patternType string, in within, contextLines int) (*found, error) {
	if strings.TrimSpace(text) == "" {
		return nil, instruct("the query is empty: give words or a pattern to search for.")
	}
	if err := checkText("the query", text, maxQueryBytes); err != nil {
		return nil, err
	}
	text, err := in.filters(text)
	if err != nil {
		return nil, err
	}
	return a.search(ctx, text, patternType, min(max(contextLines, 0), 10))
}

type naturalArgs struct {
	Question string `json:"question" jsonschema:"question or description in plain words, such as: where is the retry delay of the HTTP client computed?"`
	within
	shape
}

// naturalSearch searches for all telling words of a question. Where nothing has all of
// them, words that stand nowhere are dropped, and then the most frequent ones.
func naturalSearch(ctx context.Context, a *asker, in naturalArgs) (string, error) {
	if err := checkText("question", in.Question, maxQueryBytes); err != nil {
		return "", err
	}
	words := tellingWords(in.Question)
	if len(words) == 0 {
		return "", instruct("the question has no telling word: name what the code is about, such as a function, an error text or a concept.")
	}
	f, err := a.searchWithin(ctx, keywordQuery(words), "keyword", in.within, in.Context)
	if err != nil {
		return "", err
	}
	n := len(words)
	if len(f.Matches) == 0 && n > 1 {
		if n, err = a.rarestFirst(ctx, words, in.within); err != nil {
			return "", err
		}
	}
	for len(f.Matches) == 0 && n > 0 {
		if f, err = a.searchWithin(ctx, keywordQuery(words[:n]), "keyword", in.within, in.Context); err != nil {
			return "", err
		}
		if len(f.Matches) == 0 {
			n--
		}
	}
	p := newPage(in.MaxBytes)
	if n > 0 {
		p.note("Searched for: %s", strings.Join(words[:n], ", "))
	}
	if n < len(words) {
		p.note("Nothing has these words as well, so they were dropped: %s", strings.Join(words[n:], ", "))
	}
	return f.finish(p, f.show(p, bounded(in.Limit, 15, 100))), nil
}

// rarestFirst puts words in the order of how often they stand somewhere, and returns how
// many do. The others go last.
func (a *asker) rarestFirst(ctx context.Context, words []string, in within) (n int, err error) {
	counts := map[string]int{}
	for _, w := range words {
		f, err := a.searchWithin(ctx, "count:300 "+keywordQuery([]string{w}), "keyword", in, 0)
		if err != nil {
			return 0, err
		}
		if counts[w] = f.Report.Progress().Matches; counts[w] > 0 {
			n++
		}
	}
	slices.SortStableFunc(words, func(a, b string) int {
		if (counts[a] == 0) != (counts[b] == 0) {
			return counts[b] - counts[a]
		}
		return counts[a] - counts[b]
	})
	return n, nil
}
