// Command trawl-bench measures trawl and compares its answers with those of
// other search tools. Command lines come in; package bench does the work; a
// report goes out as a table, as JSON or as Go benchmark lines. bench/README.md
// explains the figures.
package main
