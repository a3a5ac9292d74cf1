package git

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// Person is who wrote or committed something.
type Person struct{ Name, Email string }

// Signature is a person in a commit, and when. Mapped is the person as the
// .mailmap of the commit that the log was asked for has it.
type Signature struct {
	Person
	Mapped Person
	// Seconds count from 1970 and lie in the years 1 to 9999: what a commit
	// says beyond that is 0.
	Seconds int64
	// ZoneMinutes are east of Greenwich, less than a day.
	ZoneMinutes int
}

// Commit is one commit of a log.
type Commit struct {
	OID               string
	Parents           []string
	Author, Committer Signature
	// Message is UTF-8 without white space around it, of MaxMessageBytes at
	// most.
	Message string
	// Files are the paths that differ from the parent, or from nothing for a
	// commit without one; empty for a merge.
	Files []FileDiff
	// MoreFiles counts those beyond LogOptions.MaxFiles.
	MoreFiles int
}

// Merge reports whether the commit has several parents.
func (c *Commit) Merge() bool { return len(c.Parents) > 1 }

// DiffState says which part of a file's diff is there.
type DiffState byte

// The states of a diff.
const (
	// DiffRead: Hunks are all of it, which may be nothing: a rename or a new
	// mode changes no line.
	DiffRead DiffState = iota
	DiffBinary
	DiffTooLarge
	// DiffUnread: it was not asked for.
	DiffUnread
)

// FileDiff is the change of one file in a commit. OldPath is the former path of
// a renamed file, status R, and else empty.
type FileDiff struct {
	Change
	OldPath string
	State   DiffState
	// Hunks are lines as git diff writes them, with one line of context: "@@"
	// lines and behind each the lines that it counts. What says that a file has
	// no newline at its end is left out. Valid until the next commit.
	Hunks []byte
}

// LogDepth is how much of a commit is read.
type LogDepth byte

// The depths: which paths changed, the diffs too, or neither.
const (
	LogPaths LogDepth = iota
	LogHunks
	LogMessages
)

// What of one commit is looked at in searches, for LogOptions. 4 MiB is a diff of
// a hundred thousand lines, which are generated or moved; and all of a commit
// has to fit one shard, with one block at least for each file.
const (
	MaxDiffBytes   = 4 << 20
	MaxCommitBytes = 32 << 20
	MaxCommitFiles = 16 << 10
)

// LogOptions say how much of each commit is read.
type LogOptions struct {
	Depth LogDepth
	// A diff of more than MaxFileBytes is dropped, and so is each that does not
	// fit the MaxCommitBytes of its commit; of a commit with more than MaxFiles
	// files the first are kept. 0 is no limit.
	MaxFileBytes, MaxCommitBytes, MaxFiles int
	// IgnoreSpace has Compare take lines as the same that differ in white space only. A
	// file that differs in nothing else has no hunks.
	IgnoreSpace bool
	// Mailmap is the commit whose .mailmap applies, unless that is too large;
	// empty is none.
	Mailmap string
}

// logFormat begins a commit with a byte that git writes nowhere between
// commits, and ends each field by NUL, which none can hold.
const logFormat = "--format=%x01%H%x00%P%x00%an%x00%ae%x00%aN%x00%aE%x00%ad%x00%cn%x00%ce%x00%cN%x00%cE%x00%cd%x00%B"

// Log calls f for each of the commits, in the order given, with what it
// changed. The commit belongs to f, all but its hunks. An error of f's ends the
// log and is returned as it is; a commit that is not there ends it with
// ErrMissing. git diff-tree does it, which unlike git log does not follow the
// configuration of the repository, and no .gitattributes count: a diff means the
// same wherever it is read.
func (r *Repo) Log(ctx context.Context, commits []string, o LogOptions, f func(*Commit) error) error {
	for _, c := range commits {
		if !isObjectID(c) {
			return fmt.Errorf("log of %s: %q is not an object id", r.dir, c)
		}
	}
	if len(commits) == 0 {
		return nil
	}
	o.Mailmap = r.Mailmap(o.Mailmap).ifUsable(ctx)
	if o.Depth == LogMessages {
		// Unlike git diff-tree it reads no tree at all.
		args := append(mailmapFrom(o.Mailmap), "rev-list", "--stdin", "--no-walk=unsorted", "--encoding=UTF-8", "--date=raw", logFormat+"%x00")
		return r.log(ctx, args, commits, o, f)
	}
	return r.log(ctx, o.args("diff-tree", "--stdin", "-r", "--always"), commits, o, f)
}

// LogFrom is Log of the newest commits that can be reached from a commit, at most
// so many, in git log's order and not with LogMessages. It is one process where
// RevList and Log are two. What the configuration of the repository says about git
// log, and not about git diff-tree, is overridden.
func (r *Repo) LogFrom(ctx context.Context, commit string, most int, o LogOptions, f func(*Commit) error) error {
	if !isObjectID(commit) {
		return fmt.Errorf("log of %s: %q is not an object id", r.dir, commit)
	}
	o.Mailmap = r.Mailmap(o.Mailmap).ifUsable(ctx)
	args := append(o.args("-c", "log.showSignature=false", "log", "--no-diff-merges", "--no-notes", "--no-decorate", "--no-mailmap",
		"--no-relative", "-O"+os.DevNull, "--diff-algorithm=default"),
		fmt.Sprintf("--max-count=%d", most), commit, "--")
	return r.log(ctx, args, nil, o, f)
}

// log calls f for the commits that git writes: those named if there are any, else
// all.
func (r *Repo) log(ctx context.Context, args, named []string, o LogOptions, f func(*Commit) error) error {
	// A commit is known to be whole when something stands behind it. The last is
	// held back until git has ended well: of a commit whose diff git died of, the
	// output looks like that of one that changed no line.
	var last *Commit
	parse := func(out *bufio.Reader) error {
		p := &logParser{in: out, opts: o}
		for i := 0; named == nil || i < len(named); i++ {
			c, err := p.commit()
			switch {
			case errors.Is(err, io.EOF) && named == nil:
				return nil
			case errors.Is(err, io.EOF):
				return errTruncated
			case err != nil:
				return fmt.Errorf("log of %s: %w", r.dir, err)
			case named != nil && c.OID != named[i]: // git passes over a commit that it cannot read
				return fmt.Errorf("log of %s: %w: %s", r.dir, ErrMissing, named[i])
			}
			if _, err := out.Peek(1); err != nil {
				last = c
				continue
			}
			if err := f(c); err != nil {
				return err
			}
		}
		return nil
	}
	prepare := func(cmd *exec.Cmd) {
		if named != nil {
			cmd.Stdin = strings.NewReader(strings.Join(named, "\n") + "\n")
		}
		r.git.plainPaths(cmd)
	}
	if err := r.git.stream(ctx, prepare, parse, args...); err != nil || last == nil {
		return r.listError("log", err)
	}
	return f(last)
}

// noGrafts keeps a commit's parents what the commit says.
const noGrafts = "GIT_GRAFT_FILE=" + os.DevNull

// bigFile is what git itself takes for binary without reading it whole.
const bigFile = "core.bigFileThreshold=64m"

// args are those of a command that prints commits with their diffs.
func (o LogOptions) args(command ...string) []string {
	args := slices.Concat(mailmapFrom(o.Mailmap), []string{"-c", "diff.suppressBlankEmpty=false", "-c", bigFile}, command, []string{
		"-z", "--root", "--encoding=UTF-8", "--date=raw", logFormat, "--raw", "--no-abbrev", "-M", "-l1000", "--ignore-submodules=none"})
	if o.Depth == LogHunks {
		args = append(args, "-p", "-U1", "--inter-hunk-context=0", "--src-prefix=a/", "--dst-prefix=b/",
			"--no-ext-diff", "--no-textconv", "--no-color", "--submodule=short")
	}
	return args
}

// Listed is a commit of RevList.
type Listed struct {
	OID string
	// Seconds are its committer's date.
	Seconds int64
	Parents []string
}

// RevList calls f for the commits that can be reached from one of from and
// none of not, in git log's order: newest first. An error of f's ends the
// listing and is returned as it is.
func (r *Repo) RevList(ctx context.Context, from, not []string, f func(Listed) error) error {
	args := []string{"rev-list", "--timestamp", "--parents"}
	for _, rev := range from {
		if err := checkRev(rev); err != nil {
			return err
		}
		args = append(args, rev)
	}
	for _, rev := range not {
		if err := checkRev(rev); err != nil {
			return err
		}
		args = append(args, "^"+rev)
	}
	parse := func(out *bufio.Reader) error {
		for {
			line, err := out.ReadString('\n')
			if errors.Is(err, io.EOF) && line == "" {
				return nil
			}
			if err != nil {
				return errTruncated
			}
			// The date, the commit and its parents.
			fields := strings.Fields(line)
			if len(fields) < 2 || slices.ContainsFunc(fields[1:], func(s string) bool { return !isObjectID(s) }) {
				return badRecord([]byte(line))
			}
			if err := f(Listed{fields[1], parseSeconds(fields[0]), fields[2:]}); err != nil {
				return err
			}
		}
	}
	prepare := func(cmd *exec.Cmd) { cmd.Env = append(cmd.Env, noGrafts) }
	err := r.git.stream(ctx, prepare, parse, append(args, "--")...)
	return r.listError("list commits", err)
}

// IsAncestor reports whether older can be reached from newer. Commits that are
// not there are no ancestors.
func (r *Repo) IsAncestor(ctx context.Context, older, newer string) (bool, error) {
	for _, rev := range []string{older, newer} {
		if err := checkRev(rev); err != nil {
			return false, err
		}
	}
	_, err := r.git.output(ctx, "merge-base", "--is-ancestor", older, newer)
	if exitedWith(err, 1) || exitedWith(err, 128) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("compare commits of %s: %w", r.dir, err)
	}
	return true, nil
}
