package bench

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// csearch is codesearch: cindex makes one index file, csearch reads it and the
// files of the corpus that the index cannot rule out.
type csearch struct{ grepPeer }

func (csearch) programs() []string { return []string{"cindex", "csearch"} }

func (csearch) index(ctx context.Context, at workspace) (*IndexFacts, error) {
	cmd := exec.CommandContext(ctx, "cindex", at.source.tree)
	cmd.Env = csearchEnv(at)
	return measureIndex(cmd, at.dir)
}

func (csearch) reads(at workspace) []string { return []string{at.dir, at.source.tree} }

func (c csearch) start(_ context.Context, at workspace) (engine, error) {
	return csearchEngine{grepEngine{c.grepper, at}}, nil
}

func csearchEnv(at workspace) []string {
	return cleanEnv("CSEARCHINDEX=" + filepath.Join(at.dir, "csearchindex"))
}

type csearchEngine struct{ grepEngine }

// skipped returns what is not in the index: names that start with a dot, and
// files that cindex takes for something other than source code.
func (e csearchEngine) skipped(ctx context.Context) (map[string]bool, error) {
	var out bytes.Buffer
	if err := runPeer(e.command(ctx, e.workspace, []string{"-l", "^"}), &out); err != nil {
		return nil, err
	}
	skipped := map[string]bool{}
	for _, f := range e.source.files {
		skipped[f.path] = true
	}
	for _, path := range e.form(e.workspace).paths(out.Bytes()) {
		delete(skipped, path)
	}
	return skipped, nil
}

// csearchGrep asks csearch, which takes one pattern and one pattern for paths.
type csearchGrep struct{}

func (csearchGrep) name() string      { return "csearch" }
func (csearchGrep) program() string   { return "csearch" }
func (csearchGrep) decodesWide() bool { return false }

// sees is false for patterns that may span lines, of which csearch prints one.
func (csearchGrep) sees(q Query) bool { return !q.SpansLines() }

func (csearchGrep) command(ctx context.Context, at workspace, args []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "csearch", args...)
	cmd.Env = csearchEnv(at)
	// Paths in the index start with the tree, which a filter must not match.
	for i := range cmd.Args {
		cmd.Args[i] = strings.ReplaceAll(cmd.Args[i], treeMark, regexp.QuoteMeta(at.source.tree))
	}
	return cmd
}

// treeMark stands for the corpus in arguments; no argument can hold it.
const treeMark = "\x00"

func (csearchGrep) steps(q Query) ([]step, string) {
	switch {
	case q.Scope == Nothing:
		return nil, "no such question"
	case q.Scope == Paths:
		return nil, "looks into files only"
	case q.All || len(q.Without) > 0:
		return nil, "looks for one thing at a time"
	case slices.ContainsFunc(q.Globs, func(g string) bool { return strings.HasPrefix(g, "!") }):
		return nil, "cannot leave files out"
	case q.SpansLines() && q.Scope == Files:
		return nil, "sees one line at a time"
	}
	var args []string
	if len(q.Globs) > 0 {
		args = append(args, "-f", "(?i)^"+treeMark+"/(?:"+strings.Join(globRegexps(q.Globs), "|")+")")
	}
	if !q.CaseSensitive() {
		args = append(args, "-i")
	}
	if q.Scope == Files {
		args = append(args, "-l")
	} else {
		args = append(args, "-n")
	}
	var patterns []string
	for _, t := range q.Terms {
		patterns = append(patterns, t.Pattern())
	}
	return []step{{answer, append(args, "--", strings.Join(patterns, "|"))}}, ""
}

// globRegexps returns globs as regexps for whole paths below the tree.
func globRegexps(globs []string) []string {
	var out []string
	for _, g := range globs {
		re := globRegexp(g)
		if rest, ok := strings.CutPrefix(re, "^"); ok {
			out = append(out, rest)
		} else {
			out = append(out, "(?:.*/)?[^/]*"+re)
		}
	}
	return out
}

// form strips the tree from the paths that were indexed.
func (csearchGrep) form(at workspace) outputForm {
	below := func(path string) (string, bool) { return strings.CutPrefix(path, at.source.tree+"/") }
	return outputForm{
		lines: func(set LineSet, out []byte) error {
			for row := range bytes.Lines(out) {
				path, line, ok := splitRow(string(row))
				path, inside := below(path)
				if !ok || !inside {
					return fmt.Errorf("read csearch's line %.100q: want a path below %s and a number", row, at.source.tree)
				}
				set.Add(path, line)
			}
			return nil
		},
		paths: func(out []byte) []string {
			var paths []string
			for path := range strings.Lines(string(out)) {
				if path, ok := below(strings.TrimSuffix(path, "\n")); ok {
					paths = append(paths, path)
				}
			}
			return paths
		},
	}
}

var rowForm = regexp.MustCompile(`^(.*?):([1-9][0-9]*):`)

// splitRow splits "path:number:text".
func splitRow(row string) (path string, line uint32, ok bool) {
	m := rowForm.FindStringSubmatch(row)
	if m == nil {
		return "", 0, false
	}
	n, err := strconv.ParseUint(m[2], 10, 32)
	return m[1], uint32(n), err == nil
}
