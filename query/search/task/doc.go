// Package task has what every step of a search works with: its snapshot, the
// repositories that exist for its client, its slots of the machine and of git, its
// clock, and the account that it keeps of what could not be read. search makes one
// for each search. It knows no query.
package task
