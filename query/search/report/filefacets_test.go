package report

import (
	"regexp"
	"testing"

	"pgregory.net/rapid"
)

// fileFilterRegexps are the patterns that matchFileFilters stands in for.
func fileFilterRegexps() (res [2][len(fileFilters)]*regexp.Regexp) {
	for i, f := range fileFilters {
		res[0][i] = regexp.MustCompile("(?mi)" + f.pattern)
		res[1][i] = regexp.MustCompile("(?m)" + f.pattern)
	}
	return res
}

func checkFileFilters(t interface{ Errorf(string, ...any) }, res [2][len(fileFilters)]*regexp.Regexp, path string) {
	for n, caseSensitive := range []bool{false, true} {
		got := matchFileFilters(path, caseSensitive)
		for i, re := range res[n] {
			if want := re.MatchString(path); got[i] != want {
				t.Errorf("path %q, %q: got %v, want %v as by %s", path, fileFilters[i].label, got[i], want, re)
			}
		}
	}
}

func TestFileFiltersAgreeWithTheirPatterns(t *testing.T) {
	res := fileFilterRegexps()
	for _, path := range []string{
		"", "/", ".", "a", "a.", "_test.", "_test.go", "a_test.go", "a_tests.go", "a_testss.go", "a_test", "a_test.g-o", "a_test.x.go",
		"a.test.js", "a.tests.js", "a.test.d.ts", "s.go", "_spec.rb", "a_spec.rb", "a_spec.rbx", "a_spec.rb/", "vendor", "vendor/", "vendor/a",
		"a/vendor/b", "avendor/b", "a/vendor", "third_party/a", "third-party/a", "thirdparty/a", "third__party/a", "x/third_party/a",
		"node_modules/a", "a/node_modules/b", "node_modulesx/b", "a.min.js", ".min.js", "min.js", "a.js.map", ".js.map", "js.map", "a_test.go\n", "A_TEST.GO", "Vendor/a", "a_te\u017ft.go", "a.MIN.js", "\u212a/vendor/x",
		"vendor//vendor", "_test.é", "\xff_test.go", "a_test.\xff",
	} {
		checkFileFilters(t, res, path)
	}
}

func TestFileFiltersAgreeOnRandomPaths(t *testing.T) {
	res := fileFilterRegexps()
	piece := rapid.SampledFrom([]string{
		"/", ".", "_", "-", "s", "a", "é", "\n", "test", "tests", "_test.", ".tests.", "spec", "rb", "vendor", "third", "party", "third_party/",
		"node_modules", "min", "js", "map", "TEST", "ſ", "Vendor/", ".js", ".min", "go",
	})
	rapid.Check(t, func(t *rapid.T) {
		path := ""
		for _, p := range rapid.SliceOfN(piece, 0, 8).Draw(t, "pieces") {
			path += p
		}
		checkFileFilters(t, res, path)
	})
}
