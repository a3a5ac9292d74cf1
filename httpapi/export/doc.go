// Package export writes the answer of a search as a table. Matches come in one by
// one, from a search of this program or as a client of the stream decoded them;
// rows of comma-separated values go out, a row for each result that is counted.
//
// The page and the command both write through it, so that one query gives one
// table. It keeps nothing but the row it writes, and knows nothing of searching,
// of requests and of who may see what.
package export
