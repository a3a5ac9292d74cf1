package git

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Ref is a name of an object.
type Ref struct {
	// Name is whole, such as refs/heads/main.
	Name string
	// OID and Kind are those of the object it names.
	OID, Kind string
	// Commit is what it leads to in the end, "" if that is no commit.
	Commit string
	// Seconds are the date of the commit or of the tag.
	Seconds int64
}

const refFormat = "--format=%(refname)%00%(objectname)%00%(objecttype)%00%(*objectname)%00%(*objecttype)%00%(creatordate:unix)%00"

// EachRef calls f for every ref whose name begins with one of the prefixes, which
// end with a slash, in byte order of names; with newest the newest come first.
// An error of f's ends the listing and is returned as it is.
func (r *Repo) EachRef(ctx context.Context, newest bool, prefixes []string, f func(Ref) error) error {
	var args []string
	if newest {
		args = append(args, "--sort=refname", "--sort=-creatordate")
	}
	for _, p := range prefixes {
		if !strings.HasPrefix(p, "refs/") || !strings.HasSuffix(p, "/") {
			return fmt.Errorf("list refs of %s: %q is no beginning of refs", r.dir, p)
		}
	}
	return r.eachRef(ctx, append(append(args, "--"), prefixes...), f)
}

// RefsAt returns the branches and tags that lead to a commit, by its full hex id, in byte
// order of names: most of them, and whether there are more.
func (r *Repo) RefsAt(ctx context.Context, commit string, most int) (refs []Ref, more bool, err error) {
	if !isObjectID(commit) {
		return nil, false, fmt.Errorf("list refs of %s: %q is no object", r.dir, commit)
	}
	err = r.eachRef(ctx, []string{"--points-at=" + commit, "--", "refs/heads/", "refs/tags/"}, func(ref Ref) error {
		if len(refs) == most {
			return errEnough
		}
		refs = append(refs, ref)
		return nil
	})
	if errors.Is(err, errEnough) {
		return refs, true, nil
	}
	return refs, false, err
}

func (r *Repo) eachRef(ctx context.Context, args []string, f func(Ref) error) error {
	parse := func(out *bufio.Reader) error {
		for {
			ref, err := readRef(out)
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return fmt.Errorf("list refs of %s: %w", r.dir, err)
			}
			if err := f(ref); err != nil {
				return err
			}
		}
	}
	err := r.git.stream(ctx, nil, parse, append([]string{"for-each-ref", refFormat}, args...)...)
	return r.listError("list refs", err)
}

// readRef reads the fields of refFormat and the newline behind them.
func readRef(out *bufio.Reader) (Ref, error) {
	var f [6]string
	for i := range f {
		b, err := field(out)
		if err != nil {
			if i > 0 && errors.Is(err, io.EOF) {
				err = errTruncated
			}
			return Ref{}, err
		}
		f[i] = string(b)
	}
	if next, err := out.Peek(1); err == nil && next[0] == '\n' {
		_, _ = out.Discard(1) // it was seen
	}
	ref := Ref{Name: f[0], OID: f[1], Kind: f[2], Seconds: parseSeconds(f[5])}
	if !isObjectID(ref.OID) {
		return Ref{}, badRecord([]byte(f[0] + " " + f[1]))
	}
	switch "commit" {
	case f[2]:
		ref.Commit = f[1]
	case f[4]:
		ref.Commit = f[3]
	}
	return ref, nil
}

// EachRefName calls f with the full name of every ref whose name begins with
// prefix, which ends with a slash, in byte order. No object is read: this is the
// way through a hundred thousand refs. An error of f's ends the listing and is
// returned as it is.
func (r *Repo) EachRefName(ctx context.Context, prefix string, f func(name string) error) error {
	if !strings.HasPrefix(prefix, "refs/") || !strings.HasSuffix(prefix, "/") {
		return fmt.Errorf("list refs of %s: %q is no beginning of refs", r.dir, prefix)
	}
	parse := func(out *bufio.Reader) error {
		for {
			line, err := out.ReadSlice('\n')
			if errors.Is(err, io.EOF) && len(line) == 0 {
				return nil
			}
			if err != nil {
				return fmt.Errorf("list refs of %s: %w", r.dir, badRecord(line))
			}
			if err := f(strings.TrimSuffix(string(line), "\n")); err != nil {
				return err
			}
		}
	}
	err := r.git.stream(ctx, nil, parse, "for-each-ref", "--format=%(refname)", "--", prefix)
	return r.listError("list refs", err)
}
