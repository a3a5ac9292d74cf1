package navigate

import (
	"strings"
	"testing"
)

func TestCommentOf(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"Go", "x := 1\n\n// Fire heats the kiln.\n//\n// It blocks.\n>func Fire() {", "Fire heats the kiln.\n\nIt blocks."},
		{"no comment", "x := 1\n\n>func Fire() {", ""},
		{"a blank line between", "// Something else.\n\n>func Fire() {", ""},
		{"Rust, behind an attribute", "/// Heats.\n#[inline]\n>fn fire() {", "Heats."},
		{"Java, behind an annotation", "    /**\n     * Heats.\n     * @param x y\n     */\n    @Override\n>    void fire() {", "Heats.\n@param x y"},
		{"C on one line", "/* heats */\n>int fire(void) {", "heats"},
		{"a comment behind code", "int x; /* no */\n>int fire(void) {", ""},
		{"a block without a beginning", "heats */\n>int fire(void) {", ""},
		{"C directive", "#include <x.h>\n>int fire(void) {", ""},
		{"Python docstring", ">def fire(x):\n    \"\"\"Heats.\n\n    Slowly.\"\"\"\n    pass", "Heats.\n\nSlowly."},
		{"Python comment", "# Heats.\n>def fire(x):\n    pass", "Heats."},
		{"docstring without an end", ">def fire(x):\n    \"\"\"Heats.", ""},
		{"SQL", "-- heats\n>CREATE TABLE fire (", "heats"},
		{"Lisp", ";; heats\n>(defun fire ()", "heats"},
		{"shell", "#!/bin/sh\n>fire() {", ""},
		{"the first line", ">fire", ""},
		{"only a mark", "//\n>fire", ""},
	} {
		lines, at := strings.Split(tt.text, "\n"), -1
		for i, line := range lines {
			if rest, ok := strings.CutPrefix(line, ">"); ok {
				lines[i], at = rest, i
			}
		}
		if got := commentOf(lines, at); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func FuzzCommentOf(f *testing.F) {
	f.Add("/*\n*/\nfire", 2)
	f.Add("def f():\n'''", 0)
	f.Fuzz(func(t *testing.T, text string, at int) {
		lines := strings.Split(text, "\n")
		if at >= 0 && at < len(lines) {
			if got := commentOf(lines, at); len(got) > maxCommentBytes+len("\u2026") {
				t.Errorf("a comment of %d bytes", len(got))
			}
		}
	})
}

func TestParseName(t *testing.T) {
	for _, tt := range []struct {
		text, name, container string
		ok                    bool
	}{
		{"fire", "fire", "", true}, {" fire() ", "fire", "", true}, {"Kiln.Fire", "Fire", "Kiln", true}, {"a::b::c", "c", "a::b", true},
		{"p->x", "x", "p", true}, {"Array#each", "each", "Array", true}, {".", ".", "", true}, {"größe", "größe", "", true}, {"a.", "a.", "", true},
		{"", "", "", false}, {"two words", "", "", false}, {"a\nb", "", "", false}, {"\xff", "", "", false}, {strings.Repeat("x", 201), "", "", false}, {"()", "", "", false},
	} {
		n, ok := ParseName(tt.text)
		if ok != tt.ok || n.Text != tt.name || n.Container != tt.container {
			t.Errorf("ParseName(%q) = %+v, %t", tt.text, n, ok)
		}
	}
}

func TestCutAround(t *testing.T) {
	long := strings.Repeat("ö", 1000) + "name" + strings.Repeat("x", 1000)
	text, column := cutAround(long, 1000)
	if runes := []rune(text); len(text) > maxLineBytes || string(runes[column:column+4]) != "name" {
		t.Errorf("cutAround of a long line: %d bytes, column %d: %q", len(text), column, text)
	}
	if text, column := cutAround("a name", 2); text != "a name" || column != 2 {
		t.Errorf("cutAround of a short line: %q, %d", text, column)
	}
	if text, _ := cutAround("a\xff", 0); text != "a\uFFFD" {
		t.Errorf("cutAround keeps wrong bytes: %q", text)
	}
}
