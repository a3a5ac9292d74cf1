// Package postgrestest starts PostgreSQL servers for tests, and kills, pauses and
// restarts them. A test asks for a server and gets the address of one of its own, on
// a socket in a temporary folder, which ends with the test. Tests are skipped where
// PostgreSQL is not installed. Only tests import it.
package postgrestest
