package git

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
)

// DiffTree calls f for every path that differs between two commits' trees, in
// byte order. A renamed file is a deletion and an addition. An empty oldCommit
// stands for the empty tree. An error of f's ends the listing and is returned
// as it is. It holds the parser of changes against that of trees.
func (r *Repo) DiffTree(ctx context.Context, oldCommit, newCommit string, f func(Change) error) error {
	if oldCommit == "" {
		oldCommit = r.git.emptyTree()
	}
	for _, rev := range []string{oldCommit, newCommit} {
		if err := checkRev(rev); err != nil {
			return err
		}
	}
	doing := "compare " + oldCommit + " and " + newCommit
	parse := func(out *bufio.Reader) error {
		for {
			change, err := readChange(out)
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return fmt.Errorf("%s of %s: %w", doing, r.dir, err)
			}
			if err := f(change); err != nil {
				return err
			}
		}
	}
	err := r.git.stream(ctx, nil, parse, "diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev",
		"--no-ext-diff", "--ignore-submodules=none", oldCommit, newCommit, "--")
	return r.listError(doing, err)
}
