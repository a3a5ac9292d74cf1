package mcp

import (
	"context"
	"fmt"
	"strings"
)

type compareArgs struct {
	Repository string `json:"repository" jsonschema:"name of the repository"`
	Base       string `json:"base" jsonschema:"revision before, such as v1.0 or HEAD~5"`
	Head       string `json:"head,omitempty" jsonschema:"revision behind; the default branch if left out"`
	Path       string `json:"path,omitempty" jsonschema:"only this file or directory"`
	Diff       bool   `json:"diff,omitempty" jsonschema:"whether to show the changed lines"`
	Limit      int    `json:"limit,omitempty" jsonschema:"most files and most commits, 1 to 200; 30 if left out"`
	After      string `json:"after,omitempty" jsonschema:"the cursor that a page before named, for the next files"`
	size
}

const compareDocument = `query ($repo: String!, $base: String!, $head: String!, $first: Int!, $after: String, $path: String!, $paths: [String!], $diff: Boolean!) {
  repository(name: $repo) {
    base: commit(rev: $base) { oid }
    head: commit(rev: $head) { oid }
    comparison(base: $base, head: $head) {
      commits(first: $first, path: $path) { nodes { abbreviatedOID subject author { date person { name } } } totalCount }
      fileDiffs(first: $first, after: $after, paths: $paths) {
        nodes { oldPath newPath stat { added deleted } hunks @include(if: $diff) { oldRange { startLine lines } newRange { startLine lines } section body } }
        totalCount diffStat { added deleted } pageInfo { hasNextPage endCursor }
      }
    }
  }
}`

const revisionsDocument = `query ($repo: String!, $base: String!, $head: String!) {
  repository(name: $repo) { base: commit(rev: $base) { oid } head: commit(rev: $head) { oid } }
}`

// comparison is the answer to compareDocument.
type comparison struct {
	Commits struct {
		Nodes []struct {
			AbbreviatedOID, Subject string
			Author                  signature
		}
		TotalCount *int
	}
	FileDiffs struct {
		Nodes      []fileDiff
		TotalCount *int
		DiffStat   struct{ Added, Deleted int }
		PageInfo   struct {
			HasNextPage bool
			EndCursor   *string
		}
	}
}

type signature struct {
	Date   string
	Person struct{ Name string }
}

// day is the date without the time.
func (s signature) day() string {
	day, _, _ := strings.Cut(s.Date, "T")
	return day
}

type fileDiff struct {
	OldPath, NewPath *string
	Stat             struct{ Added, Deleted int }
	Hunks            []struct {
		OldRange, NewRange struct{ StartLine, Lines int }
		Section            *string
		Body               string
	}
}

// title names a changed file, with its old name if that was another.
func (d fileDiff) title() string {
	switch {
	case d.OldPath == nil && d.NewPath != nil:
		return *d.NewPath + " (new)"
	case d.NewPath == nil && d.OldPath != nil:
		return *d.OldPath + " (removed)"
	case d.NewPath != nil && *d.NewPath != *d.OldPath:
		return *d.OldPath + " → " + *d.NewPath
	case d.NewPath != nil:
		return *d.NewPath
	}
	return ""
}

func compareRevisions(ctx context.Context, a *asker, in compareArgs) (string, error) {
	at := place{Repository: in.Repository, Path: in.Path, Revision: in.Base}
	if err := at.check(); err != nil {
		return "", err
	}
	if err := checkRevision("head", in.Head); err != nil {
		return "", err
	}
	if err := a.checkRevisions(ctx, in); err != nil {
		return "", err
	}
	limit := bounded(in.Limit, 30, 200)
	variables := map[string]any{"repo": in.Repository, "base": in.Base, "head": in.Head, "first": limit, "path": at.Path, "diff": in.Diff}
	if at.Path != "" {
		variables["paths"] = []any{at.Path}
	}
	if in.After != "" {
		if err := checkText("after", in.After, maxNameBytes); err != nil {
			return "", err
		}
		variables["after"] = in.After
	}
	var data struct {
		Repository struct{ Comparison comparison }
	}
	if err := a.document(ctx, &data, compareDocument, variables); err != nil {
		return "", err
	}
	p := newPage(in.MaxBytes)
	data.Repository.Comparison.show(p, in.After == "")
	head := fmt.Sprintf("## %s %s...%s", in.Repository, in.Base, firstOf(in.Head, "HEAD"))
	return head + "\n" + p.String(), nil
}

func firstOf(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// checkRevisions tells which of repository and revisions is not there.
func (a *asker) checkRevisions(ctx context.Context, in compareArgs) error {
	var data struct {
		Repository *struct{ Base, Head *struct{ OID string } }
	}
	if err := a.document(ctx, &data, revisionsDocument, map[string]any{"repo": in.Repository, "base": in.Base, "head": in.Head}); err != nil {
		return err
	}
	switch {
	case data.Repository == nil:
		return a.noRepository(ctx, in.Repository)
	case data.Repository.Base == nil:
		return a.noRevision(ctx, in.Repository, in.Base)
	case data.Repository.Head == nil:
		return a.noRevision(ctx, in.Repository, in.Head)
	}
	return nil
}

// show adds commits, unless this is a later page, and then files.
func (c *comparison) show(p *page, commits bool) {
	if commits && len(c.Commits.Nodes) > 0 {
		head := plural(len(c.Commits.Nodes), "commit")
		if n := c.Commits.TotalCount; n != nil && *n > len(c.Commits.Nodes) {
			head = fmt.Sprintf("The first %d of %s", len(c.Commits.Nodes), plural(*n, "commit"))
		}
		p.line("%s:", head)
		for _, n := range c.Commits.Nodes {
			p.line("%s %s %s: %s", n.AbbreviatedOID, n.Author.day(), shorten(n.Author.Person.Name, 60), shorten(n.Subject, 120))
		}
	}
	files := c.FileDiffs
	if files.TotalCount != nil {
		p.line("%s changed, +%d -%d:", plural(*files.TotalCount, "file"), files.DiffStat.Added, files.DiffStat.Deleted)
	}
	for _, d := range files.Nodes {
		if !d.show(p) {
			break
		}
	}
	switch {
	case p.full:
		p.note("More does not fit: give a path, a smaller limit, or set max_bytes up to %d.", maxBytes)
	case files.PageInfo.HasNextPage && files.PageInfo.EndCursor != nil:
		p.note("There are more files: give a path, or after %q for the next.", *files.PageInfo.EndCursor)
	}
}

// show adds a file and its hunks, if there are any.
func (d fileDiff) show(p *page) bool {
	if !p.line("%s +%d -%d", shorten(d.title(), 2*lineBytes), d.Stat.Added, d.Stat.Deleted) {
		return false
	}
	for _, h := range d.Hunks {
		section := ""
		if h.Section != nil {
			section = " " + shorten(*h.Section, 100)
		}
		p.line("@@ -%d,%d +%d,%d @@%s", h.OldRange.StartLine, h.OldRange.Lines, h.NewRange.StartLine, h.NewRange.Lines, section)
		for line := range strings.Lines(h.Body) {
			if !p.line("%s", shorten(strings.TrimRight(line, "\r\n"), lineBytes)) {
				return false
			}
		}
	}
	return !p.full
}

type blameArgs struct {
	place
	StartLine int `json:"start_line,omitempty" jsonschema:"first line, from 1; 1 if left out"`
	EndLine   int `json:"end_line,omitempty" jsonschema:"last line; 200 lines if left out"`
	size
}

const blameDocument = `query ($repo: String!, $rev: String!, $path: String!, $start: Int!, $end: Int!) {
  repository(name: $repo) { commit(rev: $rev) { blob(path: $path) {
    blame(startLine: $start, endLine: $end) { startLine endLine rev message filename author { date person { name } } }
  } } }
}`

func blame(ctx context.Context, a *asker, in blameArgs) (string, error) {
	if err := in.check(); err != nil {
		return "", err
	}
	f, start, err := a.textFrom(ctx, in.place, in.StartLine, in.EndLine)
	if err != nil {
		return "", err
	}
	if f.TotalLines == 0 {
		return "", instruct("the file has 0 lines, so no commit has written one.")
	}
	end := start + 199
	if in.EndLine > 0 {
		end = in.EndLine
	}
	end = min(end, f.TotalLines, start+maxReadLines-1)
	var data struct {
		Repository struct {
			Commit struct {
				Blob struct {
					Blame []struct {
						StartLine, EndLine     int
						Rev, Message, Filename string
						Author                 signature
					}
				}
			}
		}
	}
	variables := in.variables()
	variables["start"], variables["end"] = start, end
	if err := a.document(ctx, &data, blameDocument, variables); err != nil {
		return "", err
	}
	p := newPage(in.MaxBytes)
	last := start - 1
	for _, h := range data.Repository.Commit.Blob.Blame {
		old := ""
		if h.Filename != in.Path {
			old = " (then " + shorten(h.Filename, 200) + ")"
		}
		if !p.line("%d-%d %.12s %s %s: %s%s", h.StartLine, h.EndLine-1, h.Rev, h.Author.day(), shorten(h.Author.Person.Name, 60), shorten(oneLine(h.Message), 120), old) {
			break
		}
		last = h.EndLine - 1
	}
	if last < f.TotalLines {
		p.note("Go on with start_line %d; the file has %s.", last+1, plural(f.TotalLines, "line"))
	}
	return fmt.Sprintf("## %s %s at %.12s, blame of lines %d to %d\n%s", in.Repository, in.Path, f.commit, start, last, p.String()), nil
}
