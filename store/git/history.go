package git

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// HistoryOptions choose commits. The zero value chooses all.
type HistoryOptions struct {
	// Path chooses those that changed it or something below; "" is any.
	Path string
	// Follow goes on when the file at Path was renamed.
	Follow bool
	// Message is text that the message holds, whatever its case.
	Message string
	// After and Before bound the committer's date, in git's words for dates.
	After, Before string
	// Skip leaves out the first of them; Max is the most, 0 is no limit.
	Skip, Max int
}

// History calls f with the ids of commits that can be reached from revs,
// which may begin with "^" for what is to be left out, newest first. An error
// of f's ends the listing and is returned as it is.
func (r *Repo) History(ctx context.Context, revs []string, o HistoryOptions, f func(oid string) error) error {
	// git rev-list follows no configuration of the repository, but also no
	// renames; what git log could do because of it is switched off.
	args := []string{"rev-list"}
	if o.Follow && o.Path != "" {
		args = []string{"log", "--follow", "--format=%H", "--no-color", "--no-show-signature", "--no-mailmap", "--no-patch"}
	}
	if o.Message != "" {
		args = append(args, "--fixed-strings", "--regexp-ignore-case", "--grep="+o.Message)
	}
	for flag, date := range map[string]string{"--since=": o.After, "--until=": o.Before} {
		if date != "" {
			args = append(args, flag+date)
		}
	}
	if o.Skip > 0 {
		args = append(args, "--skip="+strconv.Itoa(o.Skip))
	}
	if o.Max > 0 {
		args = append(args, "--max-count="+strconv.Itoa(o.Max))
	}
	for _, rev := range revs {
		if err := checkRev(strings.TrimPrefix(rev, "^")); err != nil {
			return err
		}
	}
	args = append(append(args, revs...), "--")
	if o.Path != "" {
		args = append(args, o.Path)
	}
	parse := func(out *bufio.Reader) error {
		for {
			line, err := out.ReadSlice('\n')
			if errors.Is(err, io.EOF) && len(line) == 0 {
				return nil
			}
			oid := strings.TrimSuffix(string(line), "\n")
			if err != nil || !isObjectID(oid) {
				return fmt.Errorf("history of %s: %w", r.dir, badRecord(line))
			}
			if err := f(oid); err != nil {
				return err
			}
		}
	}
	err := r.git.stream(ctx, r.git.plainPaths, parse, args...)
	return r.listError("history", err)
}

// RenamedFrom returns the path that a file of a commit had in one of its parents, "" if
// the file was there under this path already, or is new. A copy is new.
func (r *Repo) RenamedFrom(ctx context.Context, parent, commit, path string) (old string, err error) {
	for _, oid := range []string{parent, commit} {
		if !isObjectID(oid) {
			return "", fmt.Errorf("renames of %s: %q is not an object id", r.dir, oid)
		}
	}
	args := []string{"-c", bigFile, "diff-tree", "-r", "-z", "-M", "-l1000", "--diff-filter=R", "--raw", "--no-abbrev", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none", parent, commit, "--"}
	parse := func(out *bufio.Reader) error {
		_, err := (&logParser{in: out}).records(func(d FileDiff) {
			if d.Path == path {
				old = d.OldPath
			}
		})
		if err != nil {
			return fmt.Errorf("renames of %s: %w", r.dir, truncated(err))
		}
		return nil
	}
	err = r.git.stream(ctx, r.git.plainPaths, parse, args...)
	return old, r.listError("renames", err)
}

// BehindAhead counts the commits that only other has, and those that only
// commit has.
func (r *Repo) BehindAhead(ctx context.Context, other, commit string) (behind, ahead int, err error) {
	for _, rev := range []string{other, commit} {
		if err := checkRev(rev); err != nil {
			return 0, 0, err
		}
	}
	answer, err := r.git.output(ctx, "rev-list", "--count", "--left-right", other+"..."+commit, "--")
	if err != nil {
		return 0, 0, fmt.Errorf("compare commits of %s: %w", r.dir, err)
	}
	if _, err := fmt.Sscan(answer, &behind, &ahead); err != nil {
		return 0, 0, fmt.Errorf("git rev-list answered %q", printable(answer))
	}
	return behind, ahead, nil
}

// MergeBase returns the best common ancestor of two commits; ErrNoRevision
// says that they have none.
func (r *Repo) MergeBase(ctx context.Context, a, b string) (string, error) {
	for _, rev := range []string{a, b} {
		if err := checkRev(rev); err != nil {
			return "", err
		}
	}
	oid, err := r.git.output(ctx, "merge-base", a, b)
	switch {
	case exitedWith(err, 1):
		return "", fmt.Errorf("merge base of %s and %s in %s: %w", a, b, r.dir, ErrNoRevision)
	case err != nil:
		return "", fmt.Errorf("merge base of %s and %s in %s: %w", a, b, r.dir, err)
	case !isObjectID(oid):
		return "", fmt.Errorf("git merge-base answered %q", printable(oid))
	}
	return oid, nil
}

// Contributor is a person with the number of commits.
type Contributor struct {
	Person
	Commits int
}

// Contributors lists who wrote the commits that History would list, the most
// active first. Path, After and Before count.
func (r *Repo) Contributors(ctx context.Context, rev string, o HistoryOptions) ([]Contributor, error) {
	if err := checkRev(rev); err != nil {
		return nil, err
	}
	args := append(mailmapFrom(rev), "shortlog", "-s", "-e", "-n")
	if o.After != "" {
		args = append(args, "--since="+o.After)
	}
	if o.Before != "" {
		args = append(args, "--until="+o.Before)
	}
	args = append(args, rev, "--")
	if o.Path != "" {
		args = append(args, o.Path)
	}
	cmd := r.git.command(ctx, args...)
	r.git.plainPaths(cmd)
	answer, err := r.git.outputOf(ctx, cmd, "shortlog")
	if err != nil {
		return nil, fmt.Errorf("contributors of %s: %w", r.dir, err)
	}
	var out []Contributor
	for line := range strings.Lines(answer) {
		count, who, _ := strings.Cut(strings.TrimSpace(line), "\t")
		n, err := strconv.Atoi(count)
		if err != nil {
			return nil, fmt.Errorf("git shortlog answered %q", printable(line))
		}
		name, email, _ := strings.Cut(who, "<")
		out = append(out, Contributor{Person{readable(strings.TrimSpace(name)), readable(strings.TrimSuffix(email, ">"))}, n})
	}
	return out, nil
}
