package report

import (
	"regexp"
	"strings"
	"sync"
)

// The places of the entries of fileFilters.
const (
	underscoreTest = iota
	dotTest
	rubySpec
	vendored
	thirdParty
	nodeModules
	minified
	sourceMap
)

// fileFilters are the eight filters of kind file, which exclude what pattern
// matches. A path counts for one that excludes it; matchFileFilters decides that
// without a regexp, since it runs for every match.
var fileFilters = [...]struct{ label, pattern string }{
	underscoreTest: {"Exclude _test.*", `_test\.\w+$`},
	dotTest:        {"Exclude .test.*", `\.test\.\w+$`},
	rubySpec:       {"Exclude Ruby tests", `_spec\.rb$`},
	vendored:       {"Exclude vendor", `(^|/)vendor/`},
	thirdParty:     {"Exclude third party", `(^|/)third[_\-]?party/`},
	nodeModules:    {"Exclude node_modules", `(^|/)node_modules/`},
	minified:       {"Exclude minified JavaScript", `\.min\.js$`},
	sourceMap:      {"Exclude JavaScript maps", `\.js\.map$`},
}

// matchFileFilters reports which of fileFilters exclude path.
func matchFileFilters(path string, caseSensitive bool) (hit [len(fileFilters)]bool) {
	for i := range len(path) {
		if path[i] >= 0x80 || path[i] == '\n' {
			return matchFileRegexps(path, caseSensitive)
		}
	}
	if !caseSensitive {
		path = strings.ToLower(path)
	}
	rest := path
	for {
		dir, after, ok := strings.Cut(rest, "/")
		if !ok {
			break
		}
		switch dir {
		case "vendor":
			hit[vendored] = true
		case "node_modules":
			hit[nodeModules] = true
		case "third_party", "third-party", "thirdparty":
			hit[thirdParty] = true
		}
		rest = after
	}
	dot := strings.LastIndexByte(path, '.')
	if dot < 0 {
		return hit
	}
	stem, ext := path[:dot], path[dot+1:]
	if isWordRun(ext) {
		hit[underscoreTest] = strings.HasSuffix(stem, "_test")
		hit[dotTest] = strings.HasSuffix(stem, ".test")
	}
	hit[rubySpec] = ext == "rb" && strings.HasSuffix(stem, "_spec")
	hit[minified] = ext == "js" && strings.HasSuffix(stem, ".min")
	hit[sourceMap] = ext == "map" && strings.HasSuffix(stem, ".js")
	return hit
}

// matchFileRegexps is for paths with letters that fold into ASCII, or with lines.
func matchFileRegexps(path string, caseSensitive bool) (hit [len(fileFilters)]bool) {
	for i, re := range fileRegexps() {
		if caseSensitive {
			hit[i] = re[1].MatchString(path)
		} else {
			hit[i] = re[0].MatchString(path)
		}
	}
	return hit
}

// fileRegexps are the patterns without regard to case, and with.
var fileRegexps = sync.OnceValue(func() (out [len(fileFilters)][2]*regexp.Regexp) {
	for i, f := range fileFilters {
		out[i] = [2]*regexp.Regexp{regexp.MustCompile("(?mi)" + f.pattern), regexp.MustCompile("(?m)" + f.pattern)}
	}
	return out
})

// isWordRun reports whether s fits \w+.
func isWordRun(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return s != ""
}
