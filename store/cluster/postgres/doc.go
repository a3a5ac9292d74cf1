// Package postgres keeps the log, the nodes and the leases of a cluster in a
// PostgreSQL database, or in one that speaks its protocol. Calls of the interfaces of
// package cluster come in and become single statements; rows come back as entries,
// nodes and leases.
//
// It uses what PostgreSQL 15, CockroachDB and YugabyteDB have in common: tables,
// primary keys, upserts, and common table expressions that write to different
// tables. It uses no sequences and no advisory locks, and does without LISTEN where
// there is none.
//
// A version is made by one statement, and so by one message: it compares and moves the
// head, whose row is the only lock, adds the entry, and sets the records. So no node
// that stops in the middle can hold the lock. Whether an entry is there is told by its
// ID, so that a statement whose answer was lost can be sent again.
package postgres
