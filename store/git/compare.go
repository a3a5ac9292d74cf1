package git

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
)

// Compare calls f with each file that differs between two commits, renames
// found, its hunks with three lines of context; no .gitattributes count. An
// empty oldCommit stands for the empty tree. Of o, Depth and the limits count,
// that of a commit for all files together. An error of f's ends the listing and
// is returned as it is.
func (r *Repo) Compare(ctx context.Context, oldCommit, newCommit string, paths []string, o LogOptions, f func(FileDiff) error) error {
	if oldCommit == "" {
		oldCommit = r.emptyTree()
	}
	for _, rev := range []string{oldCommit, newCommit} {
		if err := checkRev(rev); err != nil {
			return err
		}
	}
	args := []string{"-c", "diff.suppressBlankEmpty=false", "-c", bigFile, "diff-tree", "-r", "-z", "-M", "-l1000", "--raw", "--no-abbrev",
		"--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=none", "--submodule=short"}
	if o.Depth == LogHunks {
		args = append(args, "-p", "-U3", "--inter-hunk-context=0", "--src-prefix=a/", "--dst-prefix=b/")
	}
	args = append(args, append([]string{oldCommit, newCommit, "--"}, paths...)...)
	parse := func(out *bufio.Reader) error {
		p := &logParser{in: out, opts: o}
		var c Commit
		if err := p.files(&c); err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("compare %s and %s of %s: %w", oldCommit, newCommit, r.dir, truncated(err))
		}
		for _, d := range c.Files {
			if err := f(d); err != nil {
				return err
			}
		}
		return nil
	}
	err := r.budget.streamWith(ctx, "diff-tree", r.plainPaths, parse, r.args(args...)...)
	return r.listError("compare", err)
}
