package tcpproxy

import (
	"net"
	"sync"
	"testing"
	"time"
)

// pieceBytes is how much the proxy passes on at once.
const pieceBytes = 16 << 10

// stallTime is how long AwaitStall waits.
const stallTime = 30 * time.Second

// Proxy listens on a port of this machine and passes on to a server what it gets. It
// is safe for concurrent use.
type Proxy struct {
	network, server string
	listener        net.Listener
	copying         sync.WaitGroup

	mu      sync.Mutex // guards the rest
	changed *sync.Cond // of delay, stalled, closed and conns
	conns   map[net.Conn]bool
	closed  bool
	refused bool
	stalled bool
	delay   time.Duration
	left    int64 // bytes that pass until all connections are cut or stalled, -1 for all
	stalls  bool  // what happens then
	cuts    int
}

// Listen starts a proxy before a server, which it reaches as net.Dial does. The
// caller closes it.
func Listen(network, server string) (*Proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{network: network, server: server, listener: l, conns: map[net.Conn]bool{}, left: -1}
	p.changed = sync.NewCond(&p.mu)
	p.copying.Add(1)
	go p.accept()
	return p, nil
}

// New starts a proxy that ends with the test.
func New(t testing.TB, network, server string) *Proxy {
	t.Helper()
	p, err := Listen(network, server)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// Address returns host and port of the proxy.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

// Cut closes all connections, in the middle of what they are sending.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut()
}

func (p *Proxy) cut() {
	p.left = -1
	p.cuts++
	for conn := range p.conns {
		if c, ok := conn.(*net.TCPConn); ok {
			_ = c.SetLinger(0) // a reset, as of a peer that is gone
		}
		conn.Close()
	}
	clear(p.conns)
	p.changed.Broadcast()
}

// CutAfter cuts all connections once n more bytes have passed, in either direction.
// Connections made afterwards work.
func (p *Proxy) CutAfter(n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left, p.stalls = n, false
}

// StallAfter is CutAfter for Stall.
func (p *Proxy) StallAfter(n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left, p.stalls = n, true
}

// Cuts returns how often connections were cut.
func (p *Proxy) Cuts() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cuts
}

// Stall keeps all bytes back, or no longer. Connections stay and can be made.
func (p *Proxy) Stall(stalled bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stalled = stalled
	p.changed.Broadcast()
}

// AwaitStall waits until bytes are kept back.
func (p *Proxy) AwaitStall(t testing.TB) {
	t.Helper()
	over := false
	timer := time.AfterFunc(stallTime, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		over = true
		p.changed.Broadcast()
	})
	defer timer.Stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	for !p.stalled {
		if over {
			t.Fatalf("nothing is stalled after %v", stallTime)
		}
		p.changed.Wait()
	}
}

// Refuse closes new connections at once, or no longer.
func (p *Proxy) Refuse(refused bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refused = refused
}

// Heal passes all bytes on again and takes new connections.
func (p *Proxy) Heal() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refused, p.stalled, p.delay, p.left = false, false, 0, -1
	p.changed.Broadcast()
}

// Delay keeps each piece of bytes back for d.
func (p *Proxy) Delay(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay = d
}

// Close cuts all connections and ends the proxy.
func (p *Proxy) Close() error {
	err := p.listener.Close()
	p.mu.Lock()
	p.closed = true
	p.cut()
	p.mu.Unlock()
	p.copying.Wait()
	return err
}

func (p *Proxy) accept() {
	defer p.copying.Done()
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial(p.network, p.server)
		if err != nil || !p.add(client, server) {
			client.Close()
			if err == nil {
				server.Close()
			}
			continue
		}
		go p.copy(server, client)
		go p.copy(client, server)
	}
}

// add adds both ends of a connection, unless connections are refused.
func (p *Proxy) add(client, server net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.refused || p.closed {
		return false
	}
	p.conns[client], p.conns[server] = true, true
	p.copying.Add(2)
	return true
}

// copy passes bytes on until one end closes, and closes both.
func (p *Proxy) copy(to, from net.Conn) {
	defer p.copying.Done()
	defer p.remove(to, from)
	buf := make([]byte, pieceBytes)
	for {
		n, err := from.Read(buf)
		for rest := buf[:n]; len(rest) > 0; {
			pass, open := p.take(from, len(rest))
			if _, err := to.Write(rest[:pass]); err != nil || !open {
				return
			}
			rest = rest[pass:]
		}
		if err != nil {
			return
		}
	}
}

// take waits until some of n bytes may pass and returns how many do. open is false if
// the connection was cut meanwhile.
func (p *Proxy) take(from net.Conn, n int) (pass int, open bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.delay > 0 {
		p.wait(p.delay, from)
	}
	if p.left == 0 {
		p.left = -1
		if p.stalls {
			p.stalled = true
			p.changed.Broadcast()
		} else {
			p.cut()
		}
	}
	for p.stalled && p.conns[from] {
		p.changed.Wait()
	}
	if !p.conns[from] {
		return 0, false
	}
	if p.left >= 0 {
		n = int(min(p.left, int64(n)))
		p.left -= int64(n)
	}
	return n, true
}

// wait waits for d, or until the connection is cut. mu is held before and after.
func (p *Proxy) wait(d time.Duration, from net.Conn) {
	over := false
	timer := time.AfterFunc(d, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		over = true
		p.changed.Broadcast()
	})
	defer timer.Stop()
	for !over && p.conns[from] {
		p.changed.Wait()
	}
}

func (p *Proxy) remove(conns ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conn := range conns {
		delete(p.conns, conn)
		conn.Close()
	}
}
