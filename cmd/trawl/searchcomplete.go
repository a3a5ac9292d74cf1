package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/trawlsearch/trawl/cmd/trawl/config"
	"github.com/trawlsearch/trawl/cmd/trawl/print"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/client"
	"github.com/trawlsearch/trawl/httpapi/complete"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/syntax"
)

// completedWithin bounds how long a shell waits for names.
const completedWithin = 2 * time.Second

// maxCompletionBytes bounds the answer to a completion.
const maxCompletionBytes = 1 << 20

// completeFlag gives the values of a flag to shells.
func completeFlag(cmd *cobra.Command, name string, values ...string) {
	if err := cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic("trawl: " + err.Error())
	}
}

// completeQuery completes the words of a query in a shell: filters and their values,
// and where a server runs also repositories and branches. The data directory is not
// opened for that: a shell must not wait for it.
func completeQuery(server func() (string, error), settings func() (config.Settings, error)) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmd.Context(), completedWithin)
		defer cancel()
		answer, err := askCompletions(ctx, server, settings, word)
		if err != nil {
			// A shell has no place for an error, and filters need no server.
			answer = complete.Offline(word)
		}
		return shellWords(word, answer)
	}
}

// askCompletions asks the server that the flags name, or the one that has the data
// directory open.
func askCompletions(ctx context.Context, server func() (string, error), settings func() (config.Settings, error), word string) (complete.Answer, error) {
	base, err := server()
	if err != nil {
		return complete.Answer{}, err
	}
	if base != "" {
		p, end := serverParams()
		defer end()
		return fetchCompletions(ctx, strings.TrimSuffix(base, "/"), p, word)
	}
	set, err := settings()
	if err != nil {
		return complete.Answer{}, err
	}
	s, err := serverSession(ctx, set.Data)
	if err != nil {
		return complete.Answer{}, err
	}
	answer, err := fetchCompletions(ctx, s.Base, client.Params{HTTP: s.HTTP, Header: http.Header{auth.OperatorHeader: {s.Token}}}, word)
	return answer, errors.Join(err, s.close())
}

func fetchCompletions(ctx context.Context, base string, p client.Params, word string) (answer complete.Answer, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+complete.Path+"?"+url.Values{"q": {word}}.Encode(), nil)
	if err != nil {
		return answer, err
	}
	for name, values := range p.Header {
		req.Header[name] = values
	}
	resp, err := p.HTTP.Do(req)
	if err != nil {
		return answer, err
	}
	defer func() { err = errors.Join(err, resp.Body.Close()) }()
	if resp.StatusCode != http.StatusOK {
		return answer, errors.New(resp.Status)
	}
	return answer, json.NewDecoder(io.LimitReader(resp.Body, maxCompletionBytes)).Decode(&answer)
}

// shellWords makes completions of an answer. A shell takes those only that begin
// with what was typed, so a name is proposed where its beginning was typed, and
// without the anchors that the search page writes.
func shellWords(word string, answer complete.Answer) ([]cobra.Completion, cobra.ShellCompDirective) {
	directive := cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	at := syntax.WordAt(word, len(word))
	before, typed := word[:at.Span.Start], word[at.Span.Start:]
	var out []cobra.Completion
	name, value, isValue := strings.Cut(typed, ":")
	for _, i := range answer.Items {
		text, ended := strings.CutSuffix(i.Text, " ")
		if (i.Kind == "repository" || i.Kind == "file") && !strings.HasPrefix(value, "^") {
			text = expression(i.Label)
		}
		if isValue {
			_, behind, _ := strings.Cut(text, ":")
			text = name + ":" + behind // by the name that the user wrote
		}
		// A text that would control a terminal is not proposed.
		if text = before + text; !strings.HasPrefix(text, word) || text != print.Line(text) || strings.ContainsRune(text, '\t') {
			continue
		}
		out = append(out, cobra.CompletionWithDesc(text, i.Kind))
		if !ended {
			directive |= cobra.ShellCompDirectiveNoSpace
		}
	}
	return out, directive
}

// plainName are names that stand for themselves in an expression, as far as people
// care: a period fits what it is.
var plainName = regexp.MustCompile(`^[\w./-]+$`)

// expression is the filter that finds a repository by its name.
func expression(name string) string {
	if !plainName.MatchString(name) {
		name = regexp.QuoteMeta(name)
	}
	return syntax.FormatFilter(query.Filter{Field: "repo", Value: name})
}
