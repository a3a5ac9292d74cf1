package owners

import (
	"strings"
	"unicode/utf8"
)

// pattern is the first word of a line, cut at its slashes. A part is matched
// against one element of a path; anyDepth stands for any number of elements,
// none included.
type pattern struct{ parts []string }

const anyDepth = "**"

// newPattern reads the word; ok is false if it matches nothing sensible, such
// as a negation.
func newPattern(word string) (p pattern, ok bool) {
	if strings.HasPrefix(word, "!") {
		return pattern{}, false
	}
	rest, rooted := strings.CutPrefix(word, "/")
	rest, folder := strings.CutSuffix(rest, "/")
	if rest == "" {
		return pattern{}, false
	}
	parts := strings.Split(rest, "/")
	// A slash anywhere but at the end ties a pattern to the root.
	rooted = rooted || len(parts) > 1
	if !rooted {
		parts = append([]string{anyDepth}, parts...)
	}
	switch last := parts[len(parts)-1]; {
	case folder, last == anyDepth:
		parts = append(parts, "*", anyDepth)
	// docs/* does not match folders in docs.
	case rooted && last == "*" && len(parts) > 1:
	default:
		parts = append(parts, anyDepth)
	}
	return pattern{parts}, true
}

// matches compares the parts with the elements of a path. Only the last
// anyDepth so far needs to grow: an earlier one could only leave less for the
// parts that follow.
func (p pattern) matches(elements []string) bool {
	i, grow, from := 0, -1, 0
	for j := 0; j < len(elements); {
		switch {
		case i < len(p.parts) && p.parts[i] == anyDepth:
			grow, from = i, j
			i++
		case i < len(p.parts) && matchGlob(p.parts[i], elements[j]):
			i++
			j++
		case grow >= 0:
			from++
			i, j = grow+1, from
		default:
			return false
		}
	}
	for i < len(p.parts) && p.parts[i] == anyDepth {
		i++
	}
	return i == len(p.parts)
}

// matchGlob compares one part with one element in the same way: * is any text,
// ? one character, and a backslash takes the meaning from what follows.
func matchGlob(glob, text string) bool {
	i, grow, from := 0, -1, 0
	for j := 0; j < len(text); {
		if i < len(glob) && glob[i] == '*' {
			i++
			grow, from = i, j
			continue
		}
		if n, m := matchOne(glob[i:], text[j:]); n > 0 {
			i, j = i+n, j+m
			continue
		}
		if grow < 0 {
			return false
		}
		from++
		i, j = grow, from
	}
	return strings.Trim(glob[i:], "*") == ""
}

// matchOne compares what glob and text begin with, no * among it, and returns
// how many bytes of each that was, 0 if they differ.
func matchOne(glob, text string) (n, m int) {
	switch {
	case glob == "":
		return 0, 0
	case glob[0] == '?':
		_, m = utf8.DecodeRuneInString(text)
		return 1, m
	case glob[0] == '\\' && len(glob) > 1:
		if glob[1] == text[0] {
			return 2, 1
		}
		return 0, 0
	case glob[0] == text[0]:
		return 1, 1
	}
	return 0, 0
}
