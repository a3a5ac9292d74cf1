package tcpproxy

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
)

// Ports below those that systems give to who asks for any (RFC 6335), which another
// program may be given before a server listens. Each program has a part of them: the
// tests of several packages start servers at the same time.
const (
	firstPort = 12_000
	ports     = 20_000
	parts     = 8
)

// port returns one of the ports of a program, by its path.
func port(program string) int {
	name := fnv.New32a()
	name.Write([]byte(filepath.Base(program)))
	part := int(name.Sum32() % parts)
	return firstPort + part*(ports/parts) + rand.IntN(ports/parts)
}

// Reserve listens on a loopback address that FreeAddress could return.
func Reserve() (l net.Listener, err error) {
	for range 100 {
		if l, err = net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port(os.Args[0]))); err == nil {
			break
		}
	}
	return l, err
}

// FreeAddress returns a loopback address that nothing listened on just before.
func FreeAddress() (address string, err error) {
	l, err := Reserve()
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}
