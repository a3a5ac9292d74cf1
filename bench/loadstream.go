package bench

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// windowBytes is what the system takes in for a stream that is not read, so that
// it is the server that has to wait.
const windowBytes = 32 << 10

// keepOpen keeps a stream open until ctx ends, a new one when one has ended. It
// reports the first.
func (l *loader) keepOpen(ctx context.Context, n int, opened chan<- struct{}) {
	rng := rand.New(rand.NewPCG(l.Seed, uint64(n)<<8|3))
	for ctx.Err() == nil {
		err := l.readSlowly(ctx, l.word(rng)+" count:all", func() {
			if opened != nil {
				opened <- struct{}{}
				opened = nil
			}
		})
		if err != nil && ctx.Err() == nil {
			l.fail(fmt.Errorf("stream %d: %w", n, err))
			pause(ctx, time.Second)
		}
	}
}

// dialStream asks for a stream on a connection of its own.
func (l *loader) dialStream(ctx context.Context, query string) (net.Conn, *http.Response, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", strings.TrimPrefix(l.base, "http://"))
	if err != nil {
		return nil, nil, err
	}
	if err := conn.(*net.TCPConn).SetReadBuffer(windowBytes); err != nil {
		return nil, nil, errors.Join(err, conn.Close())
	}
	_, err = fmt.Fprintf(conn, "GET /.api/search/stream?display=-1&q=%s HTTP/1.1\r\nHost: localhost\r\n\r\n", url.QueryEscape(query))
	if err != nil {
		return nil, nil, errors.Join(err, conn.Close())
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Now()) })
	defer stop()
	resp, err := http.ReadResponse(bufio.NewReaderSize(conn, 1<<10), nil)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = errors.New(resp.Status)
	}
	if err != nil {
		return nil, nil, errors.Join(err, conn.Close())
	}
	return conn, resp, nil
}

// readSlowly reads a stream to its end, a little each second.
func (l *loader) readSlowly(ctx context.Context, query string, opened func()) error {
	conn, resp, err := l.dialStream(ctx, query)
	if err != nil {
		return err
	}
	defer conn.Close()
	opened()
	l.count(func(r *LoadReport) { r.Opened++ })
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	piece, last := make([]byte, l.BytesPerSecond), make([]byte, 0, 64)
	for {
		n, err := readUntil(ctx, conn, resp.Body, piece)
		l.count(func(r *LoadReport) { r.StreamBytes += int64(n) })
		last = append(last, piece[:n]...)
		last = last[max(len(last)-len(endOfStream), 0):]
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			if bytes.Equal(last, []byte(endOfStream)) {
				return nil
			}
			return fmt.Errorf("%q ended without done: %q", query, last)
		}
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

const endOfStream = "event: done\ndata: {}\n\n"

// readUntil fills p unless the stream or ctx ends before.
func readUntil(ctx context.Context, conn net.Conn, r io.Reader, p []byte) (int, error) {
	stop := context.AfterFunc(ctx, func() { _ = conn.SetReadDeadline(time.Now()) })
	defer stop()
	return io.ReadFull(r, p)
}

func (l *loader) count(f func(*LoadReport)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f(&l.report)
}

// askWithin is when a query counts as not answered.
const askWithin = 30 * time.Second

// ask asks one query of some results and reads all of its answer.
func (l *loader) ask(rng *rand.Rand) {
	ctx, cancel := context.WithTimeout(context.Background(), askWithin)
	defer cancel()
	query := l.word(rng) + []string{" count:50", " count:100 type:path", " count:20 case:yes", " " + l.word(rng) + " count:50"}[rng.IntN(4)]
	a := newAsker(l.base, "")
	defer a.close()
	start := time.Now()
	_, err := a.search(ctx, query, "keyword", func([]byte) error { return nil })
	if err != nil {
		l.fail(fmt.Errorf("query %q: %w", query, err))
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.took = append(l.took, time.Since(start))
}

// endWithin is when a search whose client has left counts as one that does not
// end.
const endWithin = 10 * time.Second

// leave begins a search that takes long, goes away in the middle, and sees when
// the server says that the request has ended, with all that it had begun.
func (l *loader) leave(rng *rand.Rand) {
	ctx, cancel := context.WithTimeout(context.Background(), askWithin)
	defer cancel()
	query := []string{l.word(rng) + ` /\w{5}\s+\w{5}\s+\w{5}/ count:all`, `/[^a]{40}z$/ or ` + l.word(rng) + " count:all", l.word(rng) + " count:all"}[rng.IntN(3)]
	conn, resp, err := l.dialStream(ctx, query)
	if err != nil {
		l.fail(fmt.Errorf("query %q: %w", query, err))
		return
	}
	pause(ctx, time.Duration(rng.IntN(100))*time.Millisecond)
	id := resp.Header.Get("X-Trace")
	ended := l.ends.of(id)
	left := time.Now()
	_ = conn.Close() // the server sees it go
	select {
	case e := <-ended:
		if e.outcome != "done" { // else the answer had left before
			l.mu.Lock()
			l.cancelled = append(l.cancelled, max(e.at.Sub(left), 0))
			l.mu.Unlock()
		}
	case <-time.After(endWithin):
		l.fail(fmt.Errorf("query %q has not ended %s after its client left", query, endWithin))
	}
}
