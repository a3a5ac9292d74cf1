// Package trace keeps what the newest searches did. A search comes in when it starts
// and ends; its steps, outcome and progress go out, to the client that it belongs to.
// Each client keeps a fair part. It knows no page: httpapi shows traces.
package trace
