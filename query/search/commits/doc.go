// Package commits searches messages and diffs. Basic queries come in; the
// history shards are planned, commits are put in the order of git's log, and
// verified; those that the index does not have are read through git. Matches go to
// the answer.
package commits
