// Package finder finds files by parts of their paths: a pattern comes in, and the best
// paths that the asker may see come out, of one repository or of all. The paths are the
// store's, or git's for a revision that is not indexed; no text is read.
package finder
