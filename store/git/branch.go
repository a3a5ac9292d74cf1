package git

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"unicode"
)

// Branch is a named commit.
type Branch struct {
	Name   string // such as "main"; "" if HEAD is detached
	Commit string
}

// DefaultBranch returns the branch that HEAD names and its newest commit. The
// error is ErrEmpty if there is no commit there.
func (r *Repo) DefaultBranch(ctx context.Context) (Branch, error) {
	ref, err := r.git.output(ctx, "symbolic-ref", "-q", "HEAD")
	if err != nil && !exitedWith(err, 1) { // 1: HEAD is detached
		return Branch{}, fmt.Errorf("default branch of %s: %w", r.dir, err)
	}
	if _, err := r.git.verify(ctx, "HEAD"); err != nil {
		if errors.Is(err, ErrNoRevision) {
			err = r.git.unborn(ctx, ref)
		}
		return Branch{}, fmt.Errorf("default branch of %s: %w", r.dir, err)
	}
	commit, err := r.git.verify(ctx, "HEAD^{commit}")
	if err != nil {
		// HEAD has an id, so this is damage and must not pass for emptiness.
		return Branch{}, fmt.Errorf("default branch of %s: the commit HEAD names cannot be read; run git fsck there: %w", r.dir, err)
	}
	return Branch{Name: strings.TrimPrefix(ref, "refs/heads/"), Commit: commit}, nil
}

// SetBranches has branches name commits that the repository has, and HEAD the first of
// them. One without a name is HEAD itself, detached.
func (r *Repo) SetBranches(ctx context.Context, branches []Branch) error {
	var in strings.Builder
	for _, b := range branches {
		if b.Name == "" {
			fmt.Fprintf(&in, "option no-deref\nupdate HEAD %s\n", b.Commit)
		} else {
			fmt.Fprintf(&in, "update %s%s %s\n", headsPrefix, b.Name, b.Commit)
		}
	}
	cmd := r.git.command(ctx, "update-ref", "--stdin")
	cmd.Stdin = strings.NewReader(in.String())
	_, err := r.git.outputOf(ctx, cmd, "update-ref")
	if err == nil && len(branches) > 0 && branches[0].Name != "" {
		_, err = r.git.output(ctx, "symbolic-ref", "HEAD", headsPrefix+branches[0].Name)
	}
	if err != nil {
		return fmt.Errorf("set branches of %s: %w", r.dir, err)
	}
	return nil
}

// Resolve returns the commit that a revision names: a branch, a tag, a full
// ref, a full or abbreviated commit id, or an expression of git's such as
// HEAD~3. Expressions with a colon, which name no commit, and ranges are
// refused. The error is ErrNoRevision if there is no such commit.
func (r *Repo) Resolve(ctx context.Context, rev string) (string, error) {
	if err := checkRev(rev); err != nil {
		return "", err
	}
	commit, err := r.git.verify(ctx, rev+"^{commit}")
	if err != nil {
		return "", fmt.Errorf("resolve %q in %s: %w", rev, r.dir, noRevision(err))
	}
	return commit, nil
}

// noRevision turns git's complaints about an expression, such as a branch
// without upstream, into ErrNoRevision.
func noRevision(err error) error {
	var failed *CommandError
	if exitedWith(err, 128) && errors.As(err, &failed) && !strings.Contains(failed.Message, "not a git repository") {
		return fmt.Errorf("%w: %s", ErrNoRevision, failed.Message)
	}
	return err
}

// CheckRevision returns an error that is ErrNoRevision for a text that cannot
// be a revision, whatever the repository: Resolve and Commits find nothing for
// it.
func CheckRevision(rev string) error { return checkRev(rev) }

// checkRev refuses what git could take for an option, a path, a range or an
// end of line.
func checkRev(rev string) error {
	switch {
	case rev == "":
		return fmt.Errorf("%w: it is empty", ErrNoRevision)
	case rev[0] == '-' || rev[0] == '^':
		return fmt.Errorf("%w: %q begins with %q", ErrNoRevision, rev, rev[:1])
	case strings.Contains(rev, ":") || strings.ContainsFunc(rev, unicode.IsControl):
		return fmt.Errorf("%w: %q holds a colon or a control character", ErrNoRevision, rev)
	case strings.Contains(rev, ".."):
		return fmt.Errorf("%w: %q is a range; name one commit", ErrNoRevision, rev)
	}
	return nil
}

// isObjectID reports that s is a full object id.
func isObjectID(s string) bool {
	if len(s) != 40 && len(s) != 64 {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// exitedWith reports that a command ended by itself with the given status.
func exitedWith(err error, status int) bool {
	var failed *CommandError
	var exit *exec.ExitError
	return errors.As(err, &failed) && errors.As(failed.Err, &exit) && exit.ExitCode() == status
}
