// Package needs takes the names of programs that tests run besides Go and git and
// returns their paths, or skips the test if the program is not installed. It also
// puts a git that hangs in the place of git. Only tests import it.
//
// A skipped test names the Debian package that it needs. .ci/run installs all of
// these packages and fails if a test is skipped.
package needs
