// Package worldtest opens what tests of httpapi's packages serve: a store, its users, its
// repositories and a gate. Options and names come in; a World goes out, which closes
// itself when the test ends and fails it when that goes wrong. It knows no endpoint, so
// that internal tests of any package above httpapi/auth may use it. Tests may import it,
// and nothing else may.
package worldtest
