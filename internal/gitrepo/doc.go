// Package gitrepo makes git repositories for tests, by the git binary and
// independently of the code that reads them. Commands come in; their output goes
// out, or the test fails with what git said. No configuration of the machine or of
// its user changes what git does. Tests of any folder may import it, and nothing else may.
package gitrepo
