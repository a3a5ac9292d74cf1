// Package match decides what a document's text holds. A pattern comes in and
// becomes a Matcher; a document's text, with the blocks the posting lists left
// as candidates, leaves as the spans of all matches, and spans leave as chunks
// of whole lines. query/search calls it for one document after the other.
//
// The answers are those of Go's regexp over the whole text: leftmost-first, not
// overlapping, in multi-line mode, with empty matches dropped. It is faster
// only because it looks at fewer places. A literal is searched inside candidate
// blocks. A regexp runs where a literal stands with which each of its matches
// begins, or on the lines with a literal that each match must have. The package
// knows no repositories and no limits.
package match
