package bench

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

func splitPaths(out []byte) []string {
	var paths []string
	for path := range strings.SplitSeq(string(out), "\x00") {
		if path != "" {
			paths = append(paths, cleanPath(path))
		}
	}
	return paths
}

func cleanPath(path string) string { return strings.TrimPrefix(path, "./") }

// outputForm is how a tool prints its answers.
type outputForm struct {
	lines func(LineSet, []byte) error
	paths func([]byte) []string
}

// nullForm has a NUL byte behind every path.
var nullForm = outputForm{readLines, splitPaths}

// readOutput turns a peer's output into the set that q's scope compares.
func readOutput(q Query, form outputForm, out []byte, excluded map[string]bool) (LineSet, error) {
	set := LineSet{}
	if q.Scope == Lines {
		if err := form.lines(set, out); err != nil {
			return nil, err
		}
	} else {
		tests, err := pathTests(q)
		if err != nil {
			return nil, err
		}
		for _, path := range form.paths(out) {
			if matchesAll(tests, path) {
				set.Add(path, 0)
			}
		}
	}
	set.Keep(func(path string) bool { return !excluded[path] })
	set.Sort()
	return set, nil
}

// readLines reads "path NUL number separator text newline", where the
// separator is a colon or, from newer gits, another NUL. A row without a NUL
// is ripgrep's remark on a binary file, and those are never compared.
func readLines(set LineSet, out []byte) error {
	for len(out) > 0 {
		row, rest, _ := bytes.Cut(out, []byte("\n"))
		path, tail, ok := bytes.Cut(row, []byte{0})
		if !ok && bytes.Contains(row, []byte("binary file")) {
			out = rest
			continue
		}
		end := bytes.IndexAny(tail, "\x00:")
		if !ok || end < 0 {
			return fmt.Errorf("read peer's line %.100q: want path, NUL, number", row)
		}
		line, err := strconv.ParseUint(string(tail[:end]), 10, 32)
		if err != nil || line == 0 {
			return fmt.Errorf("read peer's line %.100q: no line number", row)
		}
		set.Add(cleanPath(string(path)), uint32(line))
		out = rest
	}
	return nil
}

func pathTests(q Query) ([]*regexp.Regexp, error) {
	var tests []*regexp.Regexp
	for _, p := range q.PathRegexps {
		if !q.CaseSensitive() {
			p = "(?i:" + p + ")"
		}
		re, err := regexp.Compile(p)
		if err != nil {
			return nil, err
		}
		tests = append(tests, re)
	}
	return tests, nil
}

func matchesAll(tests []*regexp.Regexp, path string) bool {
	for _, re := range tests {
		if !re.MatchString(path) {
			return false
		}
	}
	return true
}
