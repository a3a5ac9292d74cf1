package bench

import (
	"context"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// ripgrep asks rg. It reads every file below the tree: ignore files, hidden
// names and its own configuration would each change the question.
type ripgrep struct{}

func (ripgrep) name() string              { return "rg" }
func (ripgrep) program() string           { return "rg" }
func (ripgrep) decodesWide() bool         { return true }
func (ripgrep) sees(Query) bool           { return true }
func (ripgrep) form(workspace) outputForm { return nullForm }

// rgSettings apply to every call; two threads, as the machine the targets were
// set on has two cores.
var rgSettings = []string{
	"--no-config", "--no-ignore", "--hidden", "--color=never", "--null", "-j2", "--glob=!/.git",
}

func (ripgrep) command(ctx context.Context, at workspace, args []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "rg", args...)
	cmd.Dir = at.source.tree
	cmd.Env = cleanEnv()
	return cmd
}

// steps chains file lists as rg -l … | xargs rg … does when files must hold
// several things.
func (r ripgrep) steps(q Query) ([]step, string) {
	if q.Scope == Nothing {
		return nil, "no such question"
	}
	where := slices.Concat(rgSettings, rgGlobs(q.Globs))
	if q.Scope == Paths {
		return []step{{answer, slices.Concat(where, []string{"--files", "./"})}}, ""
	}
	var (
		steps []step
		look  = func(role role, terms []Term, flags ...string) {
			args := slices.Concat(where, rgFlags(q, terms), flags, dashE(terms, onlyLiterals(terms)))
			steps = append(steps, step{role, args})
		}
	)
	if q.All {
		for _, t := range q.Terms {
			look(narrow, []Term{t}, "--files-with-matches")
		}
	}
	for _, t := range q.Without {
		look(narrow, []Term{t}, "--files-without-match")
	}
	if q.Scope == Files {
		look(answer, q.Terms, "--files-with-matches")
	} else {
		look(answer, q.Terms, "--line-number", "--no-heading", "--with-filename")
	}
	// Only the first call looks for files itself; the others are given some.
	steps[0].args = append(steps[0].args, "./")
	return steps, ""
}

// rgFlags chooses the meaning of the pattern: bytes as in Go's syntax, where
// \w, \b and letter case are ASCII unless the pattern names Unicode classes.
func rgFlags(q Query, terms []Term) []string {
	var flags []string
	if !q.CaseSensitive() {
		flags = append(flags, "--ignore-case")
	}
	if !slices.ContainsFunc(terms, needsUnicode) {
		flags = append(flags, "--no-unicode")
	}
	if slices.ContainsFunc(terms, Term.spansLines) {
		// Without a mapping rg 13 is ten times slower at this.
		flags = append(flags, "--multiline", "--mmap")
	}
	if onlyLiterals(terms) {
		flags = append(flags, "--fixed-strings")
	}
	return flags
}

// needsUnicode reports whether rg must read text as characters for t: it
// refuses classes and even plain characters outside ASCII otherwise.
func needsUnicode(t Term) bool {
	return strings.ContainsFunc(t.Text, func(r rune) bool { return r > unicode.MaxASCII }) ||
		t.IsRegexp && unicodeClass.MatchString(t.Text)
}

var unicodeClass = regexp.MustCompile(`\\[pP]`)

// dashE returns the terms as options, exact ones quoted when they must stand
// beside regular expressions.
func dashE(terms []Term, fixed bool) []string {
	var args []string
	for _, t := range terms {
		pattern := t.Text
		if !fixed {
			pattern = t.Pattern()
		}
		args = append(args, "-e", pattern)
	}
	return args
}

func rgGlobs(globs []string) []string {
	var args []string
	for _, g := range globs {
		args = append(args, "--iglob="+strings.TrimSpace(g))
	}
	return args
}
