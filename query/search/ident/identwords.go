package ident

import (
	"strings"

	"github.com/trawlsearch/trawl/postings"
)

// Qualified splits a literal such as strings.Builder, Kiln::fire or lamp->wick
// into what a name belongs to and the name; both are empty for others.
func Qualified(literal string) (owner, member string) {
	for _, mark := range []string{"::", "->", "."} {
		owner, member, ok := strings.Cut(literal, mark)
		if ok && Is(owner) && Is(member) {
			return owner, member
		}
	}
	return "", ""
}

// Is reports whether s is an identifier.
func Is(s string) bool {
	for i := range len(s) {
		if c := Class(s[i]); c == Other || c == Digit && i == 0 {
			return false
		}
	}
	return s != ""
}

// Fold returns s in lower case, as posting lists have it.
func Fold(s string) string {
	b := []byte(s)
	for i, c := range b {
		b[i] = postings.Fold(c)
	}
	return string(b)
}

// Words appends the words of a name such as delta_cache, deltaCache or
// HTTPServer, as lists have them.
func Words(dst []string, name string) []string {
	from := 0
	for i := 1; i <= len(name); i++ {
		if Edge(name, i) == NoEdge && !acronymEnd(name, i) {
			continue
		}
		if c := Class(name[from]); c != Underscore && c != Other {
			dst = append(dst, Fold(name[from:i]))
		}
		from = i
	}
	return dst
}

// acronymEnd reports whether the last letter of an acronym stands before offset
// i: the next word has begun with its last upper-case letter.
func acronymEnd(name string, i int) bool {
	return i+1 < len(name) && Class(name[i-1]) == Upper && Class(name[i]) == Upper && Class(name[i+1]) == Lower
}

// Ends of identifiers and of their parts.
const (
	NoEdge = iota
	PartEdge
	WordEdge
)

// Edge returns what ends between the bytes before and behind offset i: an
// identifier, a part of one as in camelCase, snake_case and v2, or nothing.
func Edge[T string | []byte](text T, i int) int {
	if i <= 0 || i >= len(text) {
		return WordEdge
	}
	before, behind := Class(text[i-1]), Class(text[i])
	switch {
	case before == Other || behind == Other:
		return WordEdge
	case before != behind && (before != Upper || behind != Lower):
		return PartEdge
	}
	return NoEdge
}

// Classes of bytes.
const (
	Lower = iota
	Upper
	Digit
	Underscore
	// High are the bytes of runes outside ASCII.
	High
	Other
)

// Class returns the class of a byte.
func Class(c byte) int {
	switch {
	case 'a' <= c && c <= 'z':
		return Lower
	case 'A' <= c && c <= 'Z':
		return Upper
	case '0' <= c && c <= '9':
		return Digit
	case c == '_':
		return Underscore
	case c >= 0x80:
		return High
	}
	return Other
}
