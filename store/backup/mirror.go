package backup

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/trawlsearch/trawl/store/disk"
)

// mirrorsFolder holds the mirrors in a data directory.
const mirrorsFolder = "mirrors"

var mirrorName = regexp.MustCompile(`^[0-9]+\.git$`)

// stager copies a consistent state of mirrors while git works on them. Refs are
// copied before objects are linked, so that every ref finds its objects;
// objects that a later ref needs do no harm. Git may meanwhile move an object
// from its own file into a pack, or from pack to pack. It writes the new file
// before it removes the old one, so new packs are read last, and again if a
// file was gone.
type stager struct {
	fs       disk.FS
	from, to string
}

// stageMirrors puts the mirrors of the data directory into the folder to.
func stageMirrors(ctx context.Context, fs disk.FS, data, to string) error {
	names, err := fs.List(fs.PathJoin(data, mirrorsFolder))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("list mirrors: %w", err)
	}
	slices.Sort(names)
	for _, n := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !mirrorName.MatchString(n) {
			continue // not whole yet
		}
		s := stager{fs, fs.PathJoin(data, mirrorsFolder, n), fs.PathJoin(to, mirrorsFolder, n)}
		if err := s.stage(); err != nil {
			return fmt.Errorf("mirror %s: %w", n, err)
		}
	}
	return nil
}

func (s stager) stage() error {
	if err := s.fs.MkdirAll(s.to, 0o700); err != nil {
		return err
	}
	for _, step := range []func() error{
		func() error { return s.copy("HEAD") },
		func() error { return s.copy("config") },
		func() error { return s.copy("shallow") },
		func() error { return s.walk("refs", isLock, s.copy) },
		func() error { return s.copy("packed-refs") },
		s.tables,
		s.loose,
		s.packs,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	// A mirror that was removed meanwhile is in no backup.
	if _, err := s.fs.Stat(s.fs.PathJoin(s.from, "HEAD")); errors.Is(err, os.ErrNotExist) {
		return s.fs.RemoveAll(s.to)
	}
	return nil
}

// isLock reports whether a file is a lock of git's. No ref is called like one.
func isLock(name string) bool { return strings.HasSuffix(name, ".lock") }

// passing reports whether git will rename or remove a file below objects soon.
func passing(name string) bool {
	return isLock(name) || strings.HasPrefix(name, "tmp_") || strings.HasPrefix(name, ".tmp")
}

// walk calls each with the files of a folder and its folders, but for those to
// be left out.
func (s stager) walk(name string, leaveOut func(name string) bool, each func(name string) error) error {
	names, err := s.fs.List(s.fs.PathJoin(s.from, name))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	slices.Sort(names)
	for _, n := range names {
		if leaveOut(n) {
			continue
		}
		n = s.fs.PathJoin(name, n)
		info, err := s.fs.Stat(s.fs.PathJoin(s.from, n))
		switch {
		case errors.Is(err, os.ErrNotExist):
		case err != nil:
			return err
		case info.IsDir():
			err = s.walk(n, leaveOut, each)
		default:
			err = each(n)
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// maxRefBytes bounds a file that is copied: packed-refs is the largest.
const maxRefBytes = 512 << 20

// copy copies a small file, if it is there.
func (s stager) copy(name string) error {
	data, err := disk.ReadFile(s.fs, s.fs.PathJoin(s.from, name), maxRefBytes)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.write(name, data)
}

func (s stager) write(name string, data []byte) error {
	to := s.fs.PathJoin(s.to, name)
	if err := s.fs.MkdirAll(s.fs.PathDir(to), 0o700); err != nil {
		return err
	}
	f, err := s.fs.Create(to, writeCategory)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// tableName is a table of refs, such as 0x000000000001-0x000000000003-5f2a91c4.ref.
var tableName = regexp.MustCompile(`^[0-9A-Za-z-]+\.ref$`)

// tables links the tables of a mirror that keeps its refs in git's reftable
// format, and copies the list that says which of them count. Git writes the list
// anew before it removes tables that it has merged. So when the list is the same
// before and after the tables were linked, all that it names are among them. Those
// that it does not name are of no consequence.
func (s stager) tables() error {
	list := s.fs.PathJoin("reftable", "tables.list")
	for range maxRepacks {
		before, err := disk.ReadFile(s.fs, s.fs.PathJoin(s.from, list), maxRefBytes)
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if _, err := s.linkAll("reftable", func(name string) bool { return !tableName.MatchString(name) }); err != nil {
			return err
		}
		after, err := disk.ReadFile(s.fs, s.fs.PathJoin(s.from, list), maxRefBytes)
		if err != nil {
			return err
		}
		if bytes.Equal(before, after) {
			return s.write(list, before)
		}
	}
	return errors.New("git replaced its tables of refs all the time")
}

// linkAll links the files of a folder but for those to be left out. It reports
// whether one was gone.
func (s stager) linkAll(folder string, leaveOut func(name string) bool) (gone bool, err error) {
	names, err := s.fs.List(s.fs.PathJoin(s.from, folder))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	for _, n := range names {
		if leaveOut(n) {
			continue
		}
		err := s.link(s.fs.PathJoin(folder, n))
		if errors.Is(err, os.ErrNotExist) {
			gone = true
		} else if err != nil {
			return false, err
		}
	}
	return gone, nil
}

// link links a file that is never changed.
func (s stager) link(name string) error {
	to := s.fs.PathJoin(s.to, name)
	if err := s.fs.MkdirAll(s.fs.PathDir(to), 0o700); err != nil {
		return err
	}
	err := s.fs.Link(s.fs.PathJoin(s.from, name), to)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	return err
}

var looseFolder = regexp.MustCompile(`^[0-9a-f]{2}$`)

// loose links objects that have a file of their own; one that is gone is in a
// pack by now.
func (s stager) loose() error {
	names, err := s.fs.List(s.fs.PathJoin(s.from, "objects"))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, n := range names {
		if !looseFolder.MatchString(n) {
			continue
		}
		if err := s.walk(s.fs.PathJoin("objects", n), passing, s.link); err != nil {
			return err
		}
	}
	return nil
}

// maxRepacks is how often packs may be replaced while they are linked.
const maxRepacks = 100

// packs links packs until none was gone.
func (s stager) packs() error {
	// An index over packs is made anew by git and may name old ones.
	leaveOut := func(name string) bool { return passing(name) || strings.HasPrefix(name, "multi-pack-index") }
	for range maxRepacks {
		gone, err := s.linkAll(s.fs.PathJoin("objects", "pack"), leaveOut)
		if !gone || err != nil {
			return err
		}
	}
	return errors.New("git replaced its packs all the time")
}

// configPath is the configuration of a mirror. A ref may be called config too.
var configPath = regexp.MustCompile(`^mirrors/[0-9]+\.git/config$`)

// harmless matches a line of a mirror's configuration that only says how the
// mirror is stored and where it is from.
var harmless = regexp.MustCompile(`^(\[core\]|\[extensions\]|\[remote "origin"\]|\s*(repositoryformatversion|filemode|bare|ignorecase|precomposeunicode|objectformat|url|fetch|mirror|tagopt)\s*=[^\\"#;]*|\s*refstorage\s*=\s*(files|reftable)\s*)$`)

// harmlessConfig returns the lines of a mirror's configuration that cannot make
// git run anything: a backup comes from elsewhere.
func harmlessConfig(config []byte) []byte {
	var out strings.Builder
	lines := bufio.NewScanner(strings.NewReader(string(config)))
	section := ""
	for lines.Scan() {
		line := lines.Text()
		if strings.HasPrefix(strings.TrimSpace(line), "[") {
			section = ""
			if harmless.MatchString(line) {
				section = line
				out.WriteString(line + "\n")
			}
			continue
		}
		if section != "" && harmless.MatchString(line) {
			out.WriteString(line + "\n")
		}
	}
	return []byte(out.String())
}
