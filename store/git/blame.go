package git

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// BlameHunk is a run of lines that one commit wrote.
type BlameHunk struct {
	// StartLine counts from one.
	StartLine, Lines int
	Commit           string
	Author           Signature
	// Subject is the first line of the commit's message.
	Subject string
	// Path is the file's path in that commit, and OldLine the number that the first
	// line has there.
	Path    string
	OldLine int
	// Parent is the commit before, in which the file has ParentPath; "" where the
	// commit brought the file.
	Parent, ParentPath string
}

// Blame returns the hunks of a file from line first to line last, counted from
// one, with the commit of each. ignoreSpace lets changes of white space alone
// not count. hold, which may be nil, is called before each hunk is kept, of
// which a hostile file has millions; an error of it ends the listing and is
// returned as it is.
func (r *Repo) Blame(ctx context.Context, commit, path string, first, last int, ignoreSpace bool, hold func(BlameHunk) error) ([]BlameHunk, error) {
	if err := checkRev(commit); err != nil {
		return nil, err
	}
	// The files that blame.ignoreRevsFile names would be read, and errors show their
	// lines; an empty value does not take them away.
	args := []string{"-c", bigFile, "blame", "--no-ignore-revs-file", "--line-porcelain", "--no-progress", "--no-textconv", "-L", fmt.Sprintf("%d,%d", first, last)}
	if ignoreSpace {
		args = append(args, "-w")
	}
	var out []BlameHunk
	parse := func(in *bufio.Reader) error {
		for {
			h, err := readBlame(in)
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return fmt.Errorf("blame %s of %s: %w", path, r.dir, err)
			}
			if n := len(out); n > 0 && out[n-1].Commit == h.Commit && out[n-1].Path == h.Path {
				out[n-1].Lines++
				continue
			}
			if hold != nil {
				if err := hold(h); err != nil {
					return &callerError{err}
				}
			}
			out = append(out, h)
		}
	}
	err := r.git.stream(ctx, r.git.plainPaths, parse, append(args, commit, "--", path)...)
	var own *callerError
	if errors.As(err, &own) {
		return nil, own.error
	}
	return out, r.listError("blame "+path, err)
}

// maxBlameLine bounds a line of the answer: beyond it is text of the file,
// which is not kept.
const maxBlameLine = 16 << 10

// readBlame reads what git says of one line: "id old new", members, and the
// line itself behind a tab.
func readBlame(in *bufio.Reader) (BlameHunk, error) {
	line, err := shortLine(in)
	if err != nil {
		return BlameHunk{}, err
	}
	f := strings.Fields(line)
	if len(f) < 3 || !isObjectID(f[0]) {
		return BlameHunk{}, badRecord([]byte(line))
	}
	h := BlameHunk{Commit: f[0], Lines: 1}
	if h.StartLine, err = strconv.Atoi(f[2]); err != nil {
		return BlameHunk{}, badRecord([]byte(line))
	}
	if h.OldLine, err = strconv.Atoi(f[1]); err != nil {
		return BlameHunk{}, badRecord([]byte(line))
	}
	zone := ""
	for {
		line, err := shortLine(in)
		if err != nil {
			return BlameHunk{}, truncated(err)
		}
		if strings.HasPrefix(line, "\t") {
			h.Author.Mapped, h.Author.ZoneMinutes = h.Author.Person, parseZone(zone)
			return h, nil
		}
		key, value, _ := strings.Cut(line, " ")
		switch key {
		case "author":
			h.Author.Name = readable(value)
		case "author-mail":
			h.Author.Email = readable(strings.Trim(value, "<>"))
		case "author-time":
			h.Author.Seconds = parseSeconds(value)
		case "author-tz":
			zone = value
		case "summary":
			h.Subject = readable(value)
		case "filename":
			h.Path = unquote(value)
		case "previous":
			if commit, path, ok := strings.Cut(value, " "); ok && isObjectID(commit) {
				h.Parent, h.ParentPath = commit, unquote(path)
			}
		}
	}
}

// unquote reads a path that git put in quotes because of odd bytes in it.
func unquote(path string) string {
	if !strings.HasPrefix(path, `"`) {
		return path
	}
	plain, err := strconv.Unquote(path)
	if err != nil {
		return path
	}
	return plain
}

// shortLine reads a line without its newline, cut to maxBlameLine.
func shortLine(in *bufio.Reader) (string, error) {
	var kept []byte
	for {
		piece, err := in.ReadSlice('\n')
		kept = append(kept, piece[:min(len(piece), maxBlameLine-len(kept))]...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && len(kept) == 0:
			return "", err
		case err != nil && !errors.Is(err, io.EOF):
			return "", err
		}
		return strings.TrimSuffix(string(kept), "\n"), nil
	}
}
