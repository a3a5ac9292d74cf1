package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/trawlsearch/trawl/store/git"
	"github.com/trawlsearch/trawl/store/ingest"
)

// parseSources reads the sources of a command line.
func parseSources(args []string) ([]ingest.Source, error) {
	out := make([]ingest.Source, len(args))
	for i, arg := range args {
		var err error
		if out[i], err = ingest.ParseSource(arg); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// typed writes a source so that it reads the same in any directory.
func typed(s ingest.Source) string { return s.Name + "=" + s.Location }

// currentRepository finds the git repository that the current directory is
// in; ok is false if it is in none.
func currentRepository(ctx context.Context) (src ingest.Source, ok bool) {
	dir, err := os.Getwd()
	for err == nil {
		if looksLikeRepository(dir) {
			if _, err := git.Open(ctx, dir); err == nil {
				src, err := ingest.ParseSource(dir)
				return src, err == nil
			}
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			break
		}
		dir = parent
	}
	return ingest.Source{}, false
}

// looksLikeRepository saves asking git about every folder above.
func looksLikeRepository(dir string) bool {
	for _, name := range []string{".git", "HEAD"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}
