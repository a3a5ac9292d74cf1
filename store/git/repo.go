package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Repo is a git repository on this machine. It holds no open file or process
// and needs no closing; its methods may be called from several goroutines, but
// not while a Mirror fetches into the same directory.
type Repo struct {
	dir string // as the caller named it
	git runner
}

// Open returns the repository in dir: a bare one, one with a worktree, or a
// worktree linked to one. It looks in dir itself, never in the folders above.
// The error is a single line that says what to do; it is ErrNotRepository if
// git does not recognise dir, ErrForeign if it belongs to another user and leads
// to what is not theirs.
func Open(ctx context.Context, dir string) (*Repo, error) { return (*Budget)(nil).Open(ctx, dir) }

// Open is the function Open of a repository whose processes share the budget.
func (b *Budget) Open(ctx context.Context, dir string) (*Repo, error) {
	abs, err := resolveDir(dir)
	if err != nil {
		return nil, err
	}
	gitDir, format := plainRepository(abs), "sha1"
	if gitDir == "" {
		if gitDir, format, err = b.describe(ctx, abs, filepath.Dir(abs)); err != nil {
			return nil, b.openError(ctx, dir, abs, err)
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("open repository %s: %w", dir, err)
	}
	if err := b.confine(ctx, abs, gitDir); err != nil {
		return nil, err
	}
	return &Repo{dir: dir, git: runner{gitDir, format == "sha256", b}}, nil
}

// LooksLikeRepository reports whether dir has what every repository has, or leads
// to it. It asks no process: Open judges.
func LooksLikeRepository(dir string) bool {
	for _, head := range []string{"HEAD", filepath.Join(".git", "HEAD")} {
		if info, err := os.Stat(filepath.Join(dir, head)); err == nil && info.Mode().IsRegular() {
			return true
		}
	}
	return false
}

// resolveDir makes dir absolute and free of symbolic links, as git's ceiling
// wants it.
func resolveDir(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("%w at %s: the folder does not exist; check the path", ErrNotRepository, dir)
	case err != nil:
		return "", fmt.Errorf("open repository %s: %w", dir, err)
	}
	info, err := os.Stat(abs)
	if err != nil {
		return "", fmt.Errorf("open repository %s: %w", dir, err)
	}
	if !info.IsDir() {
		return "", fmt.Errorf("%w at %s: that is a file; name the folder that holds .git, or a bare repository", ErrNotRepository, dir)
	}
	return abs, nil
}

// describe asks git for the git directory and the object format of the
// repository dir is in, not looking in ceiling or above unless that is "".
func (b *Budget) describe(ctx context.Context, dir, ceiling string) (gitDir, format string, err error) {
	// A directory may have newlines in its name, so it comes last.
	cmd := command(ctx, noTransport, "rev-parse", "--show-object-format", "--absolute-git-dir")
	cmd.Dir = dir
	if ceiling != "" {
		cmd.Env = append(cmd.Env, "GIT_CEILING_DIRECTORIES="+ceiling)
	}
	answer, err := b.output(ctx, cmd, "rev-parse")
	if err != nil {
		return "", "", err
	}
	format, gitDir, ok := strings.Cut(answer, "\n")
	if !ok {
		return "", "", fmt.Errorf("git rev-parse answered %q", printable(answer))
	}
	return gitDir, format, nil
}

func (b *Budget) openError(ctx context.Context, dir, abs string, err error) error {
	var failed *CommandError
	if !errors.As(err, &failed) || !strings.Contains(failed.Message, "not a git repository") {
		return fmt.Errorf("open repository %s: %w", dir, err)
	}
	if gitDir, _, err := b.describe(ctx, abs, ""); err == nil {
		return fmt.Errorf("%w at %s: it lies inside the one of %s; name that folder instead", ErrNotRepository, dir, filepath.Dir(gitDir))
	}
	return fmt.Errorf("%w at %s: name the folder that holds .git, or a bare repository", ErrNotRepository, dir)
}

// Dir returns the directory as it was given to Open or Mirror.
func (r *Repo) Dir() string { return r.dir }
