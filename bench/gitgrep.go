package bench

import (
	"context"
	"os/exec"
	"slices"
	"strings"
)

// gitGrep asks git grep in the work tree, which is faster than reading objects.
type gitGrep struct{}

func (gitGrep) name() string              { return "git-grep" }
func (gitGrep) program() string           { return "git" }
func (gitGrep) decodesWide() bool         { return false }
func (gitGrep) form(workspace) outputForm { return nullForm }

// sees is false for patterns that may span lines, which git grep looks for in
// each line alone.
func (gitGrep) sees(q Query) bool { return !q.SpansLines() }

func (gitGrep) command(ctx context.Context, at workspace, args []string) *exec.Cmd {
	return at.source.git.command(ctx, args...)
}

func (g gitGrep) steps(q Query) ([]step, string) {
	switch {
	case q.Scope == Nothing:
		return nil, "no such question"
	case q.Scope == Paths:
		return []step{{answer, slices.Concat([]string{"ls-files", "-z"}, pathspecs(q.Globs))}}, ""
	case slices.ContainsFunc(q.Terms, func(t Term) bool { return t.IsRegexp && needsUnicode(t) }):
		return nil, "matches bytes only"
	case q.SpansLines() && (q.Scope == Files || q.All || len(q.Without) > 0):
		return nil, "sees one line at a time"
	}
	var steps []step
	for _, t := range q.Without {
		steps = append(steps, step{exclude, grepArgs(q, []Term{t}, "--files-with-matches")})
	}
	var flags []string
	if q.All {
		flags = append(flags, "--all-match")
	}
	if q.Scope == Files {
		flags = append(flags, "--files-with-matches")
	} else {
		flags = append(flags, "--line-number")
	}
	return append(steps, step{answer, grepArgs(q, q.Terms, flags...)}), ""
}

func grepArgs(q Query, terms []Term, flags ...string) []string {
	args := []string{"-c", "grep.threads=2", "grep", "-I", "-z", "--no-color", "--full-name"}
	if !q.CaseSensitive() {
		args = append(args, "-i")
	}
	fixed := onlyLiterals(terms)
	if fixed {
		args = append(args, "--fixed-strings")
	} else {
		args = append(args, "--perl-regexp")
	}
	return slices.Concat(args, flags, dashE(terms, fixed), pathspecs(q.Globs))
}

// pathspecs says globs in git's words: any depth unless there is a slash.
func pathspecs(globs []string) []string {
	args := []string{"--"}
	for _, g := range globs {
		magic := ":(icase,glob)"
		if rest, ok := strings.CutPrefix(g, "!"); ok {
			g, magic = rest, ":(icase,glob,exclude)"
		}
		if !strings.Contains(g, "/") {
			g = "**/" + g
		}
		args = append(args, magic+strings.TrimPrefix(g, "/"))
	}
	return args
}
