package git

import (
	"bufio"
	"context"
	"errors"
	"fmt"
)

// Compare calls f with each file that differs between two commits, renames
// found, its hunks with three lines of context; no .gitattributes count. An
// empty oldCommit stands for the empty tree. Only Depth and the limits of o are
// used; the limit of a commit is for all files together, and git ends behind
// the first MaxFiles. An error of f ends the listing and is returned as it is.
// f is called while git works: its files are valid if Compare ends without an
// error.
func (r *Repo) Compare(ctx context.Context, oldCommit, newCommit string, paths []string, o LogOptions, f func(FileDiff) error) error {
	if oldCommit == "" {
		oldCommit = r.git.emptyTree()
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
		if o.IgnoreSpace {
			args = append(args, "-w", "--full-index")
		}
	}
	args = append(args, append([]string{oldCommit, newCommit, "--"}, paths...)...)
	parse := func(out *bufio.Reader) error {
		err := (&logParser{in: out, opts: o}).compare(f)
		var own *callerError
		switch {
		case errors.As(err, &own):
			return own.error
		case err == nil, errors.Is(err, errEnough):
			return err
		}
		return fmt.Errorf("compare %s and %s of %s: %w", oldCommit, newCommit, r.dir, truncated(err))
	}
	err := r.git.stream(ctx, r.git.plainPaths, parse, args...)
	if errors.Is(err, errEnough) {
		return nil
	}
	return r.listError("compare", err)
}

// errEnough ends git when it has answered what was asked.
var errEnough = errors.New("enough")

// compare calls f with each file as soon as its section is read, and with no
// more of them than the limit: records take memory, and their sections time.
func (p *logParser) compare(f func(FileDiff) error) error {
	var files []FileDiff
	more := false
	patch, err := p.records(func(d FileDiff) {
		if most := p.opts.MaxFiles; most > 0 && len(files) == most {
			more = true
			return
		}
		files = append(files, d)
	})
	if err != nil {
		return err
	}
	for i := range files {
		if patch {
			if err := p.diff(&files[i]); err != nil {
				return err
			}
		}
		if err := f(files[i]); err != nil {
			return &callerError{err}
		}
	}
	if more {
		return errEnough
	}
	return nil
}
