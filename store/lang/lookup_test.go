package lang_test

import (
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/store/lang"
)

func TestLookup(t *testing.T) {
	tests := []struct{ value, want string }{
		// Names and aliases, one group per language.
		{"go", "Go"}, {"golang", "Go"},
		{"c++", "C++"}, {"cpp", "C++"},
		{"c#", "C#"}, {"csharp", "C#"},
		{"js", "JavaScript"}, {"javascript", "JavaScript"},
		{"ts", "TypeScript"}, {"typescript", "TypeScript"},
		{"tsx", "TSX"},
		{"py", "Python"}, {"python", "Python"},
		{"sh", "Shell"}, {"bash", "Shell"}, {"shell", "Shell"},
		{"objc", "Objective-C"}, {"objective-c", "Objective-C"},
		{"md", "Markdown"}, {"markdown", "Markdown"},
		{"yml", "YAML"}, {"yaml", "YAML"},
		{"rs", "Rust"}, {"rust", "Rust"},
		{"proto", "Protocol Buffer"}, {"protobuf", "Protocol Buffer"}, {"protocol buffer", "Protocol Buffer"},
		{"hcl", "HCL"}, {"terraform", "HCL"},
		{"jsonc", "JSON with Comments"}, {"json with comments", "JSON with Comments"},
		{"viml", "Vim Script"}, {"vim script", "Vim Script"},
		{"elisp", "Emacs Lisp"}, {"emacs lisp", "Emacs Lisp"},
		{"bazel", "Starlark"}, {"starlark", "Starlark"},
		{"tex", "TeX"}, {"latex", "TeX"},
		{"lisp", "Common Lisp"}, {"common lisp", "Common Lisp"},
		{"text", "Text"}, {"plain text", "Text"},
		{"vb.net", "Visual Basic .NET"}, {"visual basic .net", "Visual Basic .NET"},
		// Beyond linguist.
		{"apex", "Apex"}, {"Pkl", "Pkl"}, {"MAGIK", "Magik"},
		// Case, spaces and commas.
		{"GoLang", "Go"}, {"Emacs_Lisp", "Emacs Lisp"}, {"go,python", "Go"}, {"c++,", "C++"},
		// Rejected.
		{"objective c", ""}, {"objective_c", ""}, {"h", ""}, {"kt", ""}, {"hs", ""}, {"docker", ""},
		{"emacs-lisp", ""}, {"ex", ""}, {"pl", ""}, {"", ""}, {",go", ""}, {" go", ""},
	}
	for _, test := range tests {
		got, ok := lang.Lookup(test.value)
		if got != test.want || ok != (test.want != "") {
			t.Errorf("Lookup(%q) = %q, %v; want %q", test.value, got, ok, test.want)
		}
	}
}

func TestNamesLookUpThemselves(t *testing.T) {
	names := lang.Names()
	if len(names) < 700 {
		t.Fatalf("Names() lists %d languages, want linguist's 700 and more", len(names))
	}
	for _, name := range names {
		if strings.Contains(name, ",") {
			continue
		}
		if got, ok := lang.Lookup(name); !ok || got != name {
			t.Errorf("Lookup(%q) = %q, %v; want itself", name, got, ok)
		}
	}
}
