package main

import (
	"context"
	"errors"
	"os"

	"github.com/trawlsearch/trawl/bench"
)

// scratch is a temporary directory of a command.
type scratch struct {
	dir string
	// kept leaves the directory where it is, to be looked at.
	kept bool
}

// inScratch calls do with a temporary directory and removes it, unless it is to be
// kept. If no binary is named it builds trawl there first, after a call of note since that
// takes a while, and puts its path into binary.
func inScratch(ctx context.Context, binary *string, note func(string), do func(*scratch) error) (err error) {
	dir, err := os.MkdirTemp("", "trawl-bench-")
	if err != nil {
		return err
	}
	s := &scratch{dir: dir}
	defer func() {
		if !s.kept {
			err = errors.Join(err, os.RemoveAll(s.dir))
		}
	}()
	if *binary == "" {
		note("building trawl")
		if *binary, err = bench.BuildTrawl(ctx, dir); err != nil {
			return err
		}
	}
	return do(s)
}
