package ingest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/git"
)

// SweepMirrors removes the mirrors that belong to no repository, and those that
// others have replaced. A crash leaves such mirrors, whole or half made,
// between the removal of a repository and that of its mirror. It returns how
// many there were. While records of repositories cannot be read it removes
// none. Nothing of this process may sync or remove a repository meanwhile; what
// another node removes may be left for the next call.
func SweepMirrors(s *store.Store) (removed int, err error) {
	sn := s.Snapshot()
	defer sn.Close()
	if sn.LostRepositories() > 0 {
		return 0, nil
	}
	dir := filepath.Join(s.Dir(), "mirrors")
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	for _, e := range entries {
		name, old := strings.CutSuffix(strings.TrimSuffix(e.Name(), git.PartialSuffix), git.OldSuffix)
		text, ok := strings.CutSuffix(name, ".git")
		id, notNumber := strconv.ParseUint(text, 10, 32)
		known := notNumber == nil && sn.RepositoryByID(uint32(id)) != nil
		if !ok || notNumber != nil || known && !old {
			continue
		}
		if known {
			if serr := git.RecoverMirror(filepath.Join(dir, name)); serr != nil {
				err = errors.Join(err, serr)
				continue
			}
			if _, serr := os.Lstat(filepath.Join(dir, e.Name())); errors.Is(serr, fs.ErrNotExist) {
				continue // it is back in its place
			}
		}
		if rerr := os.RemoveAll(filepath.Join(dir, e.Name())); rerr != nil {
			err = errors.Join(err, rerr)
			continue
		}
		removed++
	}
	return removed, err
}
