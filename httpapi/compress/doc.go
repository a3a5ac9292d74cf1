// Package compress shares compressors among the answers of a server. What a client
// accepts comes in, and a compressor goes out if it takes gzip and there is memory for
// one. It knows no answer.
package compress
