package bench

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"
)

// killRepo is a small repository, and what the server acknowledged of it.
type killRepo struct {
	name, dir string
	// newest is the version at the tip, synced the last one that a sync was
	// acknowledged of.
	newest, synced int
	// added and removed say what was acknowledged; begun says that either was
	// asked for without an answer, so that both outcomes are right.
	added, removed, begun bool
}

// killText is what the version of a repository holds. The second file has
// another name each time, so that files come and go.
func killText(name string, version int) map[string]string {
	return map[string]string{
		"first.txt": fmt.Sprintf("keptfirst %s %d\n%s", name, version, strings.Repeat("some text around it\n", version%50)),
		fmt.Sprintf("dir/second%d.txt", version%5): fmt.Sprintf("keptsecond %s %d\n", name, version),
	}
}

// newKillRepo makes an empty repository below dir.
func newKillRepo(ctx context.Context, dir, name string) (*killRepo, error) {
	r := &killRepo{name: name, dir: dir + "/" + name + ".git"}
	_, err := gitRepo{}.run(ctx, "init", "-q", "--bare", "-b", "main", r.dir)
	return r, err
}

// commit makes the next version.
func (r *killRepo) commit(ctx context.Context) error {
	version := r.newest + 1
	var in strings.Builder
	message := fmt.Sprintf("version %d of %s", version, r.name)
	fmt.Fprintf(&in, "commit refs/heads/main\ncommitter kill <kill@localhost> %d +0000\ndata %d\n%s\n", time.Now().Unix(), len(message), message)
	if r.newest > 0 {
		in.WriteString("from refs/heads/main^0\n")
	}
	in.WriteString("deleteall\n")
	for path, text := range killText(r.name, version) {
		fmt.Fprintf(&in, "M 100644 inline %s\ndata %d\n%s\n", path, len(text), text)
	}
	if _, err := (gitRepo{dir: r.dir}).feed(ctx, []byte(in.String()), "fast-import", "--quiet"); err != nil {
		return err
	}
	r.newest = version
	return nil
}

// gone removes what is left of a removed repository.
func (r *killRepo) gone() error { return os.RemoveAll(r.dir) }

// judge compares what a search for both files found, the versions by path, with
// what was acknowledged.
func (r *killRepo) judge(listed bool, first, second []int) error {
	switch {
	case r.removed && (listed || len(first)+len(second) > 0):
		return fmt.Errorf("%s was removed and is there: listed %v, versions %v and %v", r.name, listed, first, second)
	case r.removed:
		return nil
	case r.added && !r.begun && !listed:
		return fmt.Errorf("%s was added and is not there", r.name)
	case !listed && len(first)+len(second) > 0:
		return fmt.Errorf("%s is not there, but found at versions %v and %v", r.name, first, second)
	case !listed:
		return nil
	case len(first) != len(second) || len(first) > 1 || len(first) == 1 && first[0] != second[0]:
		return fmt.Errorf("%s is found at versions %v and %v, want one and the same", r.name, first, second)
	case len(first) == 0 && r.synced > 0:
		return fmt.Errorf("%s was synced at version %d and is not found", r.name, r.synced)
	case len(first) == 1 && (first[0] < r.synced || first[0] > r.newest):
		return fmt.Errorf("%s is found at version %d, want %d to %d", r.name, first[0], r.synced, r.newest)
	}
	return nil
}
