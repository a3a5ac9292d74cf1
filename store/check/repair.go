package check

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/trawlsearch/trawl/store"
)

// Prepare takes damaged parts out of service, deletes those without an owner,
// and returns the repositories to sync and whose commits to read again. Shards
// without findings, and so all other repositories, stay as they are.
func Prepare(st *store.Store, findings []Finding, now time.Time) (repositories []string, err error) {
	names := map[string]bool{}
	for _, f := range findings {
		for _, name := range f.Repositories {
			names[name] = names[name] || f.Repair == Rebuild
		}
		if err := prepare(st, f, now); err != nil {
			return nil, fmt.Errorf("repair: %w", err)
		}
	}
	maps.DeleteFunc(names, func(_ string, wanted bool) bool { return !wanted })
	return slices.Sorted(maps.Keys(names)), nil
}

// Mirrors returns the repositories whose mirrors are to be made anew.
func Mirrors(findings []Finding) []string {
	names := map[string]bool{}
	for _, f := range findings {
		if f.Repair == Fetch {
			names[f.Repositories[0]] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

func prepare(st *store.Store, f Finding, now time.Time) error {
	switch {
	case f.Repair == Rebuild && f.record.Lost != nil:
		return recoverLost(st, f)
	case f.Repair == Drop && f.record.Lost != nil:
		return st.Repositories().ForgetLost(f.record.Lost.ID)
	case f.Repair == Rebuild && f.Shard != 0:
		_, err := st.SetAside(f.Shard, errors.New(f.Problem), now)
		return err
	case f.Repair == Rebuild:
		return st.Repositories().ForgetPeople(f.record.Repository)
	case f.Repair == Drop && f.Shard != 0:
		return st.Commit(store.Change{Drop: []uint32{f.Shard}})
	case f.Repair == Drop:
		return st.Update(func(tx *store.Tx) error {
			tx.RemoveStray(f.record)
			return nil
		})
	}
	return nil
}

// recoverLost gives a repository whose record cannot be read a new one, with the
// mirror that there is of it.
func recoverLost(st *store.Store, f Finding) error {
	old := f.recovered
	old.ID = f.record.Lost.ID
	r, err := st.Repositories().Recover(old.ID, f.recovered)
	if err != nil || !r.Mirror {
		return err
	}
	// Without it the mirror is fetched again, and this one swept.
	if err := os.Rename(st.GitDirs().Dir(&old), st.GitDirs().Dir(r)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("keep the mirror of %q: %w", r.Name, err)
	}
	return nil
}
