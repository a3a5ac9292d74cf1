// Package groups counts the results of a search by what they have in common: their
// repository, file, author, or what a group of a regular expression matched. Matches
// come in as they are found, and counts go out, the largest first. It keeps no match.
package groups
