// Package migrations brings a store of an older format up to the newest. A
// store opened at its old version comes in and a newer one goes out, or the old
// one stays as it is: each step leads from one format version to the next, may
// be interrupted anywhere and run again, and records the new version last.
//
// There is one format so far and therefore no step. The package knows the chain
// of steps and nothing of when it is run.
package migrations
