package service_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/cmd/trawl/backups"
	"github.com/trawlsearch/trawl/cmd/trawl/config"
	"github.com/trawlsearch/trawl/cmd/trawl/service"
	"github.com/trawlsearch/trawl/httpapi/admin"
	"github.com/trawlsearch/trawl/store/backup"
	"github.com/trawlsearch/trawl/store/disk"
)

func nobody(backup.Progress) {}

// TestBackupWhileSearchingAndIndexing: each sync replaces all files of a
// repository, whose number is in every one of them. A backup, whenever it is
// made, has one of these states whole, and not an older one than the last.
func TestBackupWhileSearchingAndIndexing(t *testing.T) {
	s := open(t)
	dir := t.TempDir()
	repo, dest := filepath.Join(dir, "kiln"), filepath.Join(dir, "backups")
	const files = 20
	change := func(state int) {
		for f := range files - 1 {
			write(t, filepath.Join(repo, fmt.Sprintf("%d.txt", f)), fmt.Sprintf("state%d end\n", state))
		}
		commit(t, repo, "last.txt", fmt.Sprintf("state%d end\n", state))
	}
	commit(t, repo, "last.txt", "none")
	change(0)
	if _, err := s.Repositories().Add(t.Context(), repo); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Repositories().Sync(t.Context(), "kiln", ignore); err != nil {
		t.Fatal(err)
	}

	var working sync.WaitGroup
	stop := make(chan struct{})
	again := func(f func(i int)) {
		working.Go(func() {
			for i := 1; ; i++ {
				select {
				case <-stop:
					return
				default:
					f(i)
				}
			}
		})
	}
	again(func(i int) {
		change(i)
		if _, err := s.Repositories().Sync(t.Context(), "kiln", ignore); err != nil {
			t.Error(err)
		}
	})
	again(func(int) {
		if n := found(t, s, "end"); n != files {
			t.Errorf("a search beside backups found %d files, want %d", n, files)
		}
	})
	var ids []string
	for range 4 {
		res, err := s.Backups().Backup(t.Context(), admin.Backup{Destination: dest, Mirrors: true}, nobody)
		if err != nil {
			t.Error(err)
			break
		}
		ids = append(ids, res.Backup)
	}
	close(stop)
	working.Wait()

	from, err := backups.OpenDestination(dest)
	if err != nil {
		t.Fatal(err)
	}
	least := 0
	for _, id := range ids {
		to := filepath.Join(dir, "new-"+id)
		if _, err := backup.Restore(t.Context(), from, disk.OS(), to, backup.RestoreOptions{Backup: id}); err != nil {
			t.Fatal(err)
		}
		least = wholeState(t, to, files, least)
	}
}

// wholeState returns which state a restored directory has, and fails unless all
// its files are of that.
func wholeState(t *testing.T, data string, files, least int) int {
	t.Helper()
	set := config.Defaults(config.Machine{MemoryBytes: 1 << 30})
	set.Data = data
	s, err := service.Open(t.Context(), set, service.Options{Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if n := found(t, s, "end"); n != files {
		t.Fatalf("the backup has %d files, want %d", n, files)
	}
	for state := least; state < least+10_000; state++ {
		if n := found(t, s, fmt.Sprintf(`state%d\b patterntype:regexp`, state)); n > 0 {
			if n != files {
				t.Errorf("%d files are of state %d, want %d", n, state, files)
			}
			return state
		}
	}
	t.Fatalf("the backup has a state before %d", least)
	return 0
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
