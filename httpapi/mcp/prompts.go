package mcp

import (
	"context"
	_ "embed"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// language tells the query language, with examples that are searched by a test.
//
//go:embed language.md
var language string

// addPrompts adds the prompts, which do not depend on who asks.
func addPrompts(s *mcp.Server) {
	s.AddPrompt(&mcp.Prompt{
		Name: "query_language", Title: "The query language", Description: "How queries of keyword_search and the other tools are written, with examples.",
	}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return prompt("The query language of trawl", language), nil
	})
	s.AddPrompt(&mcp.Prompt{
		Name: "find_code", Title: "Find code that answers a question", Description: "A plan to find the file and line that answer a question about code.",
		Arguments: []*mcp.PromptArgument{
			{Name: "question", Title: "Question", Description: "What you want to know.", Required: true},
			{Name: "repository", Title: "Repository", Description: "Name of the repository, if you know it."},
		},
	}, func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		question := shorten(req.Params.Arguments["question"], maxQueryBytes)
		where := ""
		if repo := shorten(oneLine(req.Params.Arguments["repository"]), maxNameBytes); repo != "" {
			where = " Search in the repository " + repo + " only."
		}
		if strings.TrimSpace(question) == "" {
			return nil, instruct("question is empty: say what you want to know.")
		}
		return prompt("Find code", "Answer this question from the code that trawl searches, and cite repository, path and line for each claim."+where+
			"\n\nQuestion: "+question+"\n\n"+plan), nil
	})
}

// plan is how most questions are answered in few calls.
const plan = `1. If the question has a name of code, call find_definitions with it. Otherwise call keyword_search with two or three words that the code itself must have, or natural_search with the question.
2. If nothing is found, drop a word. If too much is found, add repository, path or language, as the answer proposes.
3. Call read_file with some forty lines around the best place before you answer.
4. For who calls it use find_references; for when and why it changed use blame, commit_search and diff_search.`

func prompt(about, text string) *mcp.GetPromptResult {
	return &mcp.GetPromptResult{Description: about, Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: text}}}}
}
