package bench

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// soakWorld is the repositories of a soak run and their text, so that every
// answer can be compared with a plain scan.
type soakWorld struct {
	dir   string
	rng   *rand.Rand
	repos []*soakRepo
	made  int
}

// soakRepo is one repository. files has its texts by path; paths begin with the
// repository's name, so that no other repository has them.
type soakRepo struct {
	name, dir string
	files     map[string]string
	// first is what it held at first, and firstCommit where.
	first       map[string]string
	firstCommit string
	commits     int
	// base says that it is there at the end of each round.
	base bool
}

const (
	soakRepos = 6
	soakFiles = 40
	soakWords = 400
)

// soakWord returns the n-th word of all texts.
func soakWord(n int) string { return fmt.Sprintf("w%03dord", n) }

// text returns lines of code and prose.
func (w *soakWorld) text(path string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "package soak // %s\n", path)
	for i := range 5 + w.rng.IntN(80) {
		word := soakWord(w.rng.IntN(soakWords))
		switch w.rng.IntN(4) {
		case 0:
			fmt.Fprintf(&b, "func %s%d() int { return %d }\n", word, i, w.rng.IntN(1000))
		case 1:
			fmt.Fprintf(&b, "\tcall(%s, %s)\n", word, soakWord(w.rng.IntN(soakWords)))
		case 2:
			fmt.Fprintf(&b, "// Ünïcode %s and %d-%03d\n", strings.ToUpper(word), w.rng.IntN(100), w.rng.IntN(1000))
		default:
			b.WriteString("\n")
		}
	}
	return b.String()
}

// add makes a repository.
func (w *soakWorld) add(ctx context.Context, base bool) (*soakRepo, error) {
	w.made++
	r := &soakRepo{name: fmt.Sprintf("soak%d", w.made), files: map[string]string{}, base: base}
	r.dir = filepath.Join(w.dir, r.name+".git")
	for i := range soakFiles {
		path := fmt.Sprintf("%s/dir%d/file%d.go", r.name, i%5, i)
		r.files[path] = w.text(path)
	}
	if _, err := (gitRepo{}).run(ctx, "init", "-q", "--bare", "-b", "main", r.dir); err != nil {
		return nil, err
	}
	if err := r.commit(ctx, "first of "+r.name); err != nil {
		return nil, err
	}
	var err error
	r.first = maps.Clone(r.files)
	if r.firstCommit, err = (gitRepo{dir: r.dir}).run(ctx, "rev-parse", "refs/heads/main"); err != nil {
		return nil, err
	}
	w.repos = append(w.repos, r)
	return r, nil
}

// change rewrites, adds, renames and deletes some files.
func (w *soakWorld) change(ctx context.Context, r *soakRepo) error {
	paths := slices.Sorted(maps.Keys(r.files))
	for range 1 + w.rng.IntN(6) {
		path := paths[w.rng.IntN(len(paths))]
		switch {
		case len(r.files) > soakFiles/2 && w.rng.IntN(4) == 0:
			delete(r.files, path)
		case w.rng.IntN(3) == 0 && r.files[path] != "":
			r.files[fmt.Sprintf("%s/moved/to%d.go", r.name, w.rng.IntN(1000))] = r.files[path]
			delete(r.files, path)
		default:
			r.files[path] = w.text(path)
		}
	}
	return r.commit(ctx, fmt.Sprintf("change %d of %s, about %s", r.commits, r.name, soakWord(w.rng.IntN(soakWords))))
}

// commit makes a commit of what r holds.
func (r *soakRepo) commit(ctx context.Context, message string) error {
	var in bytes.Buffer
	r.commits++
	fmt.Fprintf(&in, "commit refs/heads/main\ncommitter soak <soak@localhost> %d +0000\ndata %d\n%s\n", 1_700_000_000+60*r.commits, len(message), message)
	if r.commits > 1 {
		in.WriteString("from refs/heads/main^0\n")
	}
	in.WriteString("deleteall\n")
	for _, path := range slices.Sorted(maps.Keys(r.files)) {
		fmt.Fprintf(&in, "M 100644 inline %s\ndata %d\n%s\n", path, len(r.files[path]), r.files[path])
	}
	_, err := (gitRepo{dir: r.dir}).feed(ctx, in.Bytes(), "fast-import", "--quiet", "--force")
	return err
}

// rewind brings r back to what it was at first, history included.
func (r *soakRepo) rewind(ctx context.Context) error {
	git := gitRepo{dir: r.dir}
	if _, err := git.run(ctx, "update-ref", "refs/heads/main", r.firstCommit); err != nil {
		return err
	}
	r.files, r.commits = maps.Clone(r.first), 1
	_, err := git.run(ctx, "gc", "-q", "--prune=now")
	return err
}

// remove forgets r.
func (w *soakWorld) remove(r *soakRepo) error {
	w.repos = slices.DeleteFunc(w.repos, func(o *soakRepo) bool { return o == r })
	return os.RemoveAll(r.dir)
}

// scan returns the lines that match in all repositories.
func (w *soakWorld) scan(match func(line string) bool) LineSet {
	out := LineSet{}
	for _, r := range w.repos {
		for path, text := range r.files {
			n := uint32(0)
			for line := range strings.Lines(text) {
				if n++; match(strings.TrimSuffix(line, "\n")) {
					out.Add(path, n)
				}
			}
		}
	}
	return out
}

// soakQuery is a query with its right answer.
type soakQuery struct {
	text, kind string
	scope      Scope
	want       LineSet
}

// query draws a query.
func (w *soakWorld) query() soakQuery {
	word := soakWord(w.rng.IntN(soakWords))
	lines := func(kind, text, pattern string) soakQuery {
		re := regexp.MustCompile(pattern)
		return soakQuery{"type:file count:all " + text, kind, Lines, w.scan(re.MatchString)}
	}
	switch w.rng.IntN(7) {
	case 0:
		return lines("words", word, "(?i)"+word)
	case 1:
		return lines("case", "case:yes "+strings.ToUpper(word), strings.ToUpper(word))
	case 2:
		return lines("regexp", `/`+word+`\d+\(\)/`, "(?i)"+word+`\d+\(\)`)
	case 3:
		n := w.rng.IntN(100)
		return lines("no literal", fmt.Sprintf(`/ %d-\d{3}$/`, n), fmt.Sprintf(` %d-\d{3}$`, n))
	case 4:
		other := soakWord(w.rng.IntN(soakWords))
		return lines("alternation", `/`+word+`|`+other+`/`, "(?i)"+word+"|"+other)
	case 5:
		q := soakQuery{text: fmt.Sprintf("type:path count:all file%d.go", w.rng.IntN(soakFiles)), kind: "path", scope: Paths, want: LineSet{}}
		_, name, _ := strings.Cut(q.text, "all ")
		for _, r := range w.repos {
			for path := range r.files {
				if strings.Contains(path, name) {
					q.want.Add(path, 0)
				}
			}
		}
		return q
	}
	r := w.repos[w.rng.IntN(len(w.repos))]
	q := lines("repository", "repo:^"+r.name+"$ "+word, "(?i)"+word)
	q.want.Keep(func(path string) bool { return strings.HasPrefix(path, r.name+"/") })
	return q
}
