package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/trawlsearch/trawl/bench"
)

// corpusCommand generates a corpus and says what is in it.
func corpusCommand(_ context.Context, args []string, stdout, stderr io.Writer) error {
	flags := newFlags("corpus")
	out := flags.String("out", "", "directory to write to; must be empty or not exist")
	seed := flags.Uint64("seed", 1, "equal seeds give equal corpora")
	files := flags.Int("files", 1000, "how many text files")
	if err := parse(flags, args, 0, stderr); err != nil {
		return err
	}
	if *out == "" {
		return errors.New("--out is missing: where is the corpus to go?")
	}
	if *files < 1 {
		return fmt.Errorf("--files %d: at least one is needed", *files)
	}
	facts, err := bench.Corpus{Seed: *seed, Files: *files}.Generate(*out)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "%s: %d files, %d bytes\n", *out, facts.Files, facts.Bytes)
	return err
}
