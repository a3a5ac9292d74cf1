// Package ident finds where identifiers and their words begin and end. The bytes
// of a text or a name come in; edges, classes of bytes and folded words go out.
// compile asks it for the words of a pattern, score for the ends of a match. It
// knows no query and no document.
package ident
