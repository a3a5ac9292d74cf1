package tcpproxy

import (
	"fmt"
	"math/rand/v2"
	"net"
)

// Ports below those that systems give to who asks for any (RFC 6335), which another
// program may be given before a server listens.
const (
	firstPort = 20_000
	ports     = 12_000
)

// FreeAddress returns a loopback address that nothing listened on just before.
func FreeAddress() (address string, err error) {
	for range 100 {
		var l net.Listener
		if l, err = net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", firstPort+rand.IntN(ports))); err == nil {
			return l.Addr().String(), l.Close()
		}
	}
	return "", err
}
