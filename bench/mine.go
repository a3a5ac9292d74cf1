package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// MineConfig says from which repositories to mine a set of queries that no
// person chose: a commit's subject is the query, and the files that it changed
// are the wanted results.
type MineConfig struct {
	// Repositories are git directories; they are only read.
	Repositories []string
	// Out is the directory for the set. For each snapshot it gets a bare
	// repository, NAME.git, and the queries over it, NAME.txt.
	Out string
	// Snapshots is how many are taken of each repository, and Commits how many
	// commits behind each give a query.
	Snapshots, Commits int
	Progress           func(message string)
}

// Commits of tuning are those that weights may be chosen by; those of reporting
// are for figures only.
const (
	minedToTune   = "tune"
	minedToReport = "report"
)

// minedStep is how many commits of the main line lie behind a snapshot, for each
// commit that is to give a query: about half of all are left out.
const minedStep = 3

// Mine makes the set. A snapshot stands for the parents of all commits behind it,
// since an index for each would take days; a file that is not there yet is not
// wanted.
func Mine(ctx context.Context, c MineConfig) error {
	if len(c.Repositories) == 0 || c.Out == "" || c.Snapshots < 1 || c.Commits < 1 {
		return errors.New("bench: repositories, a directory and numbers of snapshots and commits are needed")
	}
	if c.Progress == nil {
		c.Progress = func(string) {}
	}
	if err := os.MkdirAll(c.Out, 0o755); err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	for _, repository := range c.Repositories {
		if err := c.mine(ctx, repository); err != nil {
			return fmt.Errorf("bench: mine %s: %w", repository, err)
		}
	}
	return nil
}

func (c MineConfig) mine(ctx context.Context, repository string) error {
	repository, err := filepath.Abs(repository)
	if err != nil {
		return err
	}
	git := gitRepo{dir: repository}
	out, err := git.run(ctx, "rev-list", "--first-parent", "HEAD")
	if err != nil {
		return err
	}
	mainLine := strings.Fields(out)
	for n := range c.Snapshots {
		// Spread over the newer half of the history, the newest first.
		end := n * len(mainLine) / 2 / c.Snapshots
		start := min(end+minedStep*c.Commits, len(mainLine)-1)
		name := fmt.Sprintf("%s-%d", minedName(repository), n)
		bare, err := c.snapshot(ctx, repository, name, mainLine[start])
		if err != nil {
			return err
		}
		words, err := countWords(ctx, bare, "main")
		if err != nil {
			return err
		}
		commits, err := minedCommits(ctx, git, mainLine[start], mainLine[end])
		if err != nil {
			return err
		}
		queries, err := c.queries(ctx, bare, name, words, commits)
		if err != nil {
			return err
		}
		if err := c.write(name, mainLine[start], queries); err != nil {
			return err
		}
		c.Progress(fmt.Sprintf("%s: %d queries over %.12s", name, len(queries), mainLine[start]))
	}
	return nil
}

// minedName is what a repository is called: the last element of its path that is
// a name.
func minedName(repository string) string {
	if base := filepath.Base(repository); base != "repo" && base != ".git" {
		return strings.TrimSuffix(base, ".git")
	}
	base := filepath.Base(filepath.Dir(repository))
	return base[strings.LastIndexByte(base, '+')+1:]
}

// queries makes those of commits. Words that no wanted file has are not asked
// for: no order would help then.
func (c MineConfig) queries(ctx context.Context, bare gitRepo, name string, words *treeWords, commits []minedCommit) ([]Judged, error) {
	var out []Judged
	for _, commit := range commits {
		if len(out) == c.Commits {
			break
		}
		best := Judged{Name: name + "-" + commit.id[:12], Kind: half(commit.id), PatternType: "keyword", Why: commit.subject}
		for _, path := range words.wanted(commit.changed) {
			text, err := bare.run(ctx, "cat-file", "blob", "main:"+path)
			if err != nil {
				return nil, err
			}
			query := words.rarest(commit.subject, commit.id, strings.ToLower(path+"\n"+text))
			if strings.Count(query, " ") > strings.Count(best.Text, " ") {
				best.Text, best.Want = query, commit.changed
			}
		}
		if best.Text != "" {
			out = append(out, best)
		}
	}
	return out, nil
}

// half is that of a commit, by its id.
func half(id string) string {
	if strings.IndexByte("02468ace", id[len(id)-1]) >= 0 {
		return minedToTune
	}
	return minedToReport
}

// snapshot makes a bare repository with the files of one commit, and nothing
// that was before. Files whose objects are not there, as in a partial clone, are
// left out.
func (c MineConfig) snapshot(ctx context.Context, repository, name, commit string) (bare gitRepo, err error) {
	bare.dir, err = filepath.Abs(filepath.Join(c.Out, name+".git"))
	if err != nil {
		return bare, err
	}
	shared := gitRepo{dir: bare.dir + ".shared", env: []string{"GIT_INDEX_FILE=" + bare.dir + ".shared/index"}}
	defer func() { err = errors.Join(err, os.RemoveAll(shared.dir)) }()
	if err := errors.Join(os.RemoveAll(bare.dir), os.RemoveAll(shared.dir)); err != nil {
		return bare, err
	}
	if _, err := (gitRepo{}).run(ctx, "clone", "--quiet", "--bare", "--shared", repository, shared.dir); err != nil {
		return bare, err
	}
	if _, err := shared.run(ctx, "read-tree", commit); err != nil {
		return bare, err
	}
	if err := shared.forgetMissing(ctx); err != nil {
		return bare, err
	}
	tree, err := shared.run(ctx, "write-tree", "--missing-ok")
	if err != nil {
		return bare, err
	}
	alone, err := shared.run(ctx, "commit-tree", "-m", "snapshot of "+commit, tree)
	if err != nil {
		return bare, err
	}
	if _, err := shared.run(ctx, "update-ref", "refs/heads/snapshot", alone); err != nil {
		return bare, err
	}
	if _, err := (gitRepo{}).run(ctx, "init", "--quiet", "--bare", "--initial-branch=main", bare.dir); err != nil {
		return bare, err
	}
	_, err = bare.run(ctx, "fetch", "--quiet", "file://"+shared.dir, "refs/heads/snapshot:refs/heads/main")
	return bare, err
}

// forgetMissing takes the files out of the index whose objects are not there.
func (g gitRepo) forgetMissing(ctx context.Context) error {
	files, err := g.run(ctx, "ls-files", "--stage", "-z")
	if err != nil {
		return err
	}
	var ids, paths []string
	for entry := range strings.SplitSeq(strings.TrimSuffix(files, "\x00"), "\x00") {
		mode, path, _ := strings.Cut(entry, "\t")
		if f := strings.Fields(mode); len(f) == 3 && f[0] != "160000" {
			ids, paths = append(ids, f[1]), append(paths, path)
		}
	}
	kinds, err := g.feed(ctx, []byte(strings.Join(ids, "\n")+"\n"), "cat-file", "--batch-check")
	if err != nil {
		return err
	}
	var missing strings.Builder
	for i, kind := range strings.Split(kinds, "\n") {
		if strings.HasSuffix(kind, " missing") {
			fmt.Fprintf(&missing, "0 %s\t%s\x00", ids[i], paths[i]) // mode 0 takes it out
		}
	}
	_, err = g.feed(ctx, []byte(missing.String()), "update-index", "-z", "--index-info")
	return err
}

// write writes the queries over a snapshot.
func (c MineConfig) write(name, commit string, queries []Judged) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Made by trawl-bench mine: commits behind %s.\n", commit)
	for _, q := range queries {
		fmt.Fprintf(&b, "\nname: %s\nkind: %s\nquery: %s\n", q.Name, q.Kind, q.Text)
		for _, path := range q.Want {
			fmt.Fprintf(&b, "want: %s\n", path)
		}
		fmt.Fprintf(&b, "why: %s\n", q.Why)
	}
	return os.WriteFile(filepath.Join(c.Out, name+".txt"), b.Bytes(), 0o644)
}

// minedCommit is a commit that may give a query.
type minedCommit struct {
	id, subject string
	// changed are the sources that it changed.
	changed []string
}

// minedCommits lists the commits between two that change one or two sources and
// add, remove and rename none, the oldest first.
func minedCommits(ctx context.Context, git gitRepo, from, to string) ([]minedCommit, error) {
	out, err := git.run(ctx, "-c", "core.quotePath=false", "log", "--no-merges", "--no-renames", "--reverse", "--topo-order",
		"--format=%x01%H %s", "--name-status", from+".."+to)
	if err != nil {
		return nil, err
	}
	var commits []minedCommit
	for entry := range strings.SplitSeq(out, "\x01") {
		head, rest, _ := strings.Cut(entry, "\n")
		id, subject, ok := strings.Cut(head, " ")
		if !ok {
			continue
		}
		commit, whole := minedCommit{id: id, subject: subject}, true
		for line := range strings.Lines(rest) {
			status, path, _ := strings.Cut(strings.TrimSpace(line), "\t")
			if slices.Contains(sourceExtensions, filepath.Ext(path)) {
				whole = whole && status == "M"
				commit.changed = append(commit.changed, path)
			}
		}
		if whole && (len(commit.changed) == 1 || len(commit.changed) == 2) {
			commits = append(commits, commit)
		}
	}
	return commits, nil
}

// sourceExtensions are those of programs, in languages that people search.
var sourceExtensions = []string{".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".hh", ".go", ".java", ".kt", ".scala", ".py", ".pl", ".perl", ".rb", ".rs", ".sh",
	".js", ".jsx", ".ts", ".tsx", ".cs", ".swift", ".m", ".php"}
