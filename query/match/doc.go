// Package match decides what a document's text holds. A pattern comes in and
// becomes a Matcher; a document's text, with the blocks the posting lists left
// as candidates, leaves as the spans of all matches, and spans leave as chunks
// of whole lines. query/search calls it for one document after the other.
//
// The answers are those of Go's regexp over the whole text: leftmost-first,
// not overlapping, in multi-line mode, with empty matches dropped. What makes
// it faster is only where it looks: a literal is searched inside candidate
// blocks, and a regexp runs where a literal stands with which each of its
// matches begins, or on the lines that hold one which each must have. The
// package knows no repositories and no limits.
package match
