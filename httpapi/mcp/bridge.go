package mcp

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Bridge carries the messages of a client on in and out to the endpoint below base, and
// the answers back, until in ends or ctx does. Its tools, files and prompts are those of
// the endpoint, asked for once.
func Bridge(ctx context.Context, in io.Reader, out io.Writer, base string, client *http.Client, version string) error {
	far, err := mcp.NewClient(&mcp.Implementation{Name: "trawl", Version: version}, nil).Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint: strings.TrimSuffix(base, "/") + Path, HTTPClient: client, DisableStandaloneSSE: true,
	}, nil)
	if err != nil {
		return fmt.Errorf("ask %s: %w", base, err)
	}
	defer far.Close()
	near, err := mirror(ctx, far, version)
	if err != nil {
		return fmt.Errorf("ask %s: %w", base, err)
	}
	return near.Run(ctx, &mcp.IOTransport{Reader: io.NopCloser(in), Writer: nopCloser{out}})
}

// nopCloser is a writer that its owner closes.
type nopCloser struct{ io.Writer }

// Close implements io.Closer.
func (nopCloser) Close() error { return nil }

// mirror returns a server with what the other side of a session has.
func mirror(ctx context.Context, far *mcp.ClientSession, version string) (*mcp.Server, error) {
	near := mcp.NewServer(&mcp.Implementation{Name: "trawl", Title: "trawl code search", Version: version}, &mcp.ServerOptions{
		Instructions: instructions, Capabilities: &mcp.ServerCapabilities{},
	})
	for tool, err := range far.Tools(ctx, nil) {
		if err != nil {
			return nil, err
		}
		near.AddTool(tool, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return far.CallTool(ctx, &mcp.CallToolParams{Name: req.Params.Name, Arguments: req.Params.Arguments})
		})
	}
	for template, err := range far.ResourceTemplates(ctx, nil) {
		if err != nil {
			return nil, err
		}
		near.AddResourceTemplate(template, func(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return far.ReadResource(ctx, &mcp.ReadResourceParams{URI: req.Params.URI})
		})
	}
	for prompt, err := range far.Prompts(ctx, nil) {
		if err != nil {
			return nil, err
		}
		near.AddPrompt(prompt, func(ctx context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return far.GetPrompt(ctx, &mcp.GetPromptParams{Name: req.Params.Name, Arguments: req.Params.Arguments})
		})
	}
	return near, nil
}
