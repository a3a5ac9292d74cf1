// Package git reads repositories through the git binary. A directory or a URL
// comes in; branch heads, tree entries, changes between two commits, commits with
// their diffs and blob contents go out, streamed, to store/ingest.
//
// Every child process runs with a scrubbed environment, without the machine's
// or the user's git configuration, without hooks, prompts or lazy fetches, and
// with only the transports its task needs. It runs in a process group of its
// own, which is killed when the context ends, and it is reaped before the
// function that started it returns; a BlobReader's child lives until Close.
// Passwords in URLs reach git through its environment alone: not the command
// line, not the mirror's configuration, not an error.
//
// Paths are bytes as git stores them, in a string that need not be valid UTF-8.
// Object ids are lower-case hex, 40 digits or 64 according to the repository.
// The package keeps no state besides the directories it is given.
package git
