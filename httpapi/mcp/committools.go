package mcp

import (
	"context"
	"strings"

	"github.com/trawlsearch/trawl/query/syntax"
)

// among are the arguments that confine a search of commits.
type among struct {
	Repository string `json:"repository,omitempty" jsonschema:"only repositories whose name matches this name or regular expression"`
	Path       string `json:"path,omitempty" jsonschema:"only commits that changed a file whose path matches this regular expression"`
	Author     string `json:"author,omitempty" jsonschema:"only commits whose author's name or address matches this regular expression"`
	After      string `json:"after,omitempty" jsonschema:"only commits after this date, such as 2024-01-31 or 2 weeks ago"`
	Before     string `json:"before,omitempty" jsonschema:"only commits before this date"`
	Limit      int    `json:"limit,omitempty" jsonschema:"most commits to show, 1 to 100; 20 if left out"`
	size
}

// commits searches for commits and shows them.
func (a *asker) commits(ctx context.Context, text, kind, patternType string, in among) (string, error) {
	text = strings.TrimSpace(text)
	if text == "" && in.Author == "" && in.After == "" && in.Before == "" && in.Path == "" {
		return "", instruct("nothing is asked for: give a query, an author, a date or a path.")
	}
	text = syntax.WithFilter(text, "type", kind)
	for _, f := range []struct{ argument, field, value string }{
		{"author", "author", in.Author}, {"after", "after", in.After}, {"before", "before", in.Before},
	} {
		if f.value == "" {
			continue
		}
		if err := checkText(f.argument, f.value, maxNameBytes); err != nil {
			return "", err
		}
		text = syntax.WithFilter(text, f.field, f.value)
	}
	f, err := a.searchWithin(ctx, text, patternType, within{Repository: in.Repository, Path: in.Path}, 0)
	if err != nil {
		return "", err
	}
	p := newPage(in.MaxBytes)
	return f.finish(p, f.show(p, bounded(in.Limit, 20, 100))), nil
}

type commitArgs struct {
	Query string `json:"query,omitempty" jsonschema:"words that all stand in the message; may be empty with other arguments"`
	among
}

func commitSearch(ctx context.Context, a *asker, in commitArgs) (string, error) {
	return a.commits(ctx, in.Query, "commit", "keyword", in.among)
}

type diffArgs struct {
	Query  string `json:"query" jsonschema:"text that an added or removed line has"`
	Regexp bool   `json:"regexp,omitempty" jsonschema:"whether query is a regular expression"`
	among
}

func diffSearch(ctx context.Context, a *asker, in diffArgs) (string, error) {
	patternType := "standard"
	if in.Regexp {
		patternType = "regexp"
	}
	if strings.TrimSpace(in.Query) == "" {
		return "", instruct("query is empty: give text that an added or removed line has, or use commit_search.")
	}
	return a.commits(ctx, in.Query, "diff", patternType, in.among)
}
