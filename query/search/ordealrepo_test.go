package search_test

import (
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// ordealRepo is a bare git repository and the files of its tip.
type ordealRepo struct {
	dir, name string
	version   int
	files     map[string]string
}

// repo returns the repository of that name, made if need be.
func (o *ordeal) repo(name string) *ordealRepo {
	r := o.git[name]
	if r == nil {
		r = &ordealRepo{dir: filepath.Join(o.t.TempDir(), name+".git"), name: name, files: map[string]string{}}
		o.git[name] = r
		o.run(r, "", "init", "-q", "--bare", "-b", "main", r.dir)
	}
	return r
}

func (o *ordeal) run(r *ordealRepo, stdin string, args ...string) string {
	o.t.Helper()
	cmd := exec.Command("git", args...)
	if args[0] != "init" {
		cmd.Dir = r.dir
	}
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if err != nil {
		o.t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// change commits the next version: some files are written, removed and renamed.
func (o *ordeal) change(rng *rand.Rand, name string) {
	r := o.repo(name)
	r.version++
	for range 4 + rng.IntN(8) {
		path := fmt.Sprintf("dir%d/f%d.go", rng.IntN(3), rng.IntN(12))
		text, there := r.files[path]
		switch {
		case there && rng.IntN(3) == 0:
			delete(r.files, path)
		case there && rng.IntN(3) == 0:
			delete(r.files, path)
			r.files["moved/"+path] = text
		default:
			body := strings.Repeat(fmt.Sprintf("\t// %s line %d of version %d\n", name, rng.IntN(1000), r.version), rng.IntN(200))
			r.files[path] = fmt.Sprintf("package p\n\nfunc F%d%s() {\n%s}\n", rng.IntN(100), name, body)
		}
	}
	o.commit(r)
}

// changeLittle commits the next version of a repository of a few lines.
func (o *ordeal) changeLittle(name string) {
	r := o.repo(name)
	r.version++
	r.files["dir1/little.go"] = fmt.Sprintf("package p\n\n// %s line %d7 of version %d\nfunc F%d%s() {}\n", name, r.version, r.version, r.version, name)
	r.files[fmt.Sprintf("same%d", r.version)] = "the same text in all\n"
	o.commit(r)
}

// commit commits the files of a repository.
func (o *ordeal) commit(r *ordealRepo) {
	var in strings.Builder
	message := fmt.Sprintf("version %d of %s", r.version, r.name)
	fmt.Fprintf(&in, "commit refs/heads/main\ncommitter o <o@localhost> %d +0000\ndata %d\n%s\n", 1_700_000_000+r.version, len(message), message)
	if r.version > 1 {
		in.WriteString("from refs/heads/main^0\n")
	}
	in.WriteString("deleteall\n")
	for _, path := range slices.Sorted(maps.Keys(r.files)) {
		fmt.Fprintf(&in, "M 100644 inline %s\ndata %d\n%s\n", path, len(r.files[path]), r.files[path])
	}
	o.run(r, in.String(), "fast-import", "--quiet")
}

// rewrite replaces the last commit of a repository of two.
func (o *ordeal) rewrite(name string) {
	r := o.repo(name)
	o.run(r, "", "update-ref", "refs/heads/main", "main~1")
	r.files["rewritten"] = name + " line 7 of version 2 again\n"
	o.commit(r)
}

// commits tells what the history of a repository is.
func (o *ordeal) commits(name string) string {
	r := o.repo(name)
	return fmt.Sprintf("%d commits to %s", r.version, o.run(r, "", "rev-parse", "main"))
}

// digest tells files apart.
func digest(files map[string]string) string {
	h := fnv.New64a()
	for _, path := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(h, "%q %q\n", path, files[path])
	}
	return fmt.Sprintf("%d files %x", len(files), h.Sum64())
}
