// Package browse shows the contents of repositories: the address of a file, a
// directory, a commit or a list of commits comes in, and a page, the bytes
// themselves or an archive go out. It reads git through package code, never the
// index, so that each commit can be looked at whether it is searched or not.
//
// A user who may not see a repository is answered as if there were none, before
// anything of it is read. Names, texts and messages are those of strangers:
// pages are made by html/template, under a policy without scripts of others,
// and raw files are plain text whatever is in them. Symbolic links and
// submodules are shown and never followed; pages of theirs lead a person to what
// is meant.
package browse
