// Package backup is about copies of data directories elsewhere. What a data
// directory remembers of its backups comes in and goes out as a Record.
package backup
