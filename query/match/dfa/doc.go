// Package dfa finds the matches of a regexp in bytes, one table look-up a
// byte. A parsed regexp comes in and becomes two byte programs, one forwards
// and one backwards; text comes in and match by match leaves, with the offsets
// that Go's regexp package gives. query/match uses it where a pattern has no
// literal that would say where to look.
//
// The states of the automata are built when a text first needs them and kept
// in a cache of bounded size. The forward automaton keeps its threads in order
// of preference and so finds where the leftmost-first match ends; the backward
// one, begun there, finds the leftmost place at which a match may begin, which
// is where it does begin (Cox, "Regular Expression Matching in the Wild", 2010).
//
// Caveats. Text must be valid UTF-8: Go's regexp reads an invalid byte as
// U+FFFD of width one, which depends on the bytes behind it. A regexp that may
// match the empty string is refused. When a text needs too many states the
// search gives up with ErrBudget. In all three cases the caller has Go's engine.
package dfa
