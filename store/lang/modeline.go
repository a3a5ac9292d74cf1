package lang

import (
	"bytes"
	"path"
	"strings"

	"github.com/go-enry/go-enry/v2/data"
)

// modelineLines is how far into a file a modeline counts. Editors and linguist
// also read the last lines, which a prefix does not have.
const modelineLines = 5

// byModeline returns the language an Emacs or Vim modeline at the start of a
// file names, or "".
func byModeline(head []byte) string {
	for range modelineLines {
		line, rest, more := bytes.Cut(head, []byte("\n"))
		if alias := emacsMode(line); alias != "" {
			if name, ok := Lookup(alias); ok {
				return name
			}
		}
		if alias := vimFiletype(line); alias != "" {
			if name, ok := Lookup(alias); ok {
				return name
			}
		}
		if !more {
			return ""
		}
		head = rest
	}
	return ""
}

// emacsMode returns X of "-*- X -*-" or "-*- …; mode: X; … -*-".
func emacsMode(line []byte) string {
	_, after, ok := bytes.Cut(line, []byte("-*-"))
	if !ok {
		return ""
	}
	inner, _, ok := bytes.Cut(after, []byte("-*-"))
	if !ok {
		return ""
	}
	if !bytes.ContainsAny(inner, ":;") {
		return strings.TrimSpace(string(inner))
	}
	for variable := range bytes.SplitSeq(inner, []byte(";")) {
		name, value, ok := bytes.Cut(variable, []byte(":"))
		if ok && strings.EqualFold(string(bytes.TrimSpace(name)), "mode") {
			return strings.TrimSpace(string(value))
		}
	}
	return ""
}

// vimFiletype returns X of "vim: … ft=X …" in any of its spellings.
func vimFiletype(line []byte) string {
	i := bytes.Index(line, []byte("vim:"))
	if i < 0 {
		return ""
	}
	for word := range bytes.FieldsFuncSeq(line[i+len("vim:"):], func(r rune) bool { return r == ' ' || r == '\t' || r == ':' }) {
		name, value, ok := bytes.Cut(word, []byte("="))
		if !ok {
			continue
		}
		switch string(name) {
		case "ft", "filetype", "syntax":
			return string(value)
		}
	}
	return ""
}

// byShebang returns the languages that the interpreter in a "#!" line runs.
func byShebang(head []byte) []string {
	if !bytes.HasPrefix(head, []byte("#!")) {
		return nil
	}
	line, _, _ := bytes.Cut(head[2:], []byte("\n"))
	words := strings.Fields(string(line))
	if len(words) == 0 {
		return nil
	}
	interpreter := path.Base(words[0])
	if interpreter == "env" {
		interpreter = envCommand(words[1:])
	}
	if langs, ok := data.LanguagesByInterpreter[interpreter]; ok {
		return langs
	}
	// python3.11, lua5.4 and the like are listed without the minor version.
	interpreter, _, _ = strings.Cut(interpreter, ".")
	return data.LanguagesByInterpreter[interpreter]
}

// envCommand returns the command that env's arguments run: the first that is
// neither an option nor an assignment.
func envCommand(args []string) string {
	for _, arg := range args {
		if !strings.HasPrefix(arg, "-") && !strings.Contains(arg, "=") {
			return path.Base(arg)
		}
	}
	return ""
}
