package navigate

import (
	"strings"
)

// maxCommentBytes is how much of a comment is shown.
const maxCommentBytes = 2 << 10

// commentOf returns what is said about the definition in a line: the comment that
// ends in the line above, behind attributes, or a documentation string below. It
// goes by how comments begin in most languages, and takes what is none for none.
func commentOf(lines []string, at int) string {
	above := at - 1
	for above >= 0 && isAttribute(lines[above]) {
		above--
	}
	out := commentAbove(lines[:max(above+1, 0)])
	if out == "" {
		out = docstring(lines[at:])
	}
	if len(out) > maxCommentBytes {
		out = strings.ToValidUTF8(out[:maxCommentBytes], "") + "\u2026"
	}
	return out
}

// isAttribute reports lines such as @Override and #[derive(Debug)], which stand between
// a comment and what it is about.
func isAttribute(line string) bool {
	line = strings.TrimSpace(line)
	return strings.HasPrefix(line, "@") || strings.HasPrefix(line, "#[") || strings.HasPrefix(line, "[[") || strings.HasPrefix(line, "template<") || strings.HasPrefix(line, "template <")
}

// lineMarks begin comments that end with their line; the longer ones first.
var lineMarks = []string{"///", "//!", "//", "##", "#", "---", "--", ";;;", ";;", ";", "%%", "%"}

// commentAbove returns the comment that ends with the last line.
func commentAbove(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	if strings.HasSuffix(strings.TrimSpace(lines[len(lines)-1]), "*/") {
		return blockAbove(lines)
	}
	var out []string
	mark := ""
	for i := len(lines) - 1; i >= 0; i-- {
		line := strings.TrimSpace(lines[i])
		if mark == "" {
			mark = markOf(line)
		}
		rest, ok := strings.CutPrefix(line, mark)
		if mark == "" || !ok || isDirective(line) {
			break
		}
		out = append([]string{strings.TrimRight(strings.TrimPrefix(rest, " "), " \t")}, out...)
	}
	return strings.TrimSpace(strings.Join(out, "\n"))
}

func markOf(line string) string {
	for _, m := range lineMarks {
		if strings.HasPrefix(line, m) && !isDirective(line) {
			return m
		}
	}
	return ""
}

// isDirective reports lines that begin as comments do and are none.
func isDirective(line string) bool {
	for _, d := range []string{"#include", "#define", "#if", "#else", "#endif", "#elif", "#undef", "#pragma", "#!", "#import", "//go:", "%{", "%}"} {
		if strings.HasPrefix(line, d) {
			return true
		}
	}
	return false
}

// blockAbove returns the comment between marks that ends with the last line. One whose
// beginning is not among the lines is none.
func blockAbove(lines []string) string {
	for i := len(lines) - 1; i >= 0; i-- {
		before, first, ok := strings.Cut(lines[i], "/*")
		if !ok {
			continue
		}
		if strings.TrimSpace(before) != "" {
			return "" // behind code
		}
		body := append([]string{first}, lines[i+1:]...)
		last := len(body) - 1
		body[last] = strings.TrimSuffix(strings.TrimSpace(body[last]), "*/")
		for j, line := range body {
			body[j] = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line), "*!"))
		}
		return strings.TrimSpace(strings.Join(body, "\n"))
	}
	return ""
}

// docstring returns the string that follows a definition of Python's.
func docstring(lines []string) string {
	if len(lines) < 2 || !strings.HasSuffix(strings.TrimSpace(lines[0]), ":") {
		return ""
	}
	first := strings.TrimLeft(strings.TrimSpace(lines[1]), "rRuUbB")
	for _, quote := range []string{`"""`, `'''`} {
		rest, ok := strings.CutPrefix(first, quote)
		if !ok {
			continue
		}
		var out []string
		for _, line := range append([]string{rest}, lines[2:]...) {
			text, end := strings.TrimSpace(line), false
			text, _, end = strings.Cut(text, quote)
			out = append(out, strings.TrimSpace(text))
			if end {
				return strings.TrimSpace(strings.Join(out, "\n"))
			}
		}
	}
	return ""
}
