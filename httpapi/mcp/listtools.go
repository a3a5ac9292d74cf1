package mcp

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/syntax"
)

type listArgs struct {
	Repository string `json:"repository" jsonschema:"name of the repository"`
	Path       string `json:"path,omitempty" jsonschema:"directory; the root if left out"`
	Revision   string `json:"revision,omitempty" jsonschema:"branch, tag or commit; the default branch if left out"`
	Pattern    string `json:"pattern,omitempty" jsonschema:"regular expression: list all files below path whose whole path matches it"`
	Recursive  bool   `json:"recursive,omitempty" jsonschema:"whether to list what is in directories further down too"`
	Limit      int    `json:"limit,omitempty" jsonschema:"most entries, 1 to 1000; 200 if left out"`
	size
}

const treeDocument = `query ($repo: String!, $rev: String!, $path: String!, $first: Int!, $deep: Boolean!) {
  repository(name: $repo) { commit(rev: $rev) { oid tree(path: $path) { entries(first: $first, recursive: $deep) { path isDirectory } } } }
}`

// listFiles lists a directory, or finds files by a pattern.
func listFiles(ctx context.Context, a *asker, in listArgs) (string, error) {
	at := place{Repository: in.Repository, Path: in.Path, Revision: in.Revision}
	if err := at.check(); err != nil {
		return "", err
	}
	limit := bounded(in.Limit, 200, 1000)
	f, err := a.fileAt(ctx, at)
	switch {
	case err != nil:
		return "", err
	case !f.IsDirectory:
		return "", instruct("%q is a file: use read_file to see it.", shorten(at.Path, 200))
	case in.Pattern != "":
		return a.filesLike(ctx, at, in.Pattern, limit, in.MaxBytes)
	}
	var data struct {
		Repository struct {
			Commit struct {
				Tree struct {
					Entries []struct {
						Path        string
						IsDirectory bool
					}
				}
			}
		}
	}
	variables := at.variables()
	variables["first"], variables["deep"] = limit+1, in.Recursive
	if err := a.document(ctx, &data, treeDocument, variables); err != nil {
		return "", err
	}
	entries := data.Repository.Commit.Tree.Entries
	p := newPage(in.MaxBytes)
	n := 0
	for _, e := range entries[:min(len(entries), limit)] {
		if e.IsDirectory {
			e.Path += "/"
		}
		if !p.line("%s", shorten(e.Path, lineBytes)) {
			break
		}
		n++
	}
	head := fmt.Sprintf("## %s /%s at %.12s: %s", at.Repository, at.Path, f.commit, entriesWord(n))
	if n < len(entries) {
		p.note("There is more: list a directory below, give a pattern such as \\.go$, or raise limit or max_bytes.")
	}
	return head + "\n" + p.String(), nil
}

func entriesWord(n int) string { return plural(n, "entry") }

// filesLike finds files by their path.
func (a *asker) filesLike(ctx context.Context, at place, pattern string, limit, maxBytes int) (string, error) {
	repo := "^" + regexp.QuoteMeta(at.Repository) + "$"
	if at.Revision != "" {
		repo += "@" + at.Revision
	}
	text := syntax.WithFilter("type:path", "repo", repo)
	if at.Path != "" {
		text = syntax.WithFilter(text, "file", "^"+regexp.QuoteMeta(at.Path)+"/")
	}
	// Forks and archived repositories were named, so they are meant.
	text = syntax.WithFilter(syntax.WithFilter(text, "fork", "yes"), "archived", "yes")
	f, err := a.searchWithin(ctx, text, "regexp", within{Path: pattern}, 0)
	if err != nil {
		return "", err
	}
	p := newPage(maxBytes)
	shown := 0
	for _, path := range f.paths(limit) {
		if !p.line("%s", shorten(path, lineBytes)) {
			break
		}
		shown++
	}
	return f.finish(p, shown), nil
}

// paths returns the paths of the first files.
func (f *found) paths(limit int) []string {
	var out []string
	for _, m := range f.Matches {
		if file, ok := m.(*query.FileMatch); ok && len(out) < limit {
			out = append(out, file.Path)
		}
	}
	return out
}

type repositoriesArgs struct {
	Query string `json:"query,omitempty" jsonschema:"text that the name has; all repositories if left out"`
	Limit int    `json:"limit,omitempty" jsonschema:"most repositories, 1 to 500; 50 if left out"`
	After string `json:"after,omitempty" jsonschema:"the cursor that a page before named, for the next page"`
	size
}

const repositoriesDocument = `query ($first: Int!, $query: String!, $after: String) {
  repositories(first: $first, query: $query, after: $after) {
    nodes { name description isFork isArchived defaultBranch { displayName } }
    totalCount pageInfo { hasNextPage endCursor }
  }
}`

func listRepositories(ctx context.Context, a *asker, in repositoriesArgs) (string, error) {
	for name, value := range map[string]string{"query": in.Query, "after": in.After} {
		if err := checkText(name, value, maxNameBytes); err != nil {
			return "", err
		}
	}
	var data struct {
		Repositories struct {
			Nodes []struct {
				Name, Description  string
				IsFork, IsArchived bool
				DefaultBranch      *struct{ DisplayName string }
			}
			TotalCount *int
			PageInfo   struct {
				HasNextPage bool
				EndCursor   *string
			}
		}
	}
	variables := map[string]any{"first": bounded(in.Limit, 50, 500), "query": in.Query}
	if in.After != "" {
		variables["after"] = in.After
	}
	if err := a.document(ctx, &data, repositoriesDocument, variables); err != nil {
		return "", err
	}
	all := data.Repositories
	p := newPage(in.MaxBytes)
	shown := 0
	for _, r := range all.Nodes {
		line := r.Name
		if r.DefaultBranch != nil {
			line += " (" + r.DefaultBranch.DisplayName + ")"
		}
		if r.IsFork {
			line += " fork"
		}
		if r.IsArchived {
			line += " archived"
		}
		if about := oneLine(r.Description); about != "" {
			line += ": " + shorten(about, 160)
		}
		if !p.line("%s", shorten(line, 600)) {
			break
		}
		shown++
	}
	head := plural(shown, "repository")
	if all.TotalCount != nil {
		head = fmt.Sprintf("%d of %s", shown, plural(*all.TotalCount, "repository"))
	}
	switch {
	case shown < len(all.Nodes):
		p.note("More do not fit: give a query, a smaller limit, or set max_bytes up to %d.", maxBytes)
	case all.PageInfo.HasNextPage && all.PageInfo.EndCursor != nil:
		p.note("There are more: give a query, or after %q for the next page.", *all.PageInfo.EndCursor)
	case shown == 0:
		p.note("Try a shorter part of the name.")
	}
	return strings.TrimRight(head+".\n"+p.String(), "\n"), nil
}
