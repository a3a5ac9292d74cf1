package git

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// LineRange are lines of a file, counted from one: First to Last.
type LineRange struct{ First, Last int }

// LineChange is a commit that changed lines whose history is asked for.
type LineChange struct {
	Commit string
	// Files have the hunks of these lines, and of the change no more than its Status and
	// paths. There is one file, or none for a merge whose parents both differ; more if the
	// lines came together from files of several names. The hunks are valid until the next
	// commit.
	Files []FileDiff
}

// maxLineFiles is how many names the lines of one commit are shown of.
const maxLineFiles = 10

// LineHistory calls f with the commits that changed lines of a file, newest first, and
// follows them through renames. The file at path has so many lines at commit, or more: git
// refuses lines that it has not. Skip and Max of h choose commits, and MaxFileBytes and
// MaxCommitBytes of o bound their hunks. An error of f ends the listing and is returned as
// it is.
//
// What git writes has names as they are, so one with line breaks can be taken for lines of
// a diff of its own, and never for a commit.
func (r *Repo) LineHistory(ctx context.Context, commit, path string, lines LineRange, h HistoryOptions, o LogOptions, f func(LineChange) error) error {
	if !isObjectID(commit) {
		return fmt.Errorf("history of lines in %s: %q is not an object id", r.dir, commit)
	}
	// git log follows the configuration of the repository where no option overrides it.
	args := []string{"-c", "log.showSignature=false", "-c", "log.follow=false", "-c", "diff.suppressBlankEmpty=false", "-c", bigFile, "log",
		"--format=%x01%H%x00", "--no-color", "--no-notes", "--no-decorate", "--no-mailmap", "--no-relative", "-O" + os.DevNull, "--diff-algorithm=default",
		"-M", "-l1000", "--src-prefix=a/", "--dst-prefix=b/", "--no-ext-diff", "--no-textconv",
		"--skip=" + strconv.Itoa(h.Skip)}
	if h.Max > 0 {
		args = append(args, "--max-count="+strconv.Itoa(h.Max))
	}
	// The path is all behind the first colon, whatever it begins with.
	args = append(args, fmt.Sprintf("-L%d,%d:%s", lines.First, lines.Last, path), commit, "--")
	var last *LineChange // held back until git has ended well, as in log
	parse := func(out *bufio.Reader) error {
		p := &logParser{in: out, opts: o}
		for {
			c, err := p.lineChange()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return fmt.Errorf("history of lines in %s: %w", r.dir, err)
			}
			if _, err := out.Peek(1); err != nil {
				last = c
				continue
			}
			if err := f(*c); err != nil {
				return &callerError{err}
			}
		}
	}
	err := r.git.stream(ctx, r.git.plainPaths, parse, args...)
	var own *callerError
	switch {
	case errors.As(err, &own):
		return own.error
	case err != nil || last == nil:
		return r.listError("history of lines", err)
	}
	return f(*last)
}

// commitHead is the id of the commit that begins here, "" if none does.
func (p *logParser) commitHead() string {
	if next, _ := p.in.Peek(1); len(next) == 0 || next[0] != commitMark {
		return ""
	}
	for _, digits := range []int{40, 64} {
		next, _ := p.in.Peek(1 + digits + 1)
		if len(next) == 1+digits+1 && next[1+digits] == 0 && isObjectID(string(next[1:1+digits])) {
			return string(next[1 : 1+digits])
		}
	}
	return ""
}

// lineChange reads a commit of git log -L: a mark, the id, NUL, and its files as a patch
// without ids. Lines of a hunk begin with what says their side, and nothing else behind the
// head of a file does.
func (p *logParser) lineChange() (*LineChange, error) {
	if next, err := p.in.Peek(1); err != nil {
		return nil, io.EOF
	} else if p.commitHead() == "" {
		return nil, badRecord(next)
	}
	c := &LineChange{Commit: p.commitHead()}
	_, _ = p.in.Discard(1 + len(c.Commit) + 1) // it was seen
	p.hunks.clear()
	var file *FileDiff
	end := func() {
		if file == nil {
			return
		}
		if file.State != DiffRead {
			p.hunks.drop()
		}
		file.Hunks = p.hunks.end()
		if len(c.Files) < maxLineFiles {
			c.Files = append(c.Files, *file)
		}
		file = nil
	}
	within := false // a hunk
	for {
		if _, err := p.in.Peek(1); err != nil || p.commitHead() != "" {
			end()
			return c, nil
		}
		line, err := p.readLine()
		if err != nil {
			return nil, err
		}
		switch {
		case bytes.HasPrefix(line, sectionHead):
			end()
			file, within = &FileDiff{Change: Change{Status: 'M'}}, false
			p.hunks.begin()
		case file == nil:
		case bytes.HasPrefix(line, hunkHead):
			within = true
			p.keep(file, line)
		case within && (line[0] == ' ' || line[0] == '+' || line[0] == '-'):
			p.keep(file, line)
		case within:
		case bytes.HasPrefix(line, binaryHead):
			file.State = DiffBinary
		case bytes.HasPrefix(line, []byte("--- ")):
			file.OldPath = patchPath(line, "a/")
			if file.OldPath == "" {
				file.Status = 'A'
			}
		case bytes.HasPrefix(line, []byte("+++ ")):
			file.Path = patchPath(line, "b/")
			if file.OldPath == file.Path {
				file.OldPath = ""
			} else if file.OldPath != "" {
				file.Status = 'R'
			}
		}
	}
}

// patchPath is the path behind "--- " or "+++ " in the head of a file, "" for none.
func patchPath(line []byte, prefix string) string {
	path := strings.TrimSuffix(string(line[len("--- "):]), "\n")
	path, ok := strings.CutPrefix(unquote(strings.TrimSuffix(path, "\t")), prefix)
	if !ok {
		return ""
	}
	return path
}
