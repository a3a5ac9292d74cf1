package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// MinedConfig says what to ask of a set that Mine made.
type MinedConfig struct {
	// Trawl is the binary under test, and Dir the set; both are required.
	Trawl, Dir string
	// Zoekt says that zoekt is asked too.
	Zoekt bool
	// Work is a directory that is kept; Reuse takes what an earlier call left
	// there instead of indexing.
	Work  string
	Reuse bool
	// Suffix is appended to the queries for trawl, such as a limit.
	Suffix   string
	Progress func(message string)
}

// minedSnapshot is one of a set.
type minedSnapshot struct {
	name, repository string
	queries          []Judged
}

// RankMined indexes the snapshots of a set, definitions included, and finds the
// wanted files in the answers of trawl and its peer.
func RankMined(ctx context.Context, c MinedConfig) (_ *MinedReport, err error) {
	if c.Trawl == "" || c.Dir == "" || c.Work == "" {
		return nil, errors.New("bench: a trawl binary, a mined set and a directory to work in are needed")
	}
	if c.Progress == nil {
		c.Progress = func(string) {}
	}
	set, err := readMined(c.Dir)
	if err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	report := &MinedReport{}
	if err := c.askTrawl(ctx, set, report); err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	if c.Zoekt {
		if err := c.askZoekt(ctx, set, report); err != nil {
			return nil, fmt.Errorf("bench: %w", err)
		}
	}
	return report, nil
}

func readMined(dir string) ([]minedSnapshot, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil || len(files) == 0 {
		return nil, errors.Join(fmt.Errorf("no mined set in %q", dir), err)
	}
	var set []minedSnapshot
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		s := minedSnapshot{name: strings.TrimSuffix(filepath.Base(file), ".txt"), repository: strings.TrimSuffix(file, ".txt") + ".git"}
		if s.queries, err = ParseJudged(string(text)); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		set = append(set, s)
	}
	return set, nil
}

func (c MinedConfig) askTrawl(ctx context.Context, set []minedSnapshot, report *MinedReport) (err error) {
	t := &trawl{binary: c.Trawl, data: filepath.Join(c.Work, "trawl"), symbols: true}
	if !c.Reuse {
		c.Progress("indexing with trawl")
		args := []string{"index", "--data", t.data}
		for _, s := range set {
			args = append(args, s.name+"="+s.repository)
		}
		cmd := exec.CommandContext(ctx, t.binary, args...)
		cmd.Env = t.env()
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("trawl index: %w: %s", err, lastBytes(out, 500))
		}
	}
	s, err := t.serve(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	c.Progress("asking trawl")
	return report.ask(set, "trawl", func(snapshot string, q Judged) (paths []string, err error) {
		q.Text = fmt.Sprintf("repo:^%s$ %s %s", regexp.QuoteMeta(snapshot), q.Text, c.Suffix)
		_, err = s.search(ctx, q.Text, q.PatternType, func(data []byte) error {
			var matches []struct{ Path string }
			if err := json.Unmarshal(data, &matches); err != nil {
				return fmt.Errorf("decode matches %.200q: %w", data, err)
			}
			for _, m := range matches {
				paths = append(paths, m.Path)
			}
			return nil
		})
		return paths, err
	})
}

func (c MinedConfig) askZoekt(ctx context.Context, set []minedSnapshot, report *MinedReport) (err error) {
	dir := filepath.Join(c.Work, "zoekt")
	if !c.Reuse {
		c.Progress("indexing with zoekt")
		for _, s := range set {
			// It asks for this variable where the parser has another name than it looks for.
			cmd := exec.CommandContext(ctx, "zoekt-git-index", "-require_ctags", "-index", dir, s.repository)
			cmd.Env = cleanEnv("CTAGS_COMMAND=" + ctagsCommand())
			if out, err := cmd.CombinedOutput(); err != nil {
				return fmt.Errorf("zoekt-git-index: %w: %s", err, lastBytes(out, 500))
			}
		}
	}
	started, err := zoekt{}.start(ctx, workspace{dir: dir})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, started.stop()) }()
	e := started.(*zoektEngine)
	c.Progress("asking zoekt")
	return report.ask(set, "zoekt", func(snapshot string, q Judged) ([]string, error) {
		return e.ranked(ctx, fmt.Sprintf("case:no repo:^%s$ %s", regexp.QuoteMeta(snapshot), q.Text))
	})
}

// ctagsCommand is where universal-ctags is found, under the names it goes by.
func ctagsCommand() string {
	for _, name := range []string{"universal-ctags", "ctags"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// ranked returns the paths of the answer to a text of zoekt's language, the best
// first.
func (e *zoektEngine) ranked(ctx context.Context, text string) ([]string, error) {
	body, err := json.Marshal(map[string]any{"Q": text, "Opts": map[string]any{
		"ShardMaxMatchCount": unlimited, "TotalMaxMatchCount": unlimited, "MaxDocDisplayCount": shown, "MaxWallTime": time.Minute,
	}})
	if err != nil {
		return nil, err
	}
	resp, err := e.send(ctx, text, body)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var reply zoektReply
	if err := json.NewDecoder(resp.Body).Decode(&reply); err != nil {
		return nil, fmt.Errorf("zoekt: decode answer to %s: %w", text, err)
	}
	var paths []string
	for _, f := range reply.Result.Files {
		paths = append(paths, f.FileName)
	}
	return paths, nil
}

// placeOf returns the place of the first wanted path, counted from 1, 0 for none,
// and how many paths there are.
func placeOf(paths, want []string) (place, files int) {
	seen := map[string]bool{}
	for _, path := range paths {
		if seen[path] {
			continue
		}
		seen[path] = true
		if place == 0 && len(seen) <= shown && slices.Contains(want, path) {
			place = len(seen)
		}
	}
	return place, len(seen)
}
