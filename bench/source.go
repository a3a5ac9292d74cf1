package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// source is one corpus in the two forms a run needs: a repository for trawl
// that the run may change, and a directory with exactly the files of one
// commit for the peers. Neither is the user's own repository being written to.
type source struct {
	// tree is the directory that peers read.
	tree string
	// git calls git with tree as its work tree.
	git gitRepo
	// clone is the bare repository that trawl indexes. Its objects are
	// borrowed from the corpus, so it costs next to nothing.
	clone string
	// gitDir is where the commit comes from.
	gitDir string
	commit string
	files  []file
	// considered is known once trawl has said what it skips.
	considered considered
}

// file is one path of the commit.
type file struct {
	path  string
	bytes int64
	class fileClass
}

// openSource prepares the corpus at dir, keeping what it needs under scratch
// and the clone under cloneDir.
func openSource(ctx context.Context, dir, scratch, cloneDir string) (*source, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(dir); err != nil {
		return nil, fmt.Errorf("open corpus: %w", err)
	} else if !info.IsDir() {
		return nil, fmt.Errorf("open corpus: %s is not a directory", dir)
	}
	s := &source{tree: dir}
	if s.gitDir, err = s.findGit(ctx, dir, scratch); err != nil {
		return nil, fmt.Errorf("open corpus: %w", err)
	}
	if s.commit, err = s.git.run(ctx, "rev-parse", "HEAD^{commit}"); err != nil {
		return nil, fmt.Errorf("open corpus: no commit to search: %w", err)
	}
	if err := s.list(ctx); err != nil {
		return nil, fmt.Errorf("list corpus: %w", err)
	}
	name := strings.TrimSuffix(filepath.Base(dir), ".git") + ".git"
	s.clone = filepath.Join(cloneDir, name)
	return s, s.makeClone(ctx)
}

// findGit sets s.git and s.tree and returns the repository's directory.
func (s *source) findGit(ctx context.Context, dir, scratch string) (string, error) {
	switch {
	case exists(filepath.Join(dir, ".git")):
		s.git = gitRepo{dir: dir}
		gitDir, err := s.git.run(ctx, "rev-parse", "--absolute-git-dir")
		if err != nil {
			return "", err
		}
		status, err := s.git.run(ctx, "status", "--porcelain", "--ignored", "--untracked-files=all")
		if err != nil {
			return "", err
		}
		if status == "" {
			return gitDir, nil
		}
		return gitDir, s.export(ctx, gitDir, scratch)
	case exists(filepath.Join(dir, "HEAD")) && exists(filepath.Join(dir, "objects")):
		return dir, s.export(ctx, dir, scratch)
	}
	return s.importTree(ctx, dir, scratch)
}

// export writes the files of HEAD below scratch, for a repository without a
// work tree or with one that differs from HEAD.
func (s *source) export(ctx context.Context, gitDir, scratch string) error {
	s.tree = filepath.Join(scratch, "tree")
	if err := os.Mkdir(s.tree, 0o755); err != nil {
		return err
	}
	s.git = gitRepo{dir: s.tree, env: []string{
		"GIT_DIR=" + gitDir, "GIT_WORK_TREE=" + s.tree, "GIT_INDEX_FILE=" + filepath.Join(scratch, "index"),
	}}
	if _, err := s.git.run(ctx, "read-tree", "HEAD"); err != nil {
		return err
	}
	_, err := s.git.run(ctx, "checkout-index", "--all", "--quiet")
	return err
}

// importTree commits a plain directory to a repository of its own below
// scratch, leaving no trace in the directory.
func (s *source) importTree(ctx context.Context, dir, scratch string) (string, error) {
	gitDir := filepath.Join(scratch, "import.git")
	if _, err := (gitRepo{}).run(ctx, "init", "--quiet", "--bare", gitDir); err != nil {
		return "", err
	}
	s.git = gitRepo{dir: dir, env: []string{"GIT_DIR=" + gitDir, "GIT_WORK_TREE=" + dir}}
	if _, err := s.git.run(ctx, "add", "--all", "--force"); err != nil {
		return "", err
	}
	_, err := s.git.run(ctx, "commit", "--quiet", "--no-verify", "--message", "corpus")
	return gitDir, err
}

// makeClone makes the repository that trawl indexes, unless a run before left
// one at the same place.
func (s *source) makeClone(ctx context.Context) error {
	if exists(s.clone) {
		return nil
	}
	_, err := (gitRepo{}).run(ctx, "clone", "--quiet", "--bare", "--shared", "--single-branch", "--no-tags",
		s.gitDir, s.clone)
	return err
}

// copyTo makes a repository with objects of its own, by links where the file
// system allows, for tools that cannot borrow objects.
func (s *source) copyTo(ctx context.Context, dir string) error {
	_, err := (gitRepo{}).run(ctx, "clone", "--quiet", "--bare", "--dissociate", "--single-branch", "--no-tags", s.gitDir, dir)
	return err
}

// list reads the paths of the commit and looks into every file.
func (s *source) list(ctx context.Context) error {
	out, err := s.git.run(ctx, "ls-tree", "-r", "-z", "--long", "--full-tree", s.commit)
	if err != nil {
		return err
	}
	for entry := range strings.SplitSeq(out, "\x00") {
		if entry == "" {
			continue
		}
		f, err := parseTreeEntry(entry)
		if err != nil {
			return err
		}
		if f.class != irregular {
			if f.class, err = classifyFile(filepath.Join(s.tree, f.path)); err != nil {
				return err
			}
		}
		s.files = append(s.files, f)
	}
	if len(s.files) == 0 {
		return errors.New("the commit has no files")
	}
	return nil
}

// parseTreeEntry reads "mode type object size\tpath".
func parseTreeEntry(entry string) (file, error) {
	head, path, ok := strings.Cut(entry, "\t")
	parts := strings.Fields(head)
	if !ok || len(parts) != 4 {
		return file{}, fmt.Errorf("tree entry %q has another form than expected", entry)
	}
	f := file{path: path, class: text}
	if parts[0] != "100644" && parts[0] != "100755" {
		f.class = irregular
	}
	if parts[3] != "-" {
		n, err := strconv.ParseInt(parts[3], 10, 64)
		if err != nil {
			return file{}, fmt.Errorf("tree entry %q: %w", entry, err)
		}
		f.bytes = n
	}
	return f, nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
