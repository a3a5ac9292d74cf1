package main

import (
	"context"
	"errors"
	"os"

	"github.com/trawlsearch/trawl/bench"
)

// scratch is a temporary directory of a command. The caller closes it.
type scratch struct {
	dir string
	// kept leaves the directory where it is, to be looked at.
	kept bool
}

// openScratch makes a directory, and builds trawl there if no binary is named;
// its path is then put into binary. note is called before the build, which
// takes a while.
func openScratch(ctx context.Context, binary *string, note func(string)) (*scratch, error) {
	dir, err := os.MkdirTemp("", "trawl-bench-")
	if err != nil {
		return nil, err
	}
	s := &scratch{dir: dir}
	if *binary == "" {
		note("building trawl")
		*binary, err = bench.BuildTrawl(ctx, dir)
	}
	if err != nil {
		s.close(&err)
		return nil, err
	}
	return s, nil
}

// close removes the directory unless it is kept, and joins what goes wrong to
// err.
func (s *scratch) close(err *error) {
	if !s.kept {
		*err = errors.Join(*err, os.RemoveAll(s.dir))
	}
}
