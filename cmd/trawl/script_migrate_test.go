package main

import (
	"archive/zip"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// oldStores is where the stores of old programs are, and what they answered.
const oldStores = "../../migrations/testdata"

// unpackStore makes a data directory of a store that an old program wrote:
//
//	unpack format1-folded data
func unpackStore(ts *testscript.TestScript, _ bool, args []string) {
	r, err := zip.OpenReader(filepath.Join(ts.Getenv("OLD_STORES"), args[0]+".zip"))
	ts.Check(err)
	dir := ts.MkAbs(args[1])
	ts.Check(os.RemoveAll(dir))
	ts.Check(os.CopyFS(dir, r))
	ts.Check(r.Close())
}

// compareAnswers asks what was asked of the old program, with the options given,
// and wants the same:
//
//	answers
func compareAnswers(ts *testscript.TestScript, _ bool, options []string) {
	text, err := os.ReadFile(filepath.Join(ts.Getenv("OLD_STORES"), "answers.txt"))
	ts.Check(err)
	for _, block := range strings.Split("\n"+string(text), "\n# ")[1:] {
		query, want, _ := strings.Cut(strings.TrimSuffix(block, "\n"), "\n")
		args := append(append([]string{"search"}, options...), "--", query)
		if err := ts.Exec("trawl", args...); err != nil {
			ts.Fatalf("%s: %v", query, err)
		}
		if got := sortedAnswer(ts.ReadFile("stdout")); got != want {
			ts.Fatalf("%s %v: got\n%s\nwant\n%s", query, options, got, want)
		}
	}
}

var howLongAgo = regexp.MustCompile(`(?m), [^:]* ago:`)

// sortedAnswer is an answer as answers.txt has it.
func sortedAnswer(text string) string {
	lines := strings.Split(strings.TrimSuffix(howLongAgo.ReplaceAllString(text, ":"), "\n"), "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// setOldStores tells the scripts where the stores are.
func setOldStores(env *testscript.Env) error {
	dir, err := filepath.Abs(oldStores)
	env.Setenv("OLD_STORES", dir)
	_, statErr := os.Stat(filepath.Join(dir, "answers.txt"))
	return errors.Join(err, statErr)
}
