// Package tcpproxy is a network that fails when a test wants it to. Bytes of a client
// come in and reach a server, and back, until the test cuts, stalls or delays them or
// refuses connections. It knows no protocol. Only tests and package bench import it.
package tcpproxy
