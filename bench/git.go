package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// gitRepo is how to call git on one repository.
type gitRepo struct {
	// dir is the working directory of the calls, empty for ours.
	dir string
	// env is added to the environment, such as GIT_DIR.
	env []string
}

// cleanEnv is our environment without what would make git or a peer behave
// differently from machine to machine: another repository's variables, aliases
// for options, and a locale in which tools read text as other than bytes.
func cleanEnv(extra ...string) []string {
	env := slices.DeleteFunc(os.Environ(), func(kv string) bool {
		return strings.HasPrefix(kv, "GIT_") || strings.HasPrefix(kv, "RIPGREP_") ||
			strings.HasPrefix(kv, "LC_") || strings.HasPrefix(kv, "LANG")
	})
	env = append(env, "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0")
	return append(env, extra...)
}

// gitSettings come before the command: no guessing of who may read what, no
// change of line ends, and no waiting for background work.
var gitSettings = []string{
	"-c", "safe.directory=*", "-c", "core.autocrlf=false", "-c", "gc.auto=0", "-c", "commit.gpgSign=false",
	"-c", "user.name=trawl-bench", "-c", "user.email=trawl-bench@localhost",
}

func (g gitRepo) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", slices.Concat(gitSettings, args)...)
	cmd.Dir = g.dir
	cmd.Env = cleanEnv(g.env...)
	return cmd
}

// run returns what git prints, with the last newline cut.
func (g gitRepo) run(ctx context.Context, args ...string) (string, error) {
	return g.feed(ctx, nil, args...)
}

func (g gitRepo) feed(ctx context.Context, stdin []byte, args ...string) (string, error) {
	cmd := g.command(ctx, args...)
	if stdin != nil {
		cmd.Stdin = bytes.NewReader(stdin)
	}
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", strings.Join(args, " "), withStderr(err))
	}
	return strings.TrimSuffix(string(out), "\n"), nil
}

// withStderr adds to err the end of what the command complained about.
func withStderr(err error) error {
	var exit *exec.ExitError
	if !errors.As(err, &exit) || len(exit.Stderr) == 0 {
		return err
	}
	return fmt.Errorf("%w: %s", err, lastBytes(exit.Stderr, 500))
}

func lastBytes(text []byte, n int) string {
	text = bytes.TrimSpace(text)
	if len(text) > n {
		text = text[len(text)-n:]
	}
	return string(text)
}
