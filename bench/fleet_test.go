package bench

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestFleet: git finds no fault with what is generated, and finds the words as
// often as the generator says.
func TestFleet(t *testing.T) {
	if testing.Short() {
		t.Skip("makes 60 repositories")
	}
	const n = 60
	f := newFleet(1, n, t.TempDir())
	facts, err := f.write(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := FleetFacts{Seed: 1}
	for i := range n {
		got.add(readFleet(t, f, f.repository(i)))
	}
	got.PackBytes = facts.PackBytes
	if got != facts {
		t.Errorf("seed 1: git sees %+v, want what the generator says: %+v", got, facts)
	}
	if facts.Empty == 0 || facts.Forks == 0 || facts.Branches == 0 || facts.LargestFiles < 50 {
		t.Errorf("seed 1: %+v; want empty repositories, forks, branches and a large one", facts)
	}
}

// readFleet asks git for the facts of a repository.
func readFleet(t *testing.T, f *fleet, r fleetRepository) FleetFacts {
	t.Helper()
	facts := FleetFacts{Repositories: 1}
	git := gitRepo{dir: f.dirOf(r)}
	run := func(args ...string) string {
		out, err := git.run(t.Context(), args...)
		if err != nil {
			t.Fatalf("%s: %v", r.name, err)
		}
		return out
	}
	if out := run("fsck", "--full", "--strict"); out != "" && !r.empty {
		t.Errorf("git fsck of %s prints %q, want nothing", r.name, out)
	}
	if run("for-each-ref") == "" {
		facts.Empty = 1
		return facts
	}
	if r.parent >= 0 {
		facts.Forks = 1
		git := gitRepo{dir: f.dirOf(f.repository(r.parent))}
		main, err := git.run(t.Context(), "rev-parse", "main")
		if err != nil || !strings.Contains(run("log", "--format=%H", "main"), main) {
			t.Errorf("%s: its history lacks %s, the last commit of repository %d: %v", r.name, main, r.parent, err)
		}
	}
	facts.Branches = len(strings.Fields(run("for-each-ref", "--format=%(refname)"))) - 1
	facts.Commits, _ = strconv.Atoi(run("rev-list", "--count", "main"))
	for entry := range strings.Lines(run("ls-tree", "-r", "--long", "main")) {
		size, _ := strconv.ParseInt(strings.Fields(entry)[3], 10, 64)
		facts.Files++
		facts.Bytes += size
	}
	facts.LargestFiles = facts.Files
	for word, want := range map[string]int{everyRepositoryWord: 1, uniqueWord(r.number): 1, absentWord: 0, branchWord(r.number): 0, uniqueWord(r.number + 1): 0} {
		found, _ := git.run(t.Context(), "grep", "-h", word, "main") // exits with 1 if there is none
		if n := len(slices.Collect(strings.Lines(found))); n != want {
			t.Errorf("%s has %d lines with %s, want %d", r.name, n, word, want)
		}
	}
	if r.branches {
		if found := run("grep", "-h", branchWord(r.number), "release"); !strings.Contains(found, branchWord(r.number)) {
			t.Errorf("branch release of %s lacks %s", r.name, branchWord(r.number))
		}
	}
	return facts
}

// TestFleetIsTheSame: equal seeds give equal bytes, whichever worker writes
// them, and other seeds others.
func TestFleetIsTheSame(t *testing.T) {
	made := map[uint64][]string{}
	for _, seed := range []uint64{1, 1, 2} {
		f := newFleet(seed, 12, t.TempDir())
		if _, err := f.write(t.Context()); err != nil {
			t.Fatal(err)
		}
		var names []string
		err := filepath.WalkDir(f.dir, func(p string, d fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(p, ".idx") {
				names = append(names, strings.TrimPrefix(p, f.dir)) // a pack is named by its checksum
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if before := made[seed]; before != nil && !slices.Equal(before, names) {
			t.Errorf("seed %d: packs %q, then %q", seed, before, names)
		}
		made[seed] = names
	}
	if slices.Equal(made[1], made[2]) {
		t.Error("seeds 1 and 2 give equal packs")
	}
}

// TestFleetSizes: the distribution has the long tail that its comment states.
func TestFleetSizes(t *testing.T) {
	f := newFleet(1, 20_000, "")
	var files []int
	for i := range f.n {
		if r := f.repository(i); !r.empty && r.parent < 0 {
			files = append(files, r.files)
		}
	}
	slices.Sort(files)
	median, last := files[len(files)/2], files[len(files)*999/1000]
	if median < 6 || median > 10 || last < 700 || last > 2000 {
		t.Errorf("the median is %d files, one in a thousand has %d; want about %d and 1100", median, last, medianFiles)
	}
}

// TestPackLengths: objects of all lengths of a header can be read.
func TestPackLengths(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "objects", "pack"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "refs"), 0o755); err != nil {
		t.Fatal(err)
	}
	w, rng := newPackWriter(), rand.New(rand.NewPCG(1, 1))
	want := map[string]int{}
	for _, n := range []int{0, 1, 15, 16, 2047, 2048, 1 << 18, 1<<18 + 1} {
		content := make([]byte, n)
		for i := range content {
			content[i] = byte(rng.Uint32())
		}
		id, err := w.add(blobObject, content)
		if err != nil {
			t.Fatal(err)
		}
		want[id.String()] = n
	}
	if err := w.write(filepath.Join(dir, "objects", "pack")); err != nil {
		t.Fatal(err)
	}
	if err := writeBare(dir, nil); err != nil {
		t.Fatal(err)
	}
	out, err := gitRepo{dir: dir}.run(t.Context(), "cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objectsize)")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out) {
		var id string
		var size int
		if _, err := fmt.Sscan(line, &id, &size); err != nil || want[id] != size {
			t.Errorf("object %q, want one of %v: %v", line, want, err)
		}
		delete(want, id)
	}
	if len(want) > 0 {
		t.Errorf("git does not see the objects %v", want)
	}
}
