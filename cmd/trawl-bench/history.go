package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/trawlsearch/trawl/bench"
)

// historyWords are selective in the repositories that they were tried on, those
// of git and etcd.
const historyWords = "oidtree,bisect_next_all,raftexample,fsck_msg_id,nothinglikethis"

func historyCommand(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	c := bench.HistoryConfig{Note: func(s string) { fmt.Fprintf(stderr, "trawl-bench: %s\n", s) }}
	words := ""
	flags := newFlags("history")
	flags.StringVar(&c.Trawl, "trawl", "", "binary to judge (default: built from the source in this folder)")
	flags.StringVar(&c.Repo, "repo", "", "git repository to search; only read")
	flags.StringVar(&c.Work, "data", "", "directory to keep the data in (default: temporary)")
	flags.BoolVar(&c.Reuse, "reuse", false, "use what an earlier call left in the data directory instead of indexing")
	flags.StringVar(&c.Diffs, "history-diffs", "all", "trawl's setting of that name")
	flags.StringVar(&words, "words", historyWords, "words to look for in messages and diffs, with commas between")
	flags.IntVar(&c.Runs, "runs", 11, "how often trawl is asked when warm")
	flags.IntVar(&c.GitRuns, "git-runs", 3, "how often git log is")
	if err := parse(flags, args, 0, stderr); err != nil {
		return err
	}
	switch {
	case c.Repo == "":
		return errors.New("--repo is missing: which repository is to be searched?")
	case c.Reuse && c.Work == "":
		return errors.New("--reuse needs --data, the directory of the earlier call")
	case c.Runs < 1 || c.GitRuns < 1:
		return errors.New("--runs and --git-runs: at least one run")
	}
	c.Words = strings.Split(words, ",")
	return inScratch(ctx, &c.Trawl, c.Note, func(s *scratch) error {
		c.Work = cmp.Or(c.Work, s.dir)
		report, err := bench.RunHistory(ctx, c)
		if err != nil {
			return err
		}
		return judge(!report.OK(), report.Write(stdout))
	})
}
