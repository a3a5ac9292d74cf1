package httpapi

import (
	"errors"
	"net"
	"syscall"
)

// unsentBytes is how much of what was written to a connection the system holds
// before it is on its way. Without a bound it is megabytes for every client that
// reads slowly, of memory that no setting knows of; what the client has let in
// does not count, so fast and far ones are as fast.
const unsentBytes = 128 << 10

// tcpNotSentLowat is TCP_NOTSENT_LOWAT of tcp(7), which package syscall does not
// name.
const tcpNotSentLowat = 25

// listenConfig has connections take the bound from the socket that listens.

var listenConfig = net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
	var failed error
	err := c.Control(func(fd uintptr) {
		failed = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpNotSentLowat, unsentBytes)
	})
	return errors.Join(err, failed)
}}
