package mcp

import (
	"context"
	"fmt"
	"path"
	"regexp"
	"strings"
)

type readArgs struct {
	place
	StartLine int `json:"start_line,omitempty" jsonschema:"first line, from 1; 1 if left out"`
	EndLine   int `json:"end_line,omitempty" jsonschema:"last line; as many as fit if left out"`
	size
}

// maxReadLines is how many lines are read at once.
const maxReadLines = 3_000

const fileDocument = `query ($repo: String!, $rev: String!, $path: String!) {
  repository(name: $repo) { commit(rev: $rev) { oid path(path: $path) { isDirectory ... on GitBlob { totalLines byteSize binary } } } }
}`

const linesDocument = `query ($repo: String!, $rev: String!, $path: String!, $start: Int!, $end: Int!) {
  repository(name: $repo) { commit(rev: $rev) { blob(path: $path) { content(startLine: $start, endLine: $end) } } }
}`

// file is what stands at a place.
type file struct {
	// commit is that of the revision.
	commit               string
	IsDirectory, Binary  bool
	TotalLines, ByteSize int
}

// fileAt finds what stands at a place. What is missing is told with what is near.
func (a *asker) fileAt(ctx context.Context, at place) (*file, error) {
	var data struct {
		Repository *struct {
			Commit *struct {
				OID  string
				Path *file
			}
		}
	}
	if err := a.document(ctx, &data, fileDocument, at.variables()); err != nil {
		return nil, err
	}
	switch {
	case data.Repository == nil:
		return nil, a.noRepository(ctx, at.Repository)
	case data.Repository.Commit == nil:
		return nil, a.noRevision(ctx, at.Repository, at.Revision)
	case data.Repository.Commit.Path == nil:
		return nil, a.noPath(ctx, at)
	}
	found := data.Repository.Commit.Path
	found.commit = data.Repository.Commit.OID
	return found, nil
}

func (p place) variables() map[string]any {
	return map[string]any{"repo": p.Repository, "rev": p.Revision, "path": p.Path}
}

// textFrom returns a text file and the first of its lines that are asked for.
func (a *asker) textFrom(ctx context.Context, at place, first, last int) (f *file, start int, err error) {
	if first < 0 || last < 0 || last > 0 && last < first {
		return nil, 0, instruct("start_line and end_line are no range: lines count from 1, and end_line is not before start_line.")
	}
	if f, err = a.text(ctx, at); err != nil {
		return nil, 0, err
	}
	start = max(first, 1)
	if start > f.TotalLines && f.TotalLines > 0 {
		return nil, 0, instruct("the file has %s: give a start_line up to %d.", plural(f.TotalLines, "line"), f.TotalLines)
	}
	return f, start, nil
}

func readFile(ctx context.Context, a *asker, in readArgs) (string, error) {
	if err := in.check(); err != nil {
		return "", err
	}
	f, start, err := a.textFrom(ctx, in.place, in.StartLine, in.EndLine)
	if err != nil {
		return "", err
	}
	end := f.TotalLines
	if in.EndLine > 0 {
		end = min(in.EndLine, end)
	}
	lines, err := a.lines(ctx, in.place, start, min(end, start+maxReadLines-1))
	if err != nil {
		return "", err
	}
	p := newPage(in.MaxBytes)
	n := start
	for _, line := range lines {
		if !p.line("%d: %s", n, shorten(line, longLine(in.MaxBytes))) {
			break
		}
		n++
	}
	head := fmt.Sprintf("## %s %s at %.12s, lines %d to %d of %d", in.Repository, in.Path, f.commit, start, n-1, f.TotalLines)
	if f.TotalLines == 0 {
		head = fmt.Sprintf("## %s %s at %.12s is empty", in.Repository, in.Path, f.commit)
	}
	if n <= end {
		p.note("Read on with start_line %d, or set max_bytes up to %d.", n, maxBytes)
	}
	return head + "\n" + p.String(), nil
}

// longLine is the longest line that is shown of a file, in bytes.
func longLine(size int) int { return min(max(size, minBytes)/2, 2_000) }

// text finds a file with text.
func (a *asker) text(ctx context.Context, at place) (*file, error) {
	f, err := a.fileAt(ctx, at)
	switch {
	case err != nil:
		return nil, err
	case f.IsDirectory:
		return nil, instruct("%q is a directory: use list_files to see what is in it.", shorten(at.Path, 200))
	case f.Binary:
		return nil, instruct("%q is a binary file of %d bytes: it has no lines to show.", shorten(at.Path, 200), f.ByteSize)
	}
	return f, nil
}

// lines reads some lines of a file.
func (a *asker) lines(ctx context.Context, at place, start, end int) ([]string, error) {
	if end < start {
		return nil, nil
	}
	var data struct {
		Repository struct {
			Commit struct{ Blob struct{ Content string } }
		}
	}
	variables := at.variables()
	variables["start"], variables["end"] = start, end
	if err := a.document(ctx, &data, linesDocument, variables); err != nil {
		return nil, err
	}
	text := strings.TrimSuffix(data.Repository.Commit.Blob.Content, "\n")
	return strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n"), nil
}

// noRepository is the error of a repository that is not there, or may not be seen.
func (a *asker) noRepository(ctx context.Context, name string) error {
	var data struct {
		Repositories struct{ Nodes []struct{ Name string } }
	}
	const document = `query ($query: String!) { repositories(first: 5, query: $query) { nodes { name } } }`
	var near []string
	if err := a.document(ctx, &data, document, map[string]any{"query": path.Base(name)}); err == nil {
		for _, n := range data.Repositories.Nodes {
			near = append(near, n.Name)
		}
	}
	if len(near) > 0 {
		return instruct("there is no repository %q. Did you mean: %s? list_repositories shows all.", shorten(name, 200), strings.Join(near, ", "))
	}
	return instruct("there is no repository %q that you may read: list_repositories shows the names.", shorten(name, 200))
}

// noRevision is the error of a revision that is not there.
func (a *asker) noRevision(ctx context.Context, name, rev string) error {
	if rev == "" {
		return instruct("repository %q has no commit yet, or is still being fetched: try again later.", shorten(name, 200))
	}
	var data struct {
		Repository *struct {
			Branches struct{ Nodes []struct{ AbbrevName string } }
		}
	}
	const document = `query ($repo: String!) { repository(name: $repo) { branches(first: 8) { nodes { abbrevName } } } }`
	var names []string
	if err := a.document(ctx, &data, document, map[string]any{"repo": name}); err == nil && data.Repository != nil {
		for _, n := range data.Repository.Branches.Nodes {
			names = append(names, n.AbbrevName)
		}
	}
	return instruct("repository %q has no revision %q. Branches: %s. Leave revision out for the default branch.", shorten(name, 200), shorten(rev, 200), strings.Join(names, ", "))
}

// noPath is the error of a path that is not there, with files of the same name.
func (a *asker) noPath(ctx context.Context, at place) error {
	text := fmt.Sprintf("repo:^%s$ file:(^|/)%s$ type:path", regexp.QuoteMeta(at.Repository), regexp.QuoteMeta(path.Base(at.Path)))
	var near []string
	if !strings.ContainsAny(text, " \t\"") || strings.Count(text, " ") == 2 {
		if f, err := a.search(ctx, text, "regexp", 0); err == nil {
			near = f.paths(5)
		}
	}
	if len(near) > 0 {
		return instruct("%s has no path %q. Files of that name: %s.", at.Repository, shorten(at.Path, 200), strings.Join(near, ", "))
	}
	return instruct("%s has no path %q: use list_files to see what there is.", at.Repository, shorten(at.Path, 200))
}
