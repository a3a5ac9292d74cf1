package git

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"path"
	"slices"
	"strings"
)

// Refs returns the full names of the refs below prefix, such as "refs/heads/",
// in byte order.
func (r *Repo) Refs(ctx context.Context, prefix string) ([]string, error) {
	if !strings.HasPrefix(prefix, "refs/") {
		return nil, fmt.Errorf("refs of %s: %q does not begin with refs/", r.dir, prefix)
	}
	if files, err := r.git.refFiles(); err == nil && strings.HasSuffix(prefix, "/") {
		if refs, err := files.all(prefix); err == nil {
			return slices.Sorted(maps.Keys(refs)), ctx.Err()
		}
	}
	out, err := r.git.output(ctx, "for-each-ref", "--format=%(refname)", "--", prefix)
	if err != nil {
		return nil, fmt.Errorf("refs of %s: %w", r.dir, err)
	}
	if out == "" {
		return nil, nil
	}
	return strings.Split(out, "\n"), nil
}

// slashless lets path.Match treat a slash as any other byte, as git does where
// it matches whole refs. No ref holds a NUL.
var slashless = strings.NewReplacer("/", "\x00", "[!", "[^")

// MatchRef reports whether a full ref matches a glob, in which "*" stands for
// any text, "?" for a character and "[a-z]" for one of several. "refs/" is put
// in front of a glob that lacks it, and one without any of those matches the
// ref of that name and all below it. A malformed glob matches nothing.
func MatchRef(glob, ref string) bool {
	if !strings.HasPrefix(glob, "refs/") {
		glob = "refs/" + glob
	}
	if !strings.ContainsAny(glob, "?*[") {
		return ref == glob || strings.HasPrefix(ref, strings.TrimSuffix(glob, "/")+"/")
	}
	ok, err := path.Match(slashless.Replace(glob), slashless.Replace(ref))
	return ok && err == nil
}

// Commits returns the commits that revisions name, as Resolve does, in their
// order; "" stands for a revision that names none. However many there are, one
// git process answers. None is needed where the files of refs tell that there are no such
// names, or that they are of branches whose commits are among those known to the caller.
func (r *Repo) Commits(ctx context.Context, revs []string, known ...string) ([]string, error) {
	out := make([]string, len(revs))
	var asked []int
	for i, n := range r.git.plainNames(revs) {
		switch {
		case n.known && (n.id == "" || slices.Contains(known, n.id)):
			out[i] = n.id
		case checkRev(revs[i]) == nil:
			asked = append(asked, i)
		}
	}
	for first := true; len(asked) > 0; first = false {
		n, err := r.git.commits(ctx, revs, asked, out)
		var failed *CommandError
		switch {
		case err == nil:
			return out, nil
		case !errors.As(err, &failed) || n == 0 && first && !r.git.works(ctx):
			return nil, fmt.Errorf("resolve revisions in %s: %w", r.dir, err)
		}
		asked = asked[n+1:] // git died of the one behind the last answer
	}
	return out, ctx.Err()
}

// commits asks for the revisions that asked counts, and returns how many
// answers came.
func (g *runner) commits(ctx context.Context, revs []string, asked []int, out []string) (n int, err error) {
	var in strings.Builder
	for _, i := range asked {
		in.WriteString(revs[i])
		in.WriteString("^{commit}\n")
	}
	parse := func(answers *bufio.Reader) error {
		for n < len(asked) {
			line, err := answers.ReadString('\n')
			if err != nil {
				return errTruncated
			}
			out[asked[n]] = commitIn(strings.TrimSuffix(line, "\n"))
			n++
		}
		_, err := io.Copy(io.Discard, answers)
		return err
	}
	ask := func(cmd *exec.Cmd) { cmd.Stdin = strings.NewReader(in.String()) }
	err = g.stream(ctx, ask, parse, "cat-file", "--batch-check")
	if errors.Is(err, errTruncated) {
		err = &CommandError{Command: "cat-file", Err: err}
	}
	return n, err
}

// commitIn reads "<oid> commit <size>"; every other answer is a word behind the
// text that was asked for.
func commitIn(answer string) string {
	oid, rest, _ := strings.Cut(answer, " ")
	size, ok := strings.CutPrefix(rest, "commit ")
	if !ok || !isObjectID(oid) || size == "" || strings.Trim(size, "0123456789") != "" {
		return ""
	}
	return oid
}

// CommitBefore returns the first commit among commit and its first parents, the
// newest first, that was made at or before a time in seconds since 1970, or ""
// if there is none.
func (r *Repo) CommitBefore(ctx context.Context, commit string, unix int64) (string, error) {
	if !isObjectID(commit) {
		return "", fmt.Errorf("commits of %s: %q is not an object id", r.dir, commit)
	}
	if unix < 0 {
		return "", nil // git knows no such dates
	}
	out, err := r.git.output(ctx, "rev-list", "--first-parent", "--max-count=1", fmt.Sprintf("--min-age=%d", unix), commit, "--")
	if err != nil {
		return "", fmt.Errorf("commits of %s: %w", r.dir, err)
	}
	return out, nil
}
