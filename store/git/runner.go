package git

import (
	"bufio"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
)

// runner runs git in one repository, on the budget that its processes share with others.
type runner struct {
	gitDir string // absolute; where HEAD is
	sha256 bool
	budget *Budget
}

// args puts the repository in front of a subcommand. Naming it spares git the
// search, and leaves no doubt which one is meant.
func (g *runner) args(args ...string) []string {
	return append([]string{"--git-dir=" + g.gitDir}, args...)
}

// command prepares a command that talks to no other repository.
func (g *runner) command(ctx context.Context, args ...string) *exec.Cmd {
	return command(ctx, noTransport, g.args(args...)...)
}

// output is Budget.output of a command that talks to no other repository.
func (g *runner) output(ctx context.Context, args ...string) (string, error) {
	return g.outputOf(ctx, g.command(ctx, args...), subcommand(args))
}

// outputOf is output of a command that was prepared further.
func (g *runner) outputOf(ctx context.Context, cmd *exec.Cmd, name string) (string, error) {
	return g.budget.output(ctx, cmd, name)
}

// stream is Budget.stream of a command that talks to no other repository.
func (g *runner) stream(ctx context.Context, prepare func(*exec.Cmd), parse func(*bufio.Reader) error, args ...string) error {
	return g.budget.stream(ctx, subcommand(args), prepare, parse, g.args(args...)...)
}

// transfer is Budget.transfer into the repository.
func (g *runner) transfer(ctx context.Context, from remote, progress func(string), args ...string) error {
	return g.budget.transfer(ctx, from, g.gitDir, progress, g.args(args...)...)
}

// plainPaths lets a command take paths for nothing but paths, from the root of
// the tree, and keeps it from files where we happen to stand: neither a .mailmap nor
// a .gitattributes there is meant, nor, for git before 2.42, the .gitattributes of an
// index.
func (g *runner) plainPaths(cmd *exec.Cmd) {
	cmd.Dir = g.gitDir
	cmd.Env = append(cmd.Env, "GIT_LITERAL_PATHSPECS=1", "GIT_ATTR_SOURCE="+g.emptyTree(),
		"GIT_INDEX_FILE="+filepath.Join(g.gitDir, "none"), noGrafts)
}

// emptyTree is the id of the tree without entries, which git knows without
// storing it.
func (g *runner) emptyTree() string {
	if g.sha256 {
		return "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
	}
	return "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
}

// works reports whether git can work with the repository at all.
func (g *runner) works(ctx context.Context) bool {
	_, err := g.output(ctx, "rev-parse", "--git-dir")
	return err == nil
}

// verify returns the id of a revision that has been checked. It finds out
// whether the object exists only if rev asks for its kind.
func (g *runner) verify(ctx context.Context, rev string) (string, error) {
	commit, err := g.output(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", rev)
	if exitedWith(err, 1) {
		return "", ErrNoRevision
	}
	if err != nil {
		return "", err
	}
	if !isObjectID(commit) {
		return "", fmt.Errorf("git rev-parse answered %q", printable(commit))
	}
	return commit, nil
}

// unborn reports whether a branch does not exist yet. git rev-parse does not
// distinguish that from a damaged ref. ref is the target of HEAD.
func (g *runner) unborn(ctx context.Context, ref string) error {
	cmd := g.command(ctx, "for-each-ref", "--count=1", "--", ref)
	stderr := stderrOf(cmd)
	if _, err := g.outputOf(ctx, cmd, "for-each-ref"); err != nil {
		return err
	}
	if message := lastMessage(stderr.String()); message != "" {
		return fmt.Errorf("git for-each-ref: %s", message)
	}
	return fmt.Errorf("%w yet: HEAD names %s, which does not exist", ErrEmpty, ref)
}
