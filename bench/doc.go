// Package bench measures trawl from outside. A corpus and a query set come in;
// the trawl binary is run as any user would run it, other search tools answer
// the same questions over the same files, and a [Report] goes out. Its callers
// are cmd/trawl-bench and its own tests. It refuses to know how trawl works:
// what it sees is child processes, a data directory and an HTTP stream.
//
// A fast wrong answer is worthless, so every query is compared line by line
// with its peers before any time of it is believed.
//
// The package holds Config structs and Run functions; it has no flags, prints
// nothing by itself and keeps no state between runs.
package bench
