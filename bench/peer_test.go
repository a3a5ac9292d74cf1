package bench

import (
	"bytes"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func literals(texts ...string) []Term {
	var terms []Term
	for _, t := range texts {
		terms = append(terms, Term{Text: t})
	}
	return terms
}

func regexps(texts ...string) []Term {
	var terms []Term
	for _, t := range texts {
		terms = append(terms, Term{Text: t, IsRegexp: true})
	}
	return terms
}

// showSteps prints steps without the settings that stand in each of them.
func showSteps(steps []step, settings []string) string {
	var lines []string
	for _, s := range steps {
		role := [...]string{answer: "answer", narrow: "narrow", exclude: "exclude"}[s.role]
		args := slices.DeleteFunc(slices.Clone(s.args), func(a string) bool { return slices.Contains(settings, a) })
		lines = append(lines, role+" "+strings.Join(args, " "))
	}
	return strings.Join(lines, "\n")
}

var stepTests = []struct {
	name    string
	query   Query
	rg, git string
}{
	{"literal", Query{Scope: Lines, Terms: literals("a b")},
		"answer --ignore-case --no-unicode --fixed-strings --line-number --no-heading --with-filename -e a b ./",
		"answer -i --fixed-strings --line-number -e a b --"},
	{"exact case", Query{Scope: Lines, Text: "case:yes a", Terms: literals("a")},
		"answer --no-unicode --fixed-strings --line-number --no-heading --with-filename -e a ./",
		"answer --fixed-strings --line-number -e a --"},
	{"beyond ASCII", Query{Scope: Lines, Terms: literals("é")},
		"answer --ignore-case --fixed-strings --line-number --no-heading --with-filename -e é ./",
		"answer -i --fixed-strings --line-number -e é --"},
	{"regexp", Query{Scope: Lines, Terms: regexps(`\ba`)},
		`answer --ignore-case --no-unicode --line-number --no-heading --with-filename -e \ba ./`,
		`answer -i --perl-regexp --line-number -e \ba --`},
	{"lines", Query{Scope: Lines, Terms: regexps(`a\s+b`)},
		`answer --ignore-case --no-unicode --multiline --mmap --line-number --no-heading --with-filename -e a\s+b ./`,
		`answer -i --perl-regexp --line-number -e a\s+b --`},
	{"unicode class", Query{Scope: Lines, Terms: regexps(`\p{Greek}`)},
		`answer --ignore-case --line-number --no-heading --with-filename -e \p{Greek} ./`,
		"cannot: matches bytes only"},
	{"either", Query{Scope: Lines, Terms: append(literals("a.b"), regexps("c+")...)},
		`answer --ignore-case --no-unicode --line-number --no-heading --with-filename -e a\.b -e c+ ./`,
		`answer -i --perl-regexp --line-number -e a\.b -e c+ --`},
	{"both", Query{Scope: Lines, All: true, Terms: literals("a", "b")},
		"narrow --ignore-case --no-unicode --fixed-strings --files-with-matches -e a ./\n" +
			"narrow --ignore-case --no-unicode --fixed-strings --files-with-matches -e b\n" +
			"answer --ignore-case --no-unicode --fixed-strings --line-number --no-heading --with-filename -e a -e b",
		"answer -i --fixed-strings --all-match --line-number -e a -e b --"},
	{"one without another", Query{Scope: Lines, Terms: literals("a"), Without: literals("b")},
		"narrow --ignore-case --no-unicode --fixed-strings --files-without-match -e b ./\n" +
			"answer --ignore-case --no-unicode --fixed-strings --line-number --no-heading --with-filename -e a",
		"exclude -i --fixed-strings --files-with-matches -e b --\nanswer -i --fixed-strings --line-number -e a --"},
	{"files", Query{Scope: Files, Terms: literals("a")},
		"answer --ignore-case --no-unicode --fixed-strings --files-with-matches -e a ./",
		"answer -i --fixed-strings --files-with-matches -e a --"},
	{"files over lines", Query{Scope: Files, Terms: regexps(`a\nb`)},
		`answer --ignore-case --no-unicode --multiline --mmap --files-with-matches -e a\nb ./`,
		"cannot: sees one line at a time"},
	{"globs", Query{Scope: Lines, Terms: literals("a"), Globs: []string{"*.c", "!/x/**"}},
		"answer --iglob=*.c --iglob=!/x/** --ignore-case --no-unicode --fixed-strings --line-number --no-heading --with-filename -e a ./",
		"answer -i --fixed-strings --line-number -e a -- :(icase,glob)**/*.c :(icase,glob,exclude)x/**"},
	{"paths", Query{Scope: Paths, PathRegexps: []string{"a"}},
		"answer --files ./", "answer ls-files -z --"},
	{"nothing", Query{Scope: Nothing}, "cannot: no such question", "cannot: no such question"},
}

func TestPeerSteps(t *testing.T) {
	grepSettings := []string{"-c", "grep.threads=2", "grep", "-I", "--no-color", "--full-name"}
	for _, tt := range stepTests {
		for _, side := range []struct {
			peer     grepper
			settings []string
			want     string
		}{{ripgrep{}, rgSettings, tt.rg}, {gitGrep{}, grepSettings, tt.git}} {
			steps, cannot := side.peer.steps(tt.query)
			got := showSteps(steps, side.settings)
			// ls-files has a -z of its own.
			if tt.query.Scope != Paths {
				got = strings.ReplaceAll(got, " -z", "")
			}
			if cannot != "" {
				got = "cannot: " + cannot
			}
			if got != side.want {
				t.Errorf("%s, %s:\n got %s\nwant %s", tt.name, side.peer.name(), got, side.want)
			}
		}
	}
}

func TestReadOutput(t *testing.T) {
	for _, tt := range []struct {
		name    string
		query   Query
		out     string
		exclude []string
		want    LineSet
		wantErr string
	}{
		// Lines, as each tool writes them
		{"nothing", Query{Scope: Lines}, "", nil, LineSet{}, ""},
		{"ripgrep", Query{Scope: Lines}, "./a\x002:x\n./a\x001:y:z\n./b:c\x007:\n", nil, LineSet{"a": {1, 2}, "b:c": {7}}, ""},
		{"git", Query{Scope: Lines}, "a\x002\x00x\nb c\x0012\x003:4\n", nil, LineSet{"a": {2}, "b c": {12}}, ""},
		{"no final newline", Query{Scope: Lines}, "a\x002:x", nil, LineSet{"a": {2}}, ""},
		{"twice", Query{Scope: Lines}, "a\x002:x\na\x002:x\n", nil, LineSet{"a": {2}}, ""},
		{"excluded", Query{Scope: Lines}, "a\x002:x\nb\x001:x\n", []string{"a"}, LineSet{"b": {1}}, ""},
		{"remark", Query{Scope: Lines}, "./a: binary file matches (found \"\\0\" byte around offset 3)\n", nil, LineSet{}, ""},

		// Files and paths
		{"files", Query{Scope: Files}, "./a\x00b\x00", nil, LineSet{"a": nil, "b": nil}, ""},
		{"paths", Query{Scope: Paths, PathRegexps: []string{"X", `\.c$`}}, "./x.c\x00x.h\x00y.c\x00", nil, LineSet{"x.c": nil}, ""},
		{"paths, exact case", Query{Scope: Paths, Text: "case:yes X", PathRegexps: []string{"X"}}, "x\x00X\x00", nil, LineSet{"X": nil}, ""},

		// Nonsense
		{"no path", Query{Scope: Lines}, "2:x\n", nil, nil, "want path, NUL, number"},
		{"no number", Query{Scope: Lines}, "a\x00x:y\n", nil, nil, "no line number"},
		{"line 0", Query{Scope: Lines}, "a\x000:y\n", nil, nil, "no line number"},
	} {
		excluded := map[string]bool{}
		for _, path := range tt.exclude {
			excluded[path] = true
		}
		got, err := readOutput(tt.query, nullForm, []byte(tt.out), excluded)
		if !errorHas(err, tt.wantErr) || !maps.EqualFunc(got, tt.want, slices.Equal[[]uint32]) {
			t.Errorf("%s: output %q read as %v, error %v; want %v, error with %q", tt.name, tt.out, got, err, tt.want, tt.wantErr)
		}
	}
}

func FuzzReadLines(f *testing.F) {
	f.Add([]byte("./a\x002:x\nb\x0012\x003:4\n"))
	f.Fuzz(func(t *testing.T, out []byte) {
		set := LineSet{}
		if err := readLines(set, out); err != nil {
			return
		}
		if n, lines := set.Len(), bytes.Count(out, []byte("\n"))+1; n > lines {
			t.Errorf("output %q of %d lines read as %d", out, lines, n)
		}
	})
}

func TestWithFiles(t *testing.T) {
	long := strings.Repeat("x", maxArgBytes/2)
	for _, tt := range []struct {
		files []string
		want  []int // files per call
	}{
		{nil, []int{0}},
		{[]string{"a", "b"}, []int{2}},
		{[]string{long, long, "a"}, []int{1, 2}},
		{[]string{long + long, "a"}, []int{1, 1}},
	} {
		var got []int
		for _, call := range withFiles([]string{"-l"}, tt.files) {
			if call[0] != "-l" {
				t.Errorf("call %.40q does not start with the options", call)
			}
			got = append(got, len(call)-1)
		}
		if !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%d files make calls of %d files, want %d", len(tt.files), got, tt.want)
		}
	}
}

func TestRunPeer(t *testing.T) {
	for _, tt := range []struct {
		script, want, wantErr string
	}{
		{"echo found", "found\n", ""},
		{"exit 1", "", ""},
		{"echo bad option >&2; exit 1", "", "bad option"},
		{"echo partly; exit 2", "partly\n", "exit status 2"},
	} {
		var out bytes.Buffer
		err := runPeer(shell(t, tt.script), &out)
		if out.String() != tt.want || !errorHas(err, tt.wantErr) {
			t.Errorf("script %q: output %q, error %v; want %q, error with %q", tt.script, &out, err, tt.want, tt.wantErr)
		}
	}
}
