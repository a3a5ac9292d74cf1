package git

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// refFiles reads refs from the files of a git directory, without a process:
// HEAD, the loose refs, and packed-refs. A loose ref comes before a packed one.
//
// It knows the plain layout only, which git init and git clone make, and returns
// errUnplain for all else: worktrees, reftable, symbolic refs other than HEAD,
// symbolic links, names and values that git would judge. git itself reads those.
type refFiles struct{ gitDir string }

// errUnplain says that git has to be asked.
var errUnplain = errors.New("refs are not in plain files")

// The bounds of what is read without git.
const (
	mostConfigBytes = 256 << 10
	mostPackedBytes = 16 << 20
	mostLooseRefs   = 20_000
	mostRefBytes    = 4 << 10
)

// plainRefFiles returns the refs of the repository in dir, the folder that
// Open takes, if git keeps them in plain files.
func plainRefFiles(dir string) (refFiles, error) {
	gitDir := filepath.Join(dir, ".git")
	info, err := os.Lstat(gitDir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		gitDir = dir
	case err != nil:
		return refFiles{}, err
	case !info.IsDir():
		return refFiles{}, errUnplain // a worktree, a submodule or a symbolic link
	}
	return plainGitDir(gitDir)
}

// plainGitDir refuses what shares its refs with another directory or keeps them
// elsewhere. The configuration is searched for the one word that says so, and
// not parsed: to find it where it means nothing costs a few processes.
func plainGitDir(gitDir string) (refFiles, error) {
	for _, name := range []string{"commondir", "reftable"} {
		if _, err := os.Lstat(filepath.Join(gitDir, name)); !errors.Is(err, fs.ErrNotExist) {
			return refFiles{}, errors.Join(errUnplain, err)
		}
	}
	for _, name := range []string{"objects", "refs"} {
		if info, err := os.Lstat(filepath.Join(gitDir, name)); err != nil || !info.IsDir() {
			return refFiles{}, errors.Join(errUnplain, err)
		}
	}
	config, err := readPlain(filepath.Join(gitDir, "config"), mostConfigBytes)
	if err != nil {
		return refFiles{}, err
	}
	if bytes.Contains(bytes.ToLower(config), []byte("refstorage")) {
		return refFiles{}, errUnplain
	}
	return refFiles{gitDir}, nil
}

// refFiles returns the refs of the repository, if git keeps them in plain files and its
// HEAD is one that git accepts.
func (g *runner) refFiles() (refFiles, error) {
	files, err := plainGitDir(g.gitDir)
	if err == nil {
		_, _, err = files.head()
	}
	return files, err
}

// head returns what HEAD holds: the branch that it names, such as
// refs/heads/main, or if it is detached a commit.
func (r refFiles) head() (ref, commit string, err error) {
	text, err := readPlain(filepath.Join(r.gitDir, "HEAD"), mostRefBytes)
	if err != nil {
		return "", "", err
	}
	line := strings.TrimSuffix(string(text), "\n")
	if isPlainID(line) {
		return "", line, nil
	}
	ref, symbolic := strings.CutPrefix(line, "ref: ")
	if !symbolic || !strings.HasPrefix(ref, headsPrefix) || !isPlainRef(ref) {
		return "", "", errUnplain
	}
	return ref, "", nil
}

// one returns the id of a ref, "" if there is none.
func (r refFiles) one(ref string) (id string, err error) {
	// git moves refs from loose to packed, so the loose ones are read first.
	id, err = r.loose(ref)
	if id != "" || err != nil {
		return id, err
	}
	err = r.eachPacked(func(name []byte) bool { return string(name) == ref }, func(_, packed string) error {
		id = packed
		return nil
	})
	return id, err
}

// eachLoose calls f with the loose refs below prefix, which ends with a slash, until it
// returns an error.
func (r refFiles) eachLoose(prefix string, f func(ref string, d fs.DirEntry) error) error {
	root, loose := filepath.Join(r.gitDir, filepath.FromSlash(prefix)), 0
	return filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && file == root && errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return errors.Join(errUnplain, err)
		case d.IsDir() || file == root || strings.HasSuffix(file, ".lock"): // git writes refs there first
			return nil
		}
		name, err := filepath.Rel(r.gitDir, file)
		if err != nil {
			return err
		}
		ref := filepath.ToSlash(name)
		if loose++; loose > mostLooseRefs || !isPlainRef(ref) {
			return errUnplain
		}
		return f(ref, d)
	})
}

// all returns the ids of the refs below prefix, which ends with a slash, by name.
func (r refFiles) all(prefix string) (map[string]string, error) {
	out := map[string]string{}
	err := r.eachLoose(prefix, func(ref string, _ fs.DirEntry) (err error) {
		out[ref], err = r.loose(ref)
		if out[ref] == "" {
			delete(out, ref) // git has packed or deleted it
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	err = r.eachPacked(below(prefix), func(name, id string) error {
		if _, ok := out[name]; !ok {
			out[name] = id
		}
		return nil
	})
	return out, err
}

// loose returns the id in the file of a ref, "" if there is no such file. A
// folder may be left of deleted refs and counts as none.
func (r refFiles) loose(ref string) (id string, err error) {
	info, err := r.stat(ref)
	switch {
	case isNoFile(err):
		return "", nil
	case err != nil:
		return "", errors.Join(errUnplain, err)
	case info.IsDir():
		return "", nil
	}
	text, err := readPlain(r.file(ref), mostRefBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if id = strings.TrimSuffix(string(text), "\n"); !isPlainID(id) {
		return "", errUnplain
	}
	return id, nil
}

// file is where a loose ref is, and stat looks at what is there.
func (r refFiles) file(ref string) string { return filepath.Join(r.gitDir, filepath.FromSlash(ref)) }

func (r refFiles) stat(ref string) (fs.FileInfo, error) { return os.Lstat(r.file(ref)) }

// isNoFile reports that err says that there is no such file: no folder of it either, or
// a file in the place of one, where a is a ref and not a/b.
func isNoFile(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// below returns a test of whether a ref begins with prefix.
func below(prefix string) func(ref []byte) bool {
	return func(ref []byte) bool { return bytes.HasPrefix(ref, []byte(prefix)) }
}

// eachPacked calls f for each ref of packed-refs that is wanted, until it returns
// an error. Its lines are
//
//	# pack-refs with: peeled fully-peeled sorted
//	<id> refs/heads/main
//	<id> refs/tags/v1
//	^<id of the commit that the tag in the line before names>
func (r refFiles) eachPacked(wanted func(ref []byte) bool, f func(ref, id string) error) error {
	file, err := openPlain(filepath.Join(r.gitDir, "packed-refs"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || info.Size() > mostPackedBytes {
		return errors.Join(errUnplain, err)
	}
	lines := bufio.NewReaderSize(io.LimitReader(file, mostPackedBytes), int(min(info.Size()+1, 64<<10)))
	for first := true; ; first = false {
		b, err := lines.ReadSlice('\n')
		if errors.Is(err, io.EOF) && len(b) == 0 {
			return nil
		}
		if err != nil {
			return errors.Join(errUnplain, err) // the last line ends with a newline, too
		}
		line := b[:len(b)-1]
		id, ref, ok := bytes.Cut(line, []byte(" "))
		switch {
		case first && bytes.HasPrefix(line, []byte("# pack-refs with:")):
		case len(line) > 0 && line[0] == '^' && isHexID(line[1:]):
		case !ok || !isHexID(id):
			return errUnplain
		case !wanted(ref):
		case !isPlainID(string(id)) || !isPlainRef(string(ref)):
			return errUnplain
		default:
			if err := f(string(ref), string(id)); err != nil {
				return err
			}
		}
	}
}

// isHexID is isObjectID of a line that is not kept.
func isHexID(b []byte) bool {
	for _, c := range b {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return len(b) == 40 || len(b) == 64
}

// isPlainID reports that s is an object id that is not all zeros, which git
// takes for a broken ref.
func isPlainID(s string) bool { return isObjectID(s) && strings.Trim(s, "0") != "" }

// isPlainRef reports whether a ref has a name that git accepts, whatever its
// version. Some names that it accepts are not plain.
func isPlainRef(ref string) bool {
	if !strings.HasPrefix(ref, "refs/") {
		return false
	}
	last := byte('/')
	for i := range len(ref) {
		c := ref[i]
		if c <= ' ' || c == 0x7f || strings.IndexByte(`~^:?*[\@`, c) >= 0 || (c == '.' || c == '/') && (last == '.' || last == '/') {
			return false
		}
		last = c
	}
	return last != '/' && last != '.' && !strings.Contains(ref, "./") && !strings.HasSuffix(ref, ".lock") && !strings.Contains(ref, ".lock/")
}

// readPlain returns the bytes of a regular file, at most so many.
func readPlain(file string, most int64) ([]byte, error) {
	f, err := openPlain(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(b)) > most {
		err = errUnplain
	}
	return b, err
}

// openPlain opens a regular file that no symbolic link stands for. To open a
// pipe does not wait for its other end.
func openPlain(file string) (*os.File, error) {
	info, err := os.Lstat(file)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: %s is no regular file", errUnplain, file)
	}
	return os.OpenFile(file, os.O_RDONLY|withoutWaiting, 0)
}
