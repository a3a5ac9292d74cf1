package lang_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/store/lang"
)

func TestFilePattern(t *testing.T) {
	tests := []struct{ name, want string }{
		// Extensions alone.
		{"Go", `(?i:\.go$)`},
		{"C", `(?i:\.c$|\.cats$|\.h$|\.h\.in$|\.idc$)`},
		{"C++", `(?i:\.cpp$|\.c\+\+$|\.cc$|\.cp$|\.cppm$|\.cxx$|\.h$|\.h\+\+$|\.hh$|\.hpp$|\.hxx$|\.inc$|\.inl$|\.ino$|\.ipp$|\.ixx$|\.re$|\.tcc$|\.tpp$|\.txx$)`},
		// With file names.
		{"Dockerfile", `(?i:\.dockerfile$|\.containerfile$|(^|/)Containerfile$|(^|/)Dockerfile$)`},
		// Exclusive extensions stay with their one language.
		{"TypeScript", `(?i:\.ts$|\.cts$|\.mts$)`},
		{"TSX", `(?i:\.tsx$)`},
		{"Smalltalk", `(?i:\.st$)`},
		{"GCC Machine Description", `[^\x00-\x{10FFFF}]`},
		// Beyond linguist.
		{"Apex", `(?i:\.cls$|\.apex$|\.trigger$|\.apxt$|\.apxc$)`},
		{"Pkl", `(?i:\.pkl$)`},
		{"Magik", `(?i:\.magik$)`},
		// Nothing known.
		{"OpenAPI Specification v3", `[^\x00-\x{10FFFF}]`},
		{"no such language", `[^\x00-\x{10FFFF}]`},
	}
	for _, test := range tests {
		if got := lang.FilePattern(test.name); got != test.want {
			t.Errorf("FilePattern(%q)\n got %s\nwant %s", test.name, got, test.want)
		}
	}
}

func TestExclusiveExtensions(t *testing.T) {
	owners := map[string]string{
		".cs": "C#", ".fs": "F#", ".json": "JSON", ".md": "Markdown", ".rs": "Rust", ".tsx": "TSX",
		".ts": "TypeScript", ".txt": "Text", ".yaml": "YAML", ".yml": "YAML",
	}
	for _, name := range lang.Names() {
		match := lang.Matcher(name)
		for ext, owner := range owners {
			path := "src/some file" + ext
			if got, want := match(path), name == owner; got != want {
				t.Errorf("Matcher(%q)(%q) = %v, want %v", name, path, got, want)
			}
		}
	}
}

// samplePaths are spelled so that a careless equivalent of the regexp trips.
var samplePaths = []string{
	"", ".", "/", ".go", "go", "a.go", "a.GO", "A.Go", "a.go/b", "a.go/", "a.gox", "agogo", "a/b/c.go",
	"a.go\n", "a\n.go", "a.c", "a.C", "a.h", "a.h.in", "a.H.IN", "x.in", ".h.in", "a.cats", "a.c++", "a.cpp.txt",
	"Dockerfile", "dockerfile", "DOCKERFILE", "a/Dockerfile", "aDockerfile", "Dockerfile/a", "a.dockerfile",
	"my.Dockerfile", "Makefile", "GNUmakefile", "kernel/Makefile", "CMakeLists.txt", "go.mod", "go.sum",
	"a.ts", "a.d.ts", "a.tsx", "a.mts", "package.json", "tsconfig.json", ".eslintrc.json", "a.yaml", "a.yml",
	"x.cls", "x.apxt", "x.pkl", "x.magik", "hosts", "HOSTS", ".bashrc", "a.🔥", "ä.go", "日本.py",
	"a.\u212at", "a.r\u017f", "ma\u212aefile", "a.p\u017f1", "a.\xff.go", "\xff.rb", "a.tmLanguage", "a.sublime-syntax",
}

func TestMatcherEqualsFilePattern(t *testing.T) {
	for _, name := range lang.Names() {
		re := regexp.MustCompile(lang.FilePattern(name))
		match := lang.Matcher(name)
		for _, path := range samplePaths {
			if got, want := match(path), re.MatchString(path); got != want {
				t.Errorf("Matcher(%q)(%q) = %v, regexp says %v", name, path, got, want)
			}
		}
	}
}

func FuzzMatcher(f *testing.F) {
	names := lang.Names()
	for i, path := range samplePaths {
		f.Add(uint(i*13), path)
	}
	f.Fuzz(func(t *testing.T, n uint, path string) {
		name := names[n%uint(len(names))]
		want := regexp.MustCompile(lang.FilePattern(name)).MatchString(path)
		if got := lang.Matcher(name)(path); got != want {
			t.Errorf("Matcher(%q)(%q) = %v, regexp says %v", name, path, got, want)
		}
	})
}

func BenchmarkMatcher(b *testing.B) {
	match := lang.Matcher("C++")
	paths := []string{"drivers/gpu/drm/amd/amdgpu/amdgpu_device.c", "include/linux/sched.h", "Documentation/index.rst", strings.Repeat("deep/", 20) + "x.cpp"}
	b.ReportAllocs()
	for i := range b.N {
		match(paths[i%len(paths)])
	}
}
