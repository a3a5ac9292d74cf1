// Package progress shows what syncs do. Reports of ingest come in, one task
// per repository; bars on a terminal, lines of text or log lines go out. The
// commands of trawl choose which, and send their log through the same Display
// so that a line never tears a bar.
//
// It decides nothing about syncs and asks no clock but the one it is given.
package progress
