// Package ctags finds the definitions in source text with universal-ctags. A
// path and a text come in, symbols go out: their names, kinds, containers and
// lines. A Parser is one ctags process that is kept running and is fed through
// its pipe; store/ingest runs several.
//
// The text may be hostile. ctags runs in its sandbox where it has one, with its
// memory bounded and without options of its user. No name out of a repository
// becomes an argument or an opened file. A text that takes too long costs its
// process, not its caller. The package knows neither shards nor other names of
// kinds.
package ctags
