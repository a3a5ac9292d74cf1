package backup_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/backup"
	"github.com/trawlsearch/trawl/store/disk"
	"github.com/trawlsearch/trawl/store/object"
)

// A mirror comes back with all its refs, whatever they are called: like files that git
// works on, like files of a mirror, in bytes that are no UTF-8, and as long as
// git allows.
func TestRefsOfAllNames(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	source, data := filepath.Join(dir, "source"), filepath.Join(dir, "data")
	mirror := filepath.Join(data, "mirrors", "1.git")
	runGit(t, dir, "init", "-q", "-b", "main", source)
	runGit(t, source, "commit", "-q", "--allow-empty", "-m", "0")
	runGit(t, dir, "clone", "-q", "--mirror", "--template=", source, mirror)
	commit := runGit(t, mirror, "rev-parse", "HEAD")
	for _, name := range []string{
		"tmp_fix", "tmp_/a", "a.tmp", "config", "lab/config", "HEAD", "FORMAT", "LOCK", "packed-refs", "shallow", "locked.lock2", "reftable",
		"objects/info/alternates", "objects/pack/multi-pack-index", "refs/heads/main", "1.git/HEAD",
		"\xff", "\xfe", "caf\xe9/\xff", "ünï", "\ufffd", "\u2028", `"quoted"`, "a'b", "$x;&|<>", "-dash", "#", "%41", "(", "@x",
		strings.Repeat("n", 200), strings.Repeat(strings.Repeat("d", 200)+"/", 10) + "e",
	} {
		runGit(t, mirror, "update-ref", "refs/heads/"+name, commit)
	}
	want := runGit(t, mirror, "for-each-ref")
	st, err := store.Open(data, store.Options{CacheBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	dest := object.NewFolder(disk.OS(), filepath.Join(dir, "backups"))
	for i := range 2 { // the second one knows what the first one sent
		if _, err := backup.Create(ctx, st, dest, backup.Options{Mirrors: true}.Quick(nil)); err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(dir, []string{"first", "second"}[i])
		if _, err := backup.Restore(ctx, dest, disk.OS(), to, backup.RestoreOptions{}); err != nil {
			t.Fatalf("restore: %v", err)
		}
		got := runGit(t, filepath.Join(to, "mirrors", "1.git"), "for-each-ref")
		lost := map[string]bool{}
		for line := range strings.SplitSeq(want, "\n") {
			lost[line] = true
		}
		for line := range strings.SplitSeq(got, "\n") {
			if !lost[line] {
				t.Errorf("restored is %q, which was not there", line)
			}
			delete(lost, line)
		}
		for line := range lost {
			t.Errorf("not restored: %q", line)
		}
		if _, err := os.Stat(filepath.Join(to, "mirrors", "1.git", "config")); err != nil {
			t.Error(err)
		}
	}
}
