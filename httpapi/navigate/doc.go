// Package navigate leads from a name to its definitions and references. A name
// and the file that it was met in come in; lines go out, nearest first. It compares
// names, by the index of symbols and by searches for words: it knows no types and no
// imports, and its callers say so to people. Parts of a name come in as well, and the
// definitions go out whose names have them.
//
// It searches as the stream does: for the client, in its turn, and in what the
// client may see. Agents and pages share it.
package navigate
