package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/trawlsearch/trawl/bench"
)

// agentsCommand has agents answer questions about repositories.
func agentsCommand(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	c := bench.AgentsConfig{Note: func(s string) { fmt.Fprintf(stderr, "trawl-bench: %s\n", s) }}
	var file, json string
	flags := newFlags("agents")
	flags.StringVar(&c.Trawl, "trawl", "", "binary to ask (default: built from the source in this folder)")
	flags.StringVar(&c.Repositories, "repositories", "", "directory with the git directories git, etcd and redis; only read")
	flags.StringVar(&file, "questions", "", "file with a set of questions (default: the set that comes with the program)")
	flags.IntVar(&c.Calls, "calls", 20, "how many calls an agent makes for a question at most")
	flags.StringVar(&c.Work, "work", "", "empty directory for clones, files and the index; kept (default: temporary)")
	flags.StringVar(&json, "json", "", "file to write the report to as JSON")
	if err := parse(flags, args, 0, stderr); err != nil {
		return err
	}
	switch {
	case c.Repositories == "":
		return errors.New("--repositories is missing: where are git, etcd and redis?")
	case c.Calls < 1:
		return fmt.Errorf("--calls %d: at least one", c.Calls)
	}
	if c.Set, err = readQuestions(file); err != nil {
		return err
	}
	return inScratch(ctx, &c.Trawl, c.Note, func(s *scratch) error {
		c.Work = cmp.Or(c.Work, filepath.Join(s.dir, "agents"))
		report, err := bench.Agents(ctx, c)
		if err != nil {
			return err
		}
		report.Command = commandLine("agents", args)
		return errors.Join(report.Write(stdout), writeFile(json, report.WriteJSON))
	})
}

func readQuestions(file string) (bench.QuestionSet, error) {
	if file == "" {
		return bench.ShippedQuestions()
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return bench.QuestionSet{}, err
	}
	set, err := bench.ParseQuestions(string(text))
	if err != nil {
		err = fmt.Errorf("%s: %w", file, err)
	}
	return set, err
}
