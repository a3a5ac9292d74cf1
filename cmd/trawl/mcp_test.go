package main

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestMCP asks trawl mcp over a data directory, on its standard input and output.
func TestMCP(t *testing.T) {
	keepMemoryLimit(t)
	t.Setenv("TRAWL_DATA", filepath.Join(t.TempDir(), "data"))
	var said bytes.Buffer
	if err := run(t.Context(), []string{"index", repository(t, "kiln")}, strings.NewReader(""), io.Discard, &said); err != nil {
		t.Fatalf("index: %v\n%s", err, &said)
	}
	said.Reset()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := run(context.Background(), []string{"mcp"}, in, out, &said)
		_ = out.CloseWithError(io.EOF)
		ended <- err
	}()
	s, err := mcp.NewClient(&mcp.Implementation{Name: "tests"}, nil).Connect(t.Context(), &mcp.IOTransport{Reader: fromServer, Writer: toServer}, nil)
	if err != nil {
		t.Fatalf("%v; trawl mcp ended with %v, and logged\n%s", err, <-ended, &said)
	}
	for tool, want := range map[string]string{"list_repositories": "kiln (main)", "keyword_search": "1: glaze", "nothing": ""} {
		res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: map[string]any{"query": map[string]string{"keyword_search": "glaze"}[tool]}})
		if want == "" {
			if err == nil {
				t.Errorf("%s: got %+v, want an error", tool, res)
			}
			continue
		}
		if err != nil || !strings.Contains(res.Content[0].(*mcp.TextContent).Text, want) {
			t.Errorf("%s: got %+v, %v; want %q", tool, res, err, want)
		}
	}
	prompt, err := s.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "query_language"})
	if err != nil || len(prompt.Messages) != 1 {
		t.Errorf("prompt: got %+v, %v", prompt, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; err != nil || said.Len() > 0 {
		t.Errorf("trawl mcp ended with %v, and logged\n%s", err, &said)
	}
}
