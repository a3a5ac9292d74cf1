package loopback

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
)

// Transport is an http.RoundTripper that calls Handler. Each request has a
// goroutine, which has ended once the answer's body is closed.
type Transport struct{ Handler http.Handler }

// remoteAddr is who requests seem to come from.
const remoteAddr = "127.0.0.1:0"

// RoundTrip calls the handler and returns as soon as it has answered with a
// status.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(req.Context())
	r, w := io.Pipe()
	a := &answer{header: http.Header{}, body: w, begun: make(chan struct{})}
	ended := make(chan struct{})
	in := incoming(req.WithContext(ctx))
	go func() {
		defer close(ended)
		defer func() { a.end(recover()) }()
		t.Handler.ServeHTTP(a, in)
	}()
	body := &body{PipeReader: r, stop: cancel, ended: ended}
	// A handler that is cancelled before it answers has no answer.
	select {
	case <-a.begun:
	case <-ctx.Done():
		err := context.Cause(ctx)
		_ = body.Close()
		return nil, err
	}
	return &http.Response{
		Status:     fmt.Sprintf("%d %s", a.status, http.StatusText(a.status)),
		StatusCode: a.status,
		Proto:      "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        a.sent,
		Body:          body,
		ContentLength: -1,
		Request:       req,
	}, nil
}

// incoming makes of a client's request one that a server may have received.
func incoming(req *http.Request) *http.Request {
	in := req.Clone(req.Context())
	in.RemoteAddr = remoteAddr
	in.RequestURI = req.URL.RequestURI()
	in.Proto, in.ProtoMajor, in.ProtoMinor = "HTTP/1.1", 1, 1
	if in.Host == "" {
		in.Host = req.URL.Host
	}
	if in.Body == nil {
		in.Body = http.NoBody
	}
	return in
}

// answer is the handler's side. It is used by the handler's goroutine, and
// status and sent are read by the client once begun is closed.
type answer struct {
	header http.Header
	body   *io.PipeWriter
	once   sync.Once
	begun  chan struct{}
	status int
	sent   http.Header
}

func (a *answer) Header() http.Header { return a.header }

func (a *answer) WriteHeader(status int) {
	a.once.Do(func() {
		a.status, a.sent = status, a.header.Clone()
		close(a.begun)
	})
}

func (a *answer) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(p)
}

// Flush does what Write did: nothing is held back.
func (a *answer) Flush() { a.WriteHeader(http.StatusOK) }

// end finishes the answer; a handler that panicked has cut it off.
func (a *answer) end(panicked any) {
	if panicked == nil {
		a.WriteHeader(http.StatusOK)
		_ = a.body.Close() // never fails
		return
	}
	err := errors.New("the answer was cut off")
	if panicked != http.ErrAbortHandler {
		err = fmt.Errorf("handler panicked: %v", panicked)
	}
	a.WriteHeader(http.StatusInternalServerError)
	_ = a.body.CloseWithError(err)
}

// body is the client's side. Close cancels the request and waits for its
// handler.
type body struct {
	*io.PipeReader
	stop  context.CancelFunc
	ended <-chan struct{}
}

func (b *body) Close() error {
	b.stop()
	err := b.PipeReader.Close()
	<-b.ended
	return err
}
