package bench

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// FleetFacts are the sizes of generated repositories. Files and Bytes are those
// of the default branches.
type FleetFacts struct {
	Seed         uint64 `json:"seed"`
	Repositories int    `json:"repositories"`
	Empty        int    `json:"empty"`
	Forks        int    `json:"forks"`
	Branches     int    `json:"branches"`
	Commits      int    `json:"commits"`
	Files        int    `json:"files"`
	Bytes        int64  `json:"bytes"`
	// LargestFiles is the number of files of the largest repository.
	LargestFiles int `json:"largestFiles"`
	// PackBytes is the size of all packs.
	PackBytes int64 `json:"packBytes"`
}

func (f *FleetFacts) add(g FleetFacts) {
	f.Repositories += g.Repositories
	f.Empty += g.Empty
	f.Forks += g.Forks
	f.Branches += g.Branches
	f.Commits += g.Commits
	f.Files += g.Files
	f.Bytes += g.Bytes
	f.LargestFiles = max(f.LargestFiles, g.LargestFiles)
	f.PackBytes += g.PackBytes
}

// write makes all repositories, as many at once as there are processors.
func (f *fleet) write(ctx context.Context) (FleetFacts, error) {
	var (
		next    atomic.Int64
		workers sync.WaitGroup
		mu      sync.Mutex // guards facts and failed
		facts   = FleetFacts{Seed: f.seed}
		failed  error
	)
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			w := &fleetWriter{fleet: f, pack: newPackWriter()}
			for i := int(next.Add(1)) - 1; i < f.n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				got, err := w.write(f.repository(i))
				mu.Lock()
				facts.add(got)
				failed = cmp.Or(failed, err)
				mu.Unlock()
				if err != nil {
					return
				}
			}
		})
	}
	workers.Wait()
	return facts, cmp.Or(failed, context.Cause(ctx))
}

// fleetWriter makes one repository after the other.
type fleetWriter struct {
	*fleet
	pack *packWriter
}

// fleetTree is the state of a repository at a commit: blobs by path.
type fleetTree struct {
	blobs map[string]objectID
	// bytes is the size of all text.
	bytes  map[string]int
	commit objectID
	// made counts the commits up to this one.
	made int
}

// write makes a bare repository.
func (w *fleetWriter) write(r fleetRepository) (FleetFacts, error) {
	facts := FleetFacts{Repositories: 1}
	dir := w.dirOf(r)
	if err := os.MkdirAll(filepath.Join(dir, "objects", "pack"), 0o755); err != nil {
		return facts, err
	}
	if err := os.Mkdir(filepath.Join(dir, "refs"), 0o755); err != nil {
		return facts, err
	}
	w.pack.reset()
	refs := map[string]objectID{}
	if r.empty {
		facts.Empty = 1
	} else {
		if err := w.history(r, refs, &facts); err != nil {
			return facts, err
		}
		if err := w.pack.write(filepath.Join(dir, "objects", "pack")); err != nil {
			return facts, err
		}
		facts.PackBytes = int64(w.pack.pack.Len())
	}
	return facts, writeBare(dir, refs)
}

// history writes the commits of r and notes where its branches end.
func (w *fleetWriter) history(r fleetRepository, refs map[string]objectID, facts *FleetFacts) error {
	t := &fleetTree{blobs: map[string]objectID{}, bytes: map[string]int{}}
	if r.parent >= 0 {
		facts.Forks = 1
		if err := w.commits(w.repository(r.parent), t); err != nil {
			return err
		}
	}
	if err := w.commits(r, t); err != nil {
		return err
	}
	refs["refs/heads/main"] = t.commit
	facts.Commits, facts.Files, facts.LargestFiles = t.made, len(t.blobs), len(t.blobs)
	for _, n := range t.bytes {
		facts.Bytes += int64(n)
	}
	if !r.branches {
		return nil
	}
	tip := t.commit
	for _, branch := range []string{"refs/heads/release", "refs/heads/topic/" + w.text.words[r.number%vocabularyWords]} {
		text := w.text.drawing(r.rng).readme(r.name, t.made, branchWord(r.number))
		if err := w.put(t, readmePath, text); err != nil {
			return err
		}
		t.commit = tip
		if err := w.commit(t, "work on "+branch); err != nil {
			return err
		}
		refs[branch] = t.commit
		facts.Branches++
	}
	return nil
}

// readmePath is the file with the words that are counted.
const readmePath = "README.md"

// commits adds the commits of r to what t holds. Each adds some of its files
// and has another revision of the readme.
func (w *fleetWriter) commits(r fleetRepository, t *fleetTree) error {
	text := w.text.drawing(r.rng)
	written := 0
	for step := range r.commits {
		for ; written < r.files*(step+1)/r.commits; written++ {
			l := sourceLanguages[r.language]
			if text.random.IntN(5) == 0 {
				l = sourceLanguages[text.random.IntN(len(sourceLanguages))]
			}
			// A fork has files beside those of the other repository.
			name := w.filePath(written, l, text.random)
			if r.parent >= 0 {
				name = "fork/" + name
			}
			if err := w.put(t, name, text.sourceText(l)); err != nil {
				return err
			}
		}
		readme := text.readme(r.name, step+1, everyRepositoryWord, uniqueWord(r.number))
		if err := w.put(t, readmePath, readme); err != nil {
			return err
		}
		if err := w.commit(t, fmt.Sprintf("%s %s, step %d", text.word(), text.word(), step+1)); err != nil {
			return err
		}
	}
	return nil
}

func (w *fleetWriter) put(t *fleetTree, name string, content []byte) error {
	id, err := w.pack.add(blobObject, content)
	t.blobs[name], t.bytes[name] = id, len(content)
	return err
}

// commit makes a commit of what t holds behind the one it has.
func (w *fleetWriter) commit(t *fleetTree, message string) error {
	paths := sortedKeys(t.blobs)
	tree, err := w.tree(t, paths, "")
	if err != nil {
		return err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "tree %s\n", tree)
	if t.commit != (objectID{}) {
		fmt.Fprintf(&b, "parent %s\n", t.commit)
	}
	t.made++
	const who = "trawl-bench <trawl-bench@localhost>"
	when := 1_700_000_000 + 3600*t.made
	fmt.Fprintf(&b, "author %s %d +0000\ncommitter %s %d +0000\n\n%s\n", who, when, who, when, message)
	t.commit, err = w.pack.add(commitObject, b.Bytes())
	return err
}

// treeEntry is a row of a tree object.
type treeEntry struct {
	mode, name string
	id         objectID
}

// order is what git sorts entries by: folders as if their names ended in a slash.
func (e treeEntry) order() string {
	if e.mode == "40000" {
		return e.name + "/"
	}
	return e.name
}

// tree writes the folder of the sorted paths, which all begin with prefix.
func (w *fleetWriter) tree(t *fleetTree, paths []string, prefix string) (objectID, error) {
	var entries []treeEntry
	for len(paths) > 0 {
		name, _, inFolder := strings.Cut(paths[0][len(prefix):], "/")
		if !inFolder {
			entries = append(entries, treeEntry{"100644", name, t.blobs[paths[0]]})
			paths = paths[1:]
			continue
		}
		folder := prefix + name + "/"
		end := slices.IndexFunc(paths, func(p string) bool { return !strings.HasPrefix(p, folder) })
		if end < 0 {
			end = len(paths)
		}
		id, err := w.tree(t, paths[:end], folder)
		if err != nil {
			return id, err
		}
		entries = append(entries, treeEntry{"40000", name, id})
		paths = paths[end:]
	}
	slices.SortFunc(entries, func(a, b treeEntry) int { return cmp.Compare(a.order(), b.order()) })
	var b bytes.Buffer
	for _, e := range entries {
		fmt.Fprintf(&b, "%s %s\x00", e.mode, e.name)
		b.Write(e.id[:])
	}
	return w.pack.add(treeObject, b.Bytes())
}

// writeBare writes the files of a bare repository beside its objects.
func writeBare(dir string, refs map[string]objectID) error {
	var packed strings.Builder
	packed.WriteString("# pack-refs with: peeled fully-peeled sorted \n")
	for _, ref := range sortedKeys(refs) {
		fmt.Fprintf(&packed, "%s %s\n", refs[ref], ref)
	}
	for file, content := range map[string]string{
		"HEAD":        "ref: refs/heads/main\n",
		"config":      "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n",
		"packed-refs": packed.String(),
	} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}
