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

// Mailmap is the .mailmap of a commit, which gives people the names and addresses that
// they are to be known by.
type Mailmap struct {
	repo   *Repo
	commit string
}

// Mailmap returns the .mailmap of a commit. That of no commit, "", names nobody.
func (r *Repo) Mailmap(commit string) Mailmap { return Mailmap{r, commit} }

// OID returns the object id, "" if the commit has none or one that is too large to be
// used.
func (m Mailmap) OID(ctx context.Context) (string, error) {
	if err := checkRev(m.commit); err != nil {
		return "", err
	}
	if !m.usable(ctx) {
		return "", nil
	}
	oid, err := m.repo.git.verify(ctx, m.commit+":.mailmap")
	if errors.Is(err, ErrNoRevision) || exitedWith(err, 128) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("mailmap of %s in %s: %w", m.commit, m.repo.dir, err)
	}
	return oid, nil
}

// Map returns who people are, in the same order.
func (m Mailmap) Map(ctx context.Context, people []Person) ([]Person, error) {
	if err := checkRev(m.commit); err != nil {
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
	if len(asked) == 0 || !m.usable(ctx) {
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
		m.repo.git.plainPaths(cmd)
	}
	args := append(mailmapFrom(m.commit), "check-mailmap", "--stdin")
	if err := m.repo.git.stream(ctx, prepare, parse, args...); err != nil {
		return nil, m.repo.listError("map people", err)
	}
	return out, nil
}

// usable reports whether there is one that can be used.
func (m Mailmap) usable(ctx context.Context) bool {
	if m.commit == "" {
		return false
	}
	text, err := m.repo.git.output(ctx, "cat-file", "-s", m.commit+":.mailmap")
	size, err2 := strconv.ParseInt(text, 10, 64)
	return err == nil && err2 == nil && size <= maxMailmapBytes
}

// ifUsable returns the commit, "" if there is none that can be used.
func (m Mailmap) ifUsable(ctx context.Context) string {
	if !m.usable(ctx) {
		return ""
	}
	return m.commit
}

// mailmapFrom makes git read the .mailmap of a commit and no other.
func mailmapFrom(commit string) []string {
	blob := ""
	if commit != "" {
		blob = commit + ":.mailmap"
	}
	return []string{"-c", "mailmap.file=", "-c", "mailmap.blob=" + blob}
}
