package mcp

import (
	"context"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// filesScheme is the scheme of the addresses of files. Behind it they are the paths of
// the pages of files.
const filesScheme = "trawl://"

// addFiles adds the files of all repositories as resources.
func (e *Endpoint) addFiles(s *mcp.Server) {
	s.AddResourceTemplate(&mcp.ResourceTemplate{
		Name: "file", Title: "A file of a repository", MIMEType: "text/plain",
		Description: "The text of a file: repository, perhaps @ and a revision, /-/blob/ and the path, as in trawl:///lab/kiln@main/-/blob/src/main.go.",
		URITemplate: filesScheme + "/{+address}",
	}, func(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		x, _ := ctx.Value(callKey{}).(*exchange)
		at, ok := parseAddress(req.Params.URI)
		if !ok {
			return nil, mcp.ResourceNotFoundError(shorten(req.Params.URI, 200))
		}
		text, err := (&asker{e, x}).whole(ctx, at)
		if err != nil {
			return nil, told(ctx, "file", err)
		}
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: req.Params.URI, MIMEType: "text/plain", Text: text}}}, nil
	})
}

// parseAddress reads the address of a file.
func parseAddress(text string) (at place, ok bool) {
	rest, ok := strings.CutPrefix(text, filesScheme+"/")
	if !ok || len(text) > maxPathBytes+maxNameBytes+maxRevisionBytes {
		return at, false
	}
	repo, file, ok := strings.Cut(rest, "/-/blob/")
	if !ok {
		return at, false
	}
	repo, rev, _ := strings.Cut(repo, "@")
	for _, part := range []struct {
		from string
		to   *string
	}{{repo, &at.Repository}, {rev, &at.Revision}, {file, &at.Path}} {
		var err error
		if *part.to, err = url.PathUnescape(part.from); err != nil {
			return at, false
		}
	}
	return at, at.check() == nil && at.Path != ""
}

// whole reads a file, as much of it as one answer has room for.
func (a *asker) whole(ctx context.Context, at place) (string, error) {
	f, err := a.text(ctx, at)
	if err != nil {
		return "", err
	}
	if f.ByteSize > maxResourceBytes {
		return "", instruct("the file has %d bytes, the limit of a resource is %d: call read_file with start_line and end_line.", f.ByteSize, maxResourceBytes)
	}
	lines, err := a.lines(ctx, at, 1, f.TotalLines)
	return strings.Join(lines, "\n"), err
}

// maxResourceBytes is the largest file that is sent whole.
const maxResourceBytes = 256 << 10
