// Package table keeps records of one type in the store, each under a key of
// one type. A key and a value come in and become the bytes of a record; the
// bytes come back and leave as the value, once the key fits the table, the
// value decodes, and the value belongs to the key. Anything else is
// store.ErrCorrupt: a damaged record never stands for another one.
//
// store/identity, store/oauth and store/saved say in one declaration for each
// kind what its records are. The package holds no state and takes no lock: its
// callers order their changes, and decide what happens about damage.
package table
