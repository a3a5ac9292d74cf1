package mcp

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rs/zerolog"
)

// tool answers a call with a text. In are its arguments.
type tool[In any] func(ctx context.Context, a *asker, in In) (string, error)

// addTools adds all tools to a server.
func (e *Endpoint) addTools(s *mcp.Server) {
	add(s, e, "keyword_search", "Search for words", `Finds files that have all of the given words, best first. Put "words in quotes" to find them side by side. The query may have filters such as repo:, file:, lang:, -file:test, and AND, OR, NOT.`, keywordSearch)
	add(s, e, "regexp_search", "Search by a regular expression", `Finds lines that match a regular expression (RE2 syntax, case-insensitive unless case_sensitive). A space means anything in between on the same line; write \s for white space.`, regexpSearch)
	add(s, e, "natural_search", "Search by a question", `Finds code for a question or description in plain words: takes the telling words out of it and drops the least telling ones until something has all the others. Prefer keyword_search where you know names.`, naturalSearch)
	add(s, e, "read_file", "Read a file", `Shows lines of a file with their numbers, at any revision.`, readFile)
	add(s, e, "list_files", "List files", `Lists the files and directories in a directory of a repository, or all files whose path matches a pattern, at any revision.`, listFiles)
	add(s, e, "list_repositories", "List repositories", `Lists the repositories that you may read, by name.`, listRepositories)
	add(s, e, "find_definitions", "Find definitions", `Finds where a function, type, variable or other name is defined.`, findDefinitions)
	add(s, e, "find_references", "Find references", `Finds all lines that have a name as a whole word, and marks those that define it. It compares text, so other things of the same name are among them.`, findReferences)
	add(s, e, "commit_search", "Search commits", `Finds commits by words of their message, author and date, newest first.`, commitSearch)
	add(s, e, "diff_search", "Search diffs", `Finds commits by what they added or removed, newest first: when a line came, or went.`, diffSearch)
	add(s, e, "compare_revisions", "Compare revisions", `Shows the commits and the changed files between two revisions of a repository, and their diffs if asked.`, compareRevisions)
	add(s, e, "blame", "Blame", `Tells for lines of a file which commit changed them last, when, and by whom.`, blame)
}

// add adds a tool that only reads.
func add[In any](s *mcp.Server, e *Endpoint, name, title, description string, f tool[In]) {
	closed := false
	e.arguments[name] = argumentNames(reflect.TypeFor[In]())
	t := &mcp.Tool{
		Name: name, Title: title, Description: description,
		Annotations: &mcp.ToolAnnotations{Title: title, ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &closed},
	}
	mcp.AddTool(s, t, func(ctx context.Context, _ *mcp.CallToolRequest, in In) (*mcp.CallToolResult, any, error) {
		x, _ := ctx.Value(callKey{}).(*exchange)
		text, err := f(ctx, &asker{e, x}, in)
		zerolog.Ctx(ctx).Debug().Str("tool", name).Int("bytes", len(text)).Bool("failed", err != nil).Msg("mcp tool")
		if err != nil {
			return nil, nil, told(ctx, name, err)
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil, nil
	})
}

// argumentNames returns the names of the arguments of a tool.
func argumentNames(t reflect.Type) []string {
	var names []string
	for _, f := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// explainErrors bounds the texts of a failed call, as those of the SDK quote arguments,
// and tells which arguments there are where the SDK refuses some.
func (e *Endpoint) explainErrors(res *mcp.CallToolResult, req mcp.Request) {
	for _, c := range res.Content {
		text, ok := c.(*mcp.TextContent)
		if !ok {
			continue
		}
		text.Text = shorten(text.Text, errorBytes)
		params, ok := req.GetParams().(*mcp.CallToolParamsRaw)
		if ok && strings.HasPrefix(text.Text, "validating \"arguments\"") {
			text.Text += fmt.Sprintf(". The arguments of %s are: %s.", params.Name, strings.Join(e.arguments[params.Name], ", "))
		}
	}
}

// told returns what a client learns of an error. Those that are not its own are logged.
func told(ctx context.Context, name string, err error) error {
	switch {
	case isInstruction(err):
		return err
	case ctx.Err() != nil:
		return instruct("the call was ended before it was answered: ask for less, or narrow it to a repository.")
	}
	zerolog.Ctx(ctx).Error().Err(err).Str("tool", name).Msg("answer mcp call")
	return &instruction{internalError}
}
