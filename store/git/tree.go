package git

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
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
	// Size is the size of a blob in bytes, if it was asked for; -1 if git does
	// not know it.
	Size int64
}

// ListTree calls f for every file of a commit's whole tree, in git's order:
// byte order of paths. A symbolic link is a blob whose content is its target;
// a submodule is an entry of kind commit and is not descended into. An error
// of f's ends the listing and is returned as it is. commit may be a tree's id
// too.
func (r *Repo) ListTree(ctx context.Context, commit string, f func(TreeEntry) error) error {
	return r.listTree(ctx, commit, f)
}

// ListTreeSizes is ListTree with sizes, for which git looks at each object: some
// 5 microseconds each.
func (r *Repo) ListTreeSizes(ctx context.Context, commit string, f func(TreeEntry) error) error {
	return r.listTree(ctx, commit, f, "--long")
}

func (r *Repo) listTree(ctx context.Context, commit string, f func(TreeEntry) error, options ...string) error {
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
	err := r.git.stream(ctx, nil, parse, slices.Concat([]string{"ls-tree", "-r", "-z", "--full-tree"}, options, []string{commit})...)
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

// parseTreeEntry reads "100644 blob <oid>\t<path>", with a size in front of the tab
// if there is one.
func parseTreeEntry(record []byte) (TreeEntry, error) {
	head, path, ok := bytes.Cut(record, []byte("\t"))
	if !ok {
		return TreeEntry{}, badRecord(record)
	}
	modeText, rest, ok1 := bytes.Cut(head, []byte(" "))
	kind, rest, ok2 := bytes.Cut(rest, []byte(" "))
	oid, sizeText, sized := bytes.Cut(rest, []byte(" "))
	size := int64(0)
	if sized {
		size = parseSize(string(bytes.TrimSpace(sizeText)))
	}
	mode, err := strconv.ParseUint(string(modeText), 8, 32)
	if !ok1 || !ok2 || err != nil || len(path) == 0 || !isObjectID(string(oid)) {
		return TreeEntry{}, badRecord(record)
	}
	return TreeEntry{Mode: uint32(mode), Kind: kindName(kind), OID: string(oid), Path: string(path), Size: size}, nil
}

func parseSize(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return -1
	}
	return n
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
