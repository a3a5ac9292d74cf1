// Package decode reads the numbers and texts of encoded records and tables. Bytes
// come in and leave as values, with one verdict at the end; damaged bytes cause
// neither a panic nor a large allocation.
package decode
