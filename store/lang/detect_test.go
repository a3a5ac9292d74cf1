package lang_test

import (
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/store/lang"
)

func TestDetect(t *testing.T) {
	tests := []struct{ path, content, want string }{
		// The name decides.
		{"main.go", "", "Go"},
		{"cmd/MAIN.GO", "", "Go"},
		{"a/b/Makefile", "", "Makefile"},
		{"Dockerfile", "FROM scratch", "Dockerfile"},
		{"CMakeLists.txt", "", "CMake"},
		{"go.mod", "", "Go Module"},
		{"a.py", "#!/bin/sh", "Python"},
		{"config.h.in", "", "C"},
		{"dir.d/file.rb", "", "Ruby"},
		// Exclusive extensions, against linguist's other claims.
		{"README.md", "(define_insn", "Markdown"},
		{"a.ts", "<?xml version=\"1.0\"?><TS>", "TypeScript"},
		{"x.rs", "#pragma version(1)", "Rust"},
		{"api.yaml", "openapi: 3.0.0", "YAML"},
		{"api.json", `{"openapi": "3.0.0"}`, "JSON"},
		{"doc.txt", "vim:ft=help", "Text"},
		// Beyond linguist.
		{"x.magik", "", "Magik"},
		{"x.apxc", "", "Apex"},
		{"x.pkl", "foo = 1", "Pkl"},
		// Headers: C unless something says otherwise.
		{"a.h", "", "C"},
		{"a.h", "#ifndef A_H\n#include <stdio.h>\nint f(void);\n", "C"},
		{"a.h", "/* the class of\n * templates */\nstruct class *c;\nint try_lock(void);\n", "C"},
		{"a.h", "#include <vector>\n", "C++"},
		{"a.h", "\tclass Foo {\n", "C++"},
		{"a.h", "namespace x {\n", "C++"},
		{"a.h", "template <class T>\n", "C++"},
		{"a.h", "inline std::string f();", "C++"},
		{"a.h", "  public:\n", "C++"},
		{"a.h", "// -*- C++ -*-\n", "C++"},
		{"a.h", "@interface Foo : NSObject\n", "Objective-C"},
		{"a.h", "#import <Foundation/Foundation.h>\n", "Objective-C"},
		// Other shared extensions, by heuristic and by likelihood.
		{"a.m", "#import <Cocoa/Cocoa.h>\n@implementation A\n", "Objective-C"},
		{"a.m", "function y = f(x)\ny = x;\nend\n", "MATLAB"},
		{"a.pl", "use strict;\nmy $x = 1;\n", "Perl"},
		{"a.pl", "likes(mary, X) :- food(X).\n", "Prolog"},
		{"a.v", "Theorem t. Proof. Qed.\n", "Rocq Prover"},
		{"a.v", "module m (\ninput a);\n", "Verilog"},
		{"a.S", "ENTRY(x)\n\tnop\n", "Assembly"},
		{"a.cls", "\\NeedsTeXFormat{LaTeX2e}\n", "TeX"},
		{"a.l", "", "Lex"},
		// No name to go by.
		{"run", "#!/bin/bash\necho", "Shell"},
		{"run", "#!/usr/bin/env python3\n", "Python"},
		{"run", "#!/usr/bin/env -S LANG=C python3.11 -u\n", "Python"},
		{"run", "#!/usr/bin/python3.11\n", "Python"},
		{"run", "#!/usr/bin/perl -w\n", "Perl"},
		{"run", "#!", ""},
		{"run", "#!/opt/nothing-known\n", ""},
		{"rc", "# vim: set ft=python ts=4:\n", "Python"},
		{"rc", "# -*- coding: utf-8; mode: Ruby -*-\n", "Ruby"},
		{"rc", "// -*- coding: utf-8 -*-\n", ""},
		{"data", "\xef\xbb\xbf<?xml version=\"1.0\"?>", "XML"},
		{"page", "<!DOCTYPE html>", "HTML"},
		{"page", "<!d", ""},
		{"page", ".TH LS 1\n", "Roff Manpage"},
		{"COPYING", "GNU GENERAL PUBLIC LICENSE", "Text"},
		{"notes", "hello", ""},
		{"x.unknownext", "hello", ""},
		{"", "", ""},
		{"trailing/", "", ""},
		{"dots...", "", ""},
	}
	for _, test := range tests {
		if got := lang.Detect(test.path, []byte(test.content)); got != test.want {
			t.Errorf("Detect(%q, %q) = %q, want %q", test.path, test.content, got, test.want)
		}
	}
}

// What a filter finds and what a result says agree for names that one language
// claims.
func TestDetectAgreesWithMatcher(t *testing.T) {
	for _, path := range []string{"a.go", "a.rs", "a.yml", "Dockerfile", "x.apxt", "a.tsx", "Makefile", "a.java"} {
		name := lang.Detect(path, nil)
		if !lang.Matcher(name)(path) {
			t.Errorf("Detect(%q) = %q, whose Matcher refuses the path", path, name)
		}
	}
}

func TestDetectLooksAtHeadOnly(t *testing.T) {
	content := []byte(strings.Repeat("int x;\n", 1000) + "class Foo {\n")
	if got := lang.Detect("a.h", content); got != "C" {
		t.Errorf("Detect with a clue beyond the first 4 KiB = %q, want C", got)
	}
}

// TestDetectLongName: the time for a name grows with its length, not with its square.
func TestDetectLongName(t *testing.T) {
	dots := strings.Repeat(".", 4<<20)
	if got := lang.Detect(dots, nil); got != "" {
		t.Errorf("a name of dots is %q", got)
	}
	if got := lang.Detect(dots+"go", nil); got != "Go" {
		t.Errorf("a name of dots that ends in .go is %q, want Go", got)
	}
}

func FuzzDetect(f *testing.F) {
	f.Add("a.h", []byte("#include <vector>"))
	f.Add("x", []byte("#!/usr/bin/env -S a=b python"))
	f.Add("x", []byte("-*- mode: ; -*-"))
	known := map[string]bool{"": true}
	for _, name := range lang.Names() {
		known[name] = true
	}
	f.Fuzz(func(t *testing.T, path string, content []byte) {
		if got := lang.Detect(path, content); !known[got] {
			t.Errorf("Detect(%q, %q) = %q, which is no language", path, content, got)
		}
	})
}

func BenchmarkDetect(b *testing.B) {
	header := []byte(strings.Repeat("/* of the class */\n#define CONFIG_TRY(x) ((x) + 1)\nstatic inline int try_it(struct foo *p);\n", 80))
	for name, file := range map[string]struct {
		path    string
		content []byte
	}{
		"name=c":    {"drivers/net/ethernet/intel/e1000/e1000_main.c", header},
		"name=h":    {"include/linux/spinlock.h", header},
		"name=yaml": {"Documentation/devicetree/bindings/arm/arm.yaml", header},
		"name=none": {"Documentation/none", header},
		"name=S":    {"arch/x86/entry.S", header},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				lang.Detect(file.path, file.content)
			}
		})
	}
}
