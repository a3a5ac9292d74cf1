// Package score rates documents. What was found in a document comes in: the spans
// of the patterns, the definitions, the path; points go out. It is a function of
// what it is given, and the only place that says what a match is worth.
package score
