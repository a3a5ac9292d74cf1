// Package score rates documents. The matches of a document come in: the spans
// of the patterns, the definitions, the path; points go out. It is a pure
// function, and the only package that decides what a match is worth.
package score
