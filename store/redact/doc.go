// Package redact takes secrets out of what is shown. An address of a repository,
// a service or a bucket comes in, or a text with addresses in it; the same leaves
// without user names, passwords, values of query parameters and fragments.
//
// Everything that leaves the program goes through it: answers, pages, logs, the
// audit log, errors and records of them. It parses addresses with net/url, and
// hides those that do not parse. Where a text can be read in two ways, it takes
// the one that hides more.
package redact
