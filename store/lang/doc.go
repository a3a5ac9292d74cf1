// Package lang says which language a file is in. Paths, and the first bytes of
// files where the path does not decide, come in from store/ingest and leave as
// linguist language names; the value of a lang: filter comes in from query and
// leaves as a language name, then as the file-name rule that filter stands for.
//
// The tables are linguist's, through go-enry's data package, with three
// languages and a few exclusive extensions of our own. Only that package is
// imported: go-enry itself links a trained classifier whose 11 MB of tables
// cost every start of the program 9 ms, for files that a fixed order of
// likelihood settles nearly as well.
package lang
