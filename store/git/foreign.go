package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// ErrForeign says that the repository of another user of this machine leads to
// files that are neither below its folder nor that user's.
var ErrForeign = errors.New("leads to files of another user")

// trustedFor is how long a repository of another user counts as looked through.
const trustedFor = time.Minute

// confine refuses a repository that belongs to another user of this machine and
// that has git read what is not theirs: by a .git file, by alternates or by
// symbolic links. Otherwise a repository could publish files that its owner may
// not read. Only files below the repository's folder and files of the same user
// are read. It is no wall against a user who exchanges files while git reads.
//
// Repositories of the process's own user and of root are theirs to lead wherever
// they like. Their files are looked at as git does for safe.directory: the folder,
// its .git and the git directory.
func (b *Budget) confine(ctx context.Context, dir, gitDir string) error {
	user, foreign := foreignUser(dir, filepath.Join(dir, ".git"), gitDir)
	if !foreign {
		return nil
	}
	if b != nil {
		if at, ok := b.confined.Load(dir); ok && time.Since(at.(time.Time)) < trustedFor {
			return nil
		}
	}
	w := &confinement{below: dir, user: user, seen: map[string]bool{}}
	places, err := b.places(ctx, gitDir)
	if err != nil {
		return fmt.Errorf("open repository %s: %w", dir, err)
	}
	for _, place := range places {
		if err := w.walk(ctx, place); err != nil {
			return fmt.Errorf("open repository %s: %w", dir, err)
		}
	}
	if b != nil {
		b.confined.Store(dir, time.Now())
	}
	return nil
}

// confineLocal is confine for a repository of this machine that is fetched from.
func (b *Budget) confineLocal(ctx context.Context, from remote) error {
	dir := from.url
	switch u, err := url.Parse(dir); {
	case !from.local:
		return nil
	case err == nil && u.Scheme == "file":
		dir = u.Path
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil // git says so, or reads a bundle
	}
	_, err := b.Open(ctx, dir)
	if errors.Is(err, ErrForeign) {
		return err
	}
	return nil // what else is wrong git says
}

// owner returns the user id that a file belongs to, not following symbolic links.
// Tests set it.
var owner = ownerOf

// foreignUser returns the owner of the first of the files that belongs neither to
// the user of this process nor to root.
func foreignUser(paths ...string) (user int, foreign bool) {
	for _, path := range paths {
		if user, ok := owner(path); ok && user != 0 && user != os.Geteuid() {
			return user, true
		}
	}
	return 0, false
}

// places are the directories that git reads a repository from: its git directory,
// the one it shares with other worktrees, and its alternates and theirs.
func (b *Budget) places(ctx context.Context, gitDir string) ([]string, error) {
	cmd := command(ctx, noTransport, "--git-dir="+gitDir, "rev-parse", "--path-format=absolute", "--git-common-dir")
	common, err := b.output(ctx, cmd, "rev-parse")
	if err != nil {
		return nil, err
	}
	counts, err := b.output(ctx, command(ctx, noTransport, "--git-dir="+gitDir, "count-objects", "-v"), "count-objects")
	if err != nil {
		return nil, err
	}
	all := []string{gitDir, common}
	for line := range strings.Lines(counts) {
		if path, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "alternate: "); ok {
			if strings.HasPrefix(path, `"`) {
				return nil, fmt.Errorf("%w: an alternate has an odd name, %s", ErrForeign, path)
			}
			all = append(all, path)
		}
	}
	return all, nil
}

// confinement walks through what git reads of another user's repository.
type confinement struct {
	below string // the repository's folder, free of symbolic links
	user  int    // the owner
	seen  map[string]bool
}

// neverRead are the parts of git directories that no answer is made from.
var neverRead = []string{"hooks", "logs"}

// walk looks at path, at all below it and at all that symbolic links there lead to.
func (w *confinement) walk(ctx context.Context, path string) error {
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // nor does git find it
	}
	if err != nil {
		return err
	}
	if w.seen[real] {
		return nil
	}
	w.seen[real] = true
	if !w.allows(real) {
		return fmt.Errorf("%w: it has git read %s, which lies outside and is another user's; clone it, or have its owner do so", ErrForeign, printable(real))
	}
	return filepath.WalkDir(real, func(inner string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case filepath.Dir(inner) == real && slices.Contains(neverRead, d.Name()):
			if d.IsDir() {
				return fs.SkipDir
			}
		case d.Type()&fs.ModeSymlink != 0:
			return w.walk(ctx, inner)
		}
		return nil
	})
}

func (w *confinement) allows(real string) bool {
	rel, err := filepath.Rel(w.below, real)
	if err == nil && filepath.IsLocal(rel) {
		return true
	}
	user, ok := owner(real)
	return ok && user == w.user
}
