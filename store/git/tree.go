package git

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// File modes as git records them.
const (
	ModeFile       uint32 = 0o100644
	ModeExecutable uint32 = 0o100755
	ModeSymlink    uint32 = 0o120000
	ModeSubmodule  uint32 = 0o160000
)

// TreeEntry is one file of a commit's tree.
type TreeEntry struct {
	Mode uint32
	Kind string // "blob", or "commit" for a submodule
	OID  string
	Path string // bytes as git stores them, "/" between elements
}

// ListTree calls f for every file of a commit's whole tree, in git's order:
// byte order of paths. A symbolic link is a blob whose content is its target;
// a submodule is an entry of kind commit and is not descended into. An error
// of f's ends the listing and is returned as it is. commit may be a tree's id
// too.
func (r *Repo) ListTree(ctx context.Context, commit string, f func(TreeEntry) error) error {
	if err := checkRev(commit); err != nil {
		return err
	}
	parse := func(out *bufio.Reader) error {
		for {
			record, err := field(out)
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return fmt.Errorf("list tree %s of %s: %w", commit, r.dir, err)
			}
			entry, err := parseTreeEntry(record)
			if err != nil {
				return fmt.Errorf("list tree %s of %s: %w", commit, r.dir, err)
			}
			if err := f(entry); err != nil {
				return err
			}
		}
	}
	err := r.budget.stream(ctx, "ls-tree", parse, r.args("ls-tree", "-r", "-z", "--full-tree", commit)...)
	return r.listError("list tree "+commit, err)
}

// listError says what was being done, unless the error is the callback's own.
func (r *Repo) listError(doing string, err error) error {
	var failed *CommandError
	if errors.As(err, &failed) {
		return fmt.Errorf("%s of %s: %w", doing, r.dir, err)
	}
	return err
}

// parseTreeEntry reads "100644 blob <oid>\t<path>".
func parseTreeEntry(record []byte) (TreeEntry, error) {
	head, path, ok := bytes.Cut(record, []byte("\t"))
	if !ok {
		return TreeEntry{}, badRecord(record)
	}
	modeText, rest, ok1 := bytes.Cut(head, []byte(" "))
	kind, oid, ok2 := bytes.Cut(rest, []byte(" "))
	mode, err := strconv.ParseUint(string(modeText), 8, 32)
	if !ok1 || !ok2 || err != nil || len(path) == 0 || !isObjectID(string(oid)) {
		return TreeEntry{}, badRecord(record)
	}
	return TreeEntry{Mode: uint32(mode), Kind: kindName(kind), OID: string(oid), Path: string(path)}, nil
}

// kindName shares one string between the thousands of entries of a kind.
func kindName(kind []byte) string {
	switch string(kind) {
	case "blob":
		return "blob"
	case "commit":
		return "commit"
	}
	return string(kind)
}

func badRecord(record []byte) error {
	return fmt.Errorf("git answered %q", record[:min(len(record), maxMessageBytes)])
}
