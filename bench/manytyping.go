package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"time"
)

// The goals of answers for which a person types on.
const (
	completionGoal = 20 * time.Millisecond
	finderGoal     = 30 * time.Millisecond
)

// typed is what a page asks while a person types.
type typed struct {
	name, path string
	values     url.Values
	goal       time.Duration
	// none says that there is nothing to find.
	none bool
}

// typedOf returns what is asked about a repository, and about all.
func typedOf(repository string) []typed {
	const completions, files = "/.api/search/completions", "/.api/code/files"
	one := "repo:^" + regexp.QuoteMeta(repository) + "$ "
	complete := func(name, query string) typed {
		return typed{name: "completion, " + name, path: completions, values: url.Values{"q": {query}}, goal: completionGoal}
	}
	find := func(name, text, in string) typed {
		values := url.Values{"q": {text}}
		if in != "" {
			values.Set("repository", in)
		}
		return typed{name: "finder, " + name, path: files, values: values, goal: finderGoal}
	}
	nothing := find("no file of all", "qzxjqzxj", "")
	nothing.none = true
	return []typed{
		complete("filter", "re"), complete("repo:", "repo:g"), complete("repo: with a folder", "repo:"+path.Dir(repository)+"/"), complete("lang:", "lang:g"),
		complete("file:", "file:read"), complete("file: of one", one+"file:read"), complete("author: of one", one+"author:a"),
		find("files of one", "read", repository), find("files of all", "read", ""), nothing,
	}
}

// typing times what a page asks while a person types.
func (m *manyRun) typing(ctx context.Context, s *manyServer) error {
	m.Note("asking as one types")
	for _, asked := range typedOf(m.fleet.repository(m.fleet.forked(m.Repositories / 2)).name) {
		facts := ManyAsked{Name: asked.name}
		for run := range m.Runs + 1 {
			start := time.Now()
			text, err := fetch(ctx, &s.client, s.base+asked.path+"?"+asked.values.Encode())
			if err != nil {
				return fmt.Errorf("%s: %w", asked.name, err)
			}
			if facts.Bytes = len(text); run > 0 {
				facts.Took = append(facts.Took, time.Since(start))
				continue
			}
			var answer struct{ Items, Results []json.RawMessage }
			if err := json.Unmarshal([]byte(text), &answer); err != nil {
				return fmt.Errorf("%s: %w", asked.name, err)
			}
			if found := len(answer.Items) + len(answer.Results); (found == 0) != asked.none {
				m.problem("%s: %d proposals", asked.name, found)
			}
		}
		m.report.Typing = append(m.report.Typing, ManyTyped{facts, asked.goal})
	}
	return nil
}

func (a ManyAsked) median() time.Duration {
	return median(a.Took, func(d time.Duration) time.Duration { return d })
}
