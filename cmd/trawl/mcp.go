package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/trawlsearch/trawl/cmd/trawl/config"
	"github.com/trawlsearch/trawl/cmd/trawl/service"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/mcp"
)

const mcpHelp = `Usage: trawl mcp [flags]

Mcp serves the Model Context Protocol on standard input and output, for editors
and assistants that start a program for it. Its tools search, read files, list
them, find definitions and references, search commits and diffs, compare
revisions and blame; all of them only read. It answers from the data directory,
through the server that has it open if there is one, and sees all of it;
--server asks any trawl server, with the access token in $TRAWL_TOKEN if there is
one, and sees what the owner of the token may.

Without a server it has the data directory to itself until its client ends it, so
several clients, or one beside trawl serve, need a server. It ends when its
standard input does.

  trawl mcp
  trawl mcp --server https://trawl.example.org`

func (a *app) mcpCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "mcp", Short: "serve the Model Context Protocol to an assistant", Long: mcpHelp, Args: arguments(0, 0, "no argument")}
	settings := settingFlags(cmd, searchSettings...)
	server := serverFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		base, err := server()
		if err != nil {
			return err
		}
		set, err := settings()
		if err != nil {
			return err
		}
		return a.mcp(cmd.Context(), set, base, cmd.InOrStdin())
	}
	return cmd
}

// mcp carries messages between the standard input and output and a server, or the data
// directory.
func (a *app) mcp(ctx context.Context, set config.Settings, server string, in io.Reader) (err error) {
	if server != "" {
		p, end := serverParams()
		defer end()
		return a.bridge(ctx, in, server, p.HTTP, p.Header)
	}
	s, err := openSession(ctx, set, service.Options{Log: a.taskOutput(set).log})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	// Who may read the data directory may search all of it.
	return a.bridge(ctx, in, s.Base, s.HTTP, http.Header{auth.OperatorHeader: {s.Token}})
}

func (a *app) bridge(ctx context.Context, in io.Reader, base string, client *http.Client, header http.Header) error {
	c := &http.Client{Transport: withHeader{header, client.Transport}}
	if err := mcp.Bridge(ctx, in, a.stdout, base, c, buildOf().version); err != nil && ctx.Err() == nil {
		return fmt.Errorf("%w%s", err, searchHint(err))
	}
	return nil
}

// withHeader adds a header to each request.
type withHeader struct {
	header http.Header
	next   http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t withHeader) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, values := range t.header {
		r.Header[name] = values
	}
	return t.next.RoundTrip(r)
}
