// Package verify confirms candidates. A plan and documents of its shard come in;
// the text is read, the patterns are tried, and matches with scores and chunks go
// out. A Verifier belongs to one goroutine. It knows no limits and no order of
// documents.
package verify
