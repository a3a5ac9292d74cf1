// Package answer sends what a search has confirmed. Matches come in, in order; they
// become what select: asks for, are counted against the limits, and go to the Sink
// of the client. It knows no shards.
package answer
