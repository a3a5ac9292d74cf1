package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
)

// Unmoved reports whether the mirror in dir has what its remote has: the same
// refs, and a HEAD that names the same branch. It takes one process, git
// ls-remote, and false when the mirror has to be fetched to know more. proxy is
// as for Mirror.
func (b *Budget) Unmoved(ctx context.Context, proxy, rawURL, dir string) (bool, error) {
	from, err := parseRemote(proxy, rawURL)
	if err != nil {
		return false, err
	}
	c := newRefComparison(dir)
	if c == nil {
		return false, nil
	}
	if err := b.eachAdvertised(ctx, from, dir, c.line); err != nil {
		return false, fmt.Errorf("fetch %s: %w", from, err)
	}
	return c.same(), nil
}

// refComparison compares the refs of a mirror with those that git ls-remote
// lists. It keeps those of the mirror, however many the remote has.
type refComparison struct {
	ref, commit string // of the mirror's HEAD
	// left are the refs of the mirror that the remote has not named yet.
	left map[string]string
	// heads are the lines about HEAD.
	heads []string
	moved bool
}

// newRefComparison returns nil if there is no mirror in dir yet, or only git can
// read it.
func newRefComparison(dir string) *refComparison {
	files, err := plainGitDir(dir)
	if err != nil {
		return nil
	}
	c := &refComparison{}
	if c.ref, c.commit, err = files.head(); err != nil {
		return nil
	}
	if c.left, err = files.all("refs/"); err != nil {
		return nil
	}
	return c
}

// line takes "<id>\trefs/heads/main", "<id>\trefs/tags/v1^{}", which is what a tag
// leads to, "<id>\tHEAD" and "ref: refs/heads/main\tHEAD".
func (c *refComparison) line(line string) {
	id, name, _ := strings.Cut(line, "\t")
	switch {
	case name == "HEAD":
		c.heads = append(c.heads, line)
	case strings.HasSuffix(name, "^{}") || strings.HasPrefix(id, "ref: "):
	case c.left[name] != id:
		c.moved = true
	default:
		delete(c.left, name)
	}
}

// same reports whether a fetch would change nothing. A remote that is empty
// names no HEAD, and a fetch leaves that of the mirror alone.
func (c *refComparison) same() bool {
	ref, commit := parseHead(strings.Join(c.heads, "\n"))
	sameHead := ref == "" && commit == "" || ref != "" && ref == c.ref || ref == "" && c.ref == "" && commit == c.commit
	return sameHead && !c.moved && len(c.left) == 0
}

// eachAdvertised calls f for each line of git ls-remote.
func (b *Budget) eachAdvertised(ctx context.Context, from remote, dir string, f func(line string)) error {
	ctx, cancel := within(ctx, silentWithin)
	defer cancel()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	args := append([]string{"ls-remote", "--symref"}, from.uploadPack()...)
	cmd := remoteCommand(ctx, from, append(args, "--", from.url)...)
	tail := &stderrTail{address: from.address}
	cmd.Stderr = tail
	out := &advertised{each: f}
	cmd.Stdout = out
	if err := b.watched(ctx, end, cmd, "ls-remote", watching(from, dir, tail)); err != nil {
		return err
	}
	if len(out.part) > 0 {
		return &CommandError{Command: "ls-remote", Err: errTruncated}
	}
	return nil
}

// advertised cuts the output of git ls-remote into lines.
type advertised struct {
	each func(line string)
	part []byte
}

// Write implements io.Writer.
func (a *advertised) Write(p []byte) (int, error) {
	for rest := p; ; {
		line, after, whole := bytes.Cut(rest, []byte("\n"))
		a.part = append(a.part, line...)
		if len(a.part) > mostRefBytes {
			return 0, errors.New("a ref has a name of more than 4 KiB")
		}
		if !whole {
			return len(p), nil
		}
		a.each(string(a.part))
		a.part, rest = a.part[:0], after
	}
}
