// Package memorylog is a cluster.Log in memory, for tests of several nodes in one
// process. It goes away, comes back, loses its oldest entries and fails as tests
// want. It knows no record of the store.
package memorylog
