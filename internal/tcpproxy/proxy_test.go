package tcpproxy_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/internal/tcpproxy"
)

// patience is how long a test waits for what has to come.
const patience = 30 * time.Second

// echo starts a server that returns what it gets.
func echo(t *testing.T) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				_, _ = io.Copy(conn, conn)
			}()
		}
	}()
	return l.Addr().String()
}

func dial(t *testing.T, p *tcpproxy.Proxy) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", p.Address())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// ask sends a text and returns what comes back before the connection ends or all is
// there.
func ask(t *testing.T, conn net.Conn, text []byte) ([]byte, error) {
	t.Helper()
	if _, err := conn.Write(text); err != nil {
		return nil, err
	}
	got := make([]byte, len(text))
	n, err := io.ReadFull(conn, got)
	return got[:n], err
}

func TestProxyPassesAllBytes(t *testing.T) {
	p := tcpproxy.New(t, "tcp", echo(t))
	p.Delay(time.Millisecond)
	text := bytes.Repeat([]byte("0123456789"), 10_000)
	if got, err := ask(t, dial(t, p), text); err != nil || !bytes.Equal(got, text) {
		t.Errorf("%d bytes came back of %d, %v", len(got), len(text), err)
	}
}

func TestProxyCutsAtAByte(t *testing.T) {
	p := tcpproxy.New(t, "tcp", echo(t))
	for _, n := range []int64{0, 1, 9, 15} {
		conn, other := dial(t, p), dial(t, p)
		for _, c := range []net.Conn{conn, other} { // both have reached the server
			if _, err := ask(t, c, []byte("x")); err != nil {
				t.Fatal(err)
			}
		}
		p.CutAfter(n)
		got, err := ask(t, conn, []byte("0123456789"))
		if err == nil || len(got) > int(max(0, n-10)) { // ten to the server, the rest on the way back
			t.Errorf("cut after %d bytes: got %q, %v", n, got, err)
		}
		if _, err := ask(t, other, []byte("x")); err == nil {
			t.Errorf("cut after %d bytes: another connection stays", n)
		}
	}
	if p.Cuts() != 4 {
		t.Errorf("%d cuts, want 4", p.Cuts())
	}
	if got, err := ask(t, dial(t, p), []byte("again")); err != nil {
		t.Errorf("after the cuts: got %q, %v", got, err)
	}
}

func TestProxyStallsAndRefuses(t *testing.T) {
	p := tcpproxy.New(t, "tcp", echo(t))
	conn := dial(t, p)
	p.Stall(true)
	if err := conn.SetReadDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	var timeout net.Error
	if got, err := ask(t, conn, []byte("x")); !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Errorf("stalled: got %q, %v", got, err)
	}
	p.Refuse(true)
	p.Stall(false)
	if err := conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadFull(conn, make([]byte, 1)); err != nil {
		t.Errorf("no longer stalled: got %d bytes, %v", got, err)
	}
	if got, err := ask(t, dial(t, p), []byte("x")); err == nil {
		t.Errorf("refused: got %q", got)
	}
	p.Refuse(false)
	if got, err := ask(t, dial(t, p), []byte("x")); err != nil {
		t.Errorf("no longer refused: got %q, %v", got, err)
	}
}

func TestProxyStallsAtAByte(t *testing.T) {
	p := tcpproxy.New(t, "tcp", echo(t))
	conn := dial(t, p)
	p.StallAfter(14) // ten to the server, and four of the answer
	if _, err := conn.Write([]byte("0123456789")); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 10)
	if _, err := io.ReadFull(conn, got[:4]); err != nil {
		t.Fatal(err)
	}
	if err := conn.SetReadDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if n, err := conn.Read(got[4:]); err == nil {
		t.Errorf("stalled: got %q", got[4:4+n])
	}
	p.Stall(false)
	if err := conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(conn, got[4:]); err != nil || string(got) != "0123456789" {
		t.Errorf("no longer stalled: got %q, %v", got, err)
	}
}
