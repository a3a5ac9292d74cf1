// Package compile makes queries ready to run. A parsed basic query comes in;
// Queries go out: the atoms with their matchers and trigram expressions, the tree
// over them, filters, limits, the order in which lists are read, and the parts
// that are searched by themselves (symbols, commits). search calls it. It reads
// nothing and knows no snapshot: what it returns does not change.
package compile
