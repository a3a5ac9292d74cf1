// Package report is the account of one search. The search adds the matches that
// it confirmed and the documents that it skipped. Four views come out: progress
// with its skipped entries, suggested filters (facets), a trace of the work,
// and the coverage of each repository. It knows neither shards nor plans, and
// words every message about what is missing.
package report
