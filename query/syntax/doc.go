// Package syntax turns query text into a validated query.Query and back into
// text. Text comes in with the pattern type of its request. The scanner cuts it
// into leaves, and the parser builds a tree of them. The tree is rewritten step
// by step: filters lifted out of an "or", neighbouring patterns combined, the
// whole split into basic queries, each of which is validated. The first thing
// wrong comes out as a query.SyntaxError with its place and, where one can be
// guessed, a mended fragment.
//
// The package is a function of the text alone: it reads no repository, no
// index and no clock. Its work grows linearly with the text, and texts beyond
// its limits are refused by name rather than read slowly.
package syntax
