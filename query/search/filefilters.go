package search

import "strings"

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

// fileFilters are the eight filters of kind file. A path counts for one when
// pattern matches it; matchFileFilters decides the same without a regexp,
// since it runs for every match.
var fileFilters = [...]struct{ label, pattern, value string }{
	underscoreTest: {"Exclude _test.*", `_tests?\.\w+$`, `-file:_test\.\w+$`},
	dotTest:        {"Exclude .test.*", `\.tests?\.\w+$`, `-file:\.test\.\w+$`},
	rubySpec:       {"Exclude Ruby tests", `_spec\.rb$`, `-file:_spec\.rb$`},
	vendored:       {"Exclude vendor", `(^|/)vendor/`, `-file:(^|/)vendor/`},
	thirdParty:     {"Exclude third party", `(^|/)third[_\-]?party/`, `-file:(^|/)third[_\-]?party/`},
	nodeModules:    {"Exclude node_modules", `(^|/)node_modules/`, `-file:(^|/)node_modules/`},
	minified:       {"Exclude minified JavaScript", `\.min\.js$`, `-file:\.min\.js$`},
	sourceMap:      {"Exclude JavaScript maps", `\.js\.map$`, `-file:\.js\.map$`},
}

// matchFileFilters reports which of fileFilters fit path.
func matchFileFilters(path string) (hit [len(fileFilters)]bool) {
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
		one := strings.TrimSuffix(stem, "s")
		hit[underscoreTest] = strings.HasSuffix(stem, "_test") || strings.HasSuffix(one, "_test")
		hit[dotTest] = strings.HasSuffix(stem, ".test") || strings.HasSuffix(one, ".test")
	}
	hit[rubySpec] = ext == "rb" && strings.HasSuffix(stem, "_spec")
	hit[minified] = ext == "js" && strings.HasSuffix(stem, ".min")
	hit[sourceMap] = ext == "map" && strings.HasSuffix(stem, ".js")
	return hit
}

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
