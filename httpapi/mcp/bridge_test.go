package mcp_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	trawlmcp "github.com/trawlsearch/trawl/httpapi/mcp"
)

// TestBridge asks a server with a token, through pipes.
func TestBridge(t *testing.T) {
	w := newWorld(t)
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		defer out.Close()
		ended <- trawlmcp.Bridge(t.Context(), in, out, w.server.URL+"/", &http.Client{Transport: bearer{token: w.Tokens["bob"]}}, "test")
	}()
	s, err := mcp.NewClient(&mcp.Implementation{Name: "tests"}, nil).Connect(t.Context(), &mcp.IOTransport{Reader: fromServer, Writer: toServer}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, failed := call(t, s, "list_repositories", nil); failed || !strings.Contains(got, "lab/kiln") || strings.Contains(got, "secret") {
		t.Errorf("got %s", got)
	}
	if got, failed := call(t, s, "read_file", map[string]any{"repository": "lab/kiln", "path": "none.go"}); !failed || !strings.Contains(got, "use list_files") {
		t.Errorf("got %s", got)
	}
	res, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "trawl:///lab/kiln/-/blob/docs/guide.md"})
	if err != nil || !strings.Contains(res.Contents[0].Text, "Firing") {
		t.Errorf("resource: got %+v, %v", res, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	// Without a good token it ends at once, and says so.
	err = trawlmcp.Bridge(t.Context(), strings.NewReader(""), io.Discard, w.server.URL, &http.Client{Transport: bearer{token: "wrong"}}, "test")
	if err == nil || !strings.Contains(err.Error(), "ask "+w.server.URL) {
		t.Errorf("with a wrong token: got %v", err)
	}
}
