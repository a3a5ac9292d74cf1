package git

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
)

// maxMailmapBytes is the size up to which a .mailmap counts. That of Linux has
// 40 KB; git sorts the entries one by one into a list, and would be busy for
// hours with a million of them.
const maxMailmapBytes = 1 << 20

// Mailmap returns the object id of a commit's .mailmap, "" if it has none or one
// that is too large to be used.
func (r *Repo) Mailmap(ctx context.Context, commit string) (string, error) {
	if err := checkRev(commit); err != nil {
		return "", err
	}
	if !r.hasMailmap(ctx, commit) {
		return "", nil
	}
	oid, err := r.git.verify(ctx, commit+":.mailmap")
	if errors.Is(err, ErrNoRevision) || exitedWith(err, 128) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("mailmap of %s in %s: %w", commit, r.dir, err)
	}
	return oid, nil
}

// MapPeople returns who people are by the .mailmap of a commit, in the same
// order.
func (r *Repo) MapPeople(ctx context.Context, commit string, people []Person) ([]Person, error) {
	if err := checkRev(commit); err != nil {
		return nil, err
	}
	out := append([]Person(nil), people...)
	var asked []int
	var contacts strings.Builder
	for i, p := range people {
		// Others cannot be asked for, and no mailmap can mean them.
		if p.Email != "" && !strings.ContainsAny(p.Name+p.Email, "<>\n\x00") {
			asked = append(asked, i)
			fmt.Fprintf(&contacts, "%s <%s>\n", p.Name, p.Email)
		}
	}
	if len(asked) == 0 || !r.hasMailmap(ctx, commit) {
		return out, nil
	}
	parse := func(in *bufio.Reader) error {
		for _, i := range asked {
			line, err := in.ReadString('\n')
			if errors.Is(err, io.EOF) {
				return errTruncated
			}
			if err != nil {
				return err
			}
			name, rest, ok := strings.Cut(line, "<")
			email, _, ok2 := strings.Cut(rest, ">")
			if !ok || !ok2 {
				return badRecord([]byte(line))
			}
			out[i] = Person{strings.TrimSuffix(name, " "), email}
		}
		return nil
	}
	prepare := func(cmd *exec.Cmd) {
		cmd.Stdin = strings.NewReader(contacts.String())
		r.git.plainPaths(cmd)
	}
	args := append(mailmapFrom(commit), "check-mailmap", "--stdin")
	if err := r.git.stream(ctx, prepare, parse, args...); err != nil {
		return nil, r.listError("map people", err)
	}
	return out, nil
}

// hasMailmap reports whether a commit has a .mailmap that can be used.
func (r *Repo) hasMailmap(ctx context.Context, commit string) bool {
	if commit == "" {
		return false
	}
	text, err := r.git.output(ctx, "cat-file", "-s", commit+":.mailmap")
	size, err2 := strconv.ParseInt(text, 10, 64)
	return err == nil && err2 == nil && size <= maxMailmapBytes
}

// mailmapFrom makes git read the .mailmap of a commit and no other.
func mailmapFrom(commit string) []string {
	blob := ""
	if commit != "" {
		blob = commit + ":.mailmap"
	}
	return []string{"-c", "mailmap.file=", "-c", "mailmap.blob=" + blob}
}
