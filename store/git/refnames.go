package git

import (
	"context"
	"errors"
	"io/fs"
)

// EachPlainRefName calls f with the full names of the refs below prefix, such as "refs/tags/",
// of the repository in dir, without a process. It may call f twice with a name. It ends when f
// returns false or ctx is done.
//
// It checks as little as ReadHeads, and its names are good to be proposed and for nothing else.
// complete is false when only git can tell, as there, or when ctx was done before all names were
// read.
func EachPlainRefName(ctx context.Context, dir, prefix string, f func(name string) bool) (complete bool) {
	files, err := plainRefFiles(dir)
	if err != nil {
		return false
	}
	err = files.eachName(prefix, func(name string) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !f(name) {
			return errEnough
		}
		return nil
	})
	return err == nil || errors.Is(err, errEnough)
}

// eachName calls f with the names of the refs below prefix, which ends with a slash, until it
// returns an error.
func (r refFiles) eachName(prefix string, f func(name string) error) error {
	err := r.eachLoose(prefix, func(ref string, d fs.DirEntry) error {
		if !d.Type().IsRegular() {
			return errUnplain
		}
		return f(ref)
	})
	if err != nil {
		return err
	}
	return r.eachPacked(below(prefix), func(name, _ string) error { return f(name) })
}
