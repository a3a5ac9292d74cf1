package ctags

import (
	"bytes"
	"path"
	"slices"
	"strings"
)

// languages finds the file names that ctags has a parser for. ctags prints
// nothing for a text of an unknown language, so this is decided here.
type languages struct {
	extensions map[string]bool
	names      map[string]bool
	patterns   []string
}

// newLanguages reads lines such as "Make  *.mak *.mk [Mm]akefile GNUmakefile".
func newLanguages(lines []string) *languages {
	l := &languages{extensions: map[string]bool{}, names: map[string]bool{}}
	for _, line := range lines {
		fields := strings.Fields(line)
		for _, glob := range fields[min(1, len(fields)):] {
			ext, isExt := strings.CutPrefix(glob, "*.")
			switch {
			case isExt && !strings.ContainsAny(ext, "*?[."):
				l.extensions[ext] = true
			case strings.ContainsAny(glob, "*?["):
				l.patterns = append(l.patterns, glob)
			default:
				l.names[glob] = true
			}
		}
	}
	return l
}

// nameFor returns the name under which ctags is given a text, harmless whatever
// the path is. ok is false if ctags has no parser for it. For a text from a
// pipe ctags looks only at the name; a script without an extension gets that of
// its interpreter.
func (l *languages) nameFor(file string, text []byte) (name string, ok bool) {
	name = harmless(file)
	if l.know(name) || l.know(strings.TrimSuffix(name, ".in")) {
		return name, true
	}
	ext, ok := interpreters[interpreter(text)]
	return "script." + ext, ok && l.extensions[ext]
}

func (l *languages) know(name string) bool {
	if l.names[name] || l.extensions[strings.TrimPrefix(path.Ext(name), ".")] {
		return true
	}
	return slices.ContainsFunc(l.patterns, func(p string) bool {
		ok, err := path.Match(p, name)
		return ok && err == nil
	})
}

// interpreters maps the names of interpreters, without versions, to extensions.
var interpreters = map[string]string{
	"sh": "sh", "bash": "sh", "dash": "sh", "ksh": "sh", "zsh": "zsh", "python": "py", "perl": "pl", "ruby": "rb",
	"node": "js", "php": "php", "lua": "lua", "tclsh": "tcl", "wish": "tcl", "awk": "awk", "gawk": "awk", "make": "mk",
}

// interpreter returns the program that a script's first line names, or "".
func interpreter(text []byte) string {
	line, isScript := bytes.CutPrefix(text[:min(len(text), 256)], []byte("#!"))
	if !isScript {
		return ""
	}
	line, _, _ = bytes.Cut(line, []byte("\n"))
	fields := strings.Fields(string(line))
	if len(fields) > 1 && path.Base(fields[0]) == "env" {
		fields = fields[1:]
	}
	if len(fields) == 0 {
		return ""
	}
	return strings.TrimRight(path.Base(fields[0]), "0123456789.")
}

// maxNameBytes is the longest file name that is passed to ctags.
const maxNameBytes = 128

// harmless returns the last element of a path with nothing in it that could
// mean anything to ctags or break the command it stands in: the language is all
// that the name is for.
func harmless(p string) string {
	base := path.Base(p)
	if len(base) > maxNameBytes {
		base = base[len(base)-maxNameBytes:]
	}
	name := []byte(base)
	for i, c := range name {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '+' || c == '-' && i > 0) {
			name[i] = '_'
		}
	}
	return string(name)
}
