// Package owners reads CODEOWNERS files. The text of one comes in, and for a
// path of the same tree its owners come out, as they are written there:
// handles, teams and e-mail addresses. query/search calls it; it knows no
// repositories and no users.
//
// A line is a pattern and its owners. The last line whose pattern matches a
// path decides, and one without owners leaves it without owners. Patterns are
// those of .gitignore without negation and character classes:
//
//	*.go            any .go file
//	docs            a file or folder called docs, wherever it is
//	docs/           a folder called docs, wherever it is
//	/docs/          the folder docs at the root
//	docs/*          what stands directly in the folder docs at the root
//	a/**/b          b anywhere below a
//
// A line [Name] begins a section, in which a line without owners has those
// behind the name: [Name] @team. Each section decides for itself, and a path
// is owned by all it was given in any of them.
package owners
