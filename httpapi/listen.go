package httpapi

import (
	"context"
	"errors"
	"fmt"
	stdlog "log"
	"net"
	"net/http"
	"sync"
)

// Open listens, so that a taken port is an error, and serves until Close. Where
// Addr is not reached over loopback, it also listens on a port of loopback that
// the system chooses: only there can it recognise programs of this machine.
func (s *Server) Open() error {
	var err error
	if s.listener, err = listen(s.Addr); err != nil {
		return err
	}
	listeners := []net.Listener{s.listener}
	if !reachedOverLoopback(s.listener.Addr()) {
		if s.inner, err = listenInside(); err != nil {
			return errors.Join(err, s.listener.Close())
		}
		listeners = append(listeners, s.inner)
	}
	s.served = make(chan struct{})
	// HTTP/2 is for a proxy in front, which has limits for the streams of one
	// connection.
	protocols := &http.Protocols{}
	protocols.SetHTTP1(true)
	s.server = &http.Server{
		Protocols:         protocols,
		Handler:           s.Handler(),
		ReadHeaderTimeout: s.HeaderTimeout,
		// Streams move this deadline with every event.
		WriteTimeout:   s.WriteTimeout,
		IdleTimeout:    idleTimeout,
		MaxHeaderBytes: maxHeaderBytes,
		ErrorLog:       stdlog.New(connectionLog{s.Log}, "", 0),
	}
	var serving sync.WaitGroup
	for _, l := range listeners {
		serving.Go(func() {
			if err := s.server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
				s.Log.Error().Err(err).Msg("serve")
			}
		})
	}
	go func() {
		serving.Wait()
		close(s.served)
	}()
	return nil
}

func listen(address string) (net.Listener, error) {
	l, err := listenConfig.Listen(context.Background(), "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen on %q: %w", address, err)
	}
	return l, nil
}

// listenInside listens on a free port of loopback.
func listenInside() (net.Listener, error) {
	l, err := listen("127.0.0.1:0")
	if err != nil {
		l, err = listen("[::1]:0") // a machine without IPv4
	}
	return l, err
}

// reachedOverLoopback reports whether what listens on an address is reached by
// 127.0.0.1 or ::1, too.
func reachedOverLoopback(a net.Addr) bool {
	tcp, ok := a.(*net.TCPAddr)
	return ok && (tcp.IP.IsLoopback() || tcp.IP.IsUnspecified())
}

// URL is where the opened server listens.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() }

// LocalAddr is the address, as host:port, of what programs of this machine reach
// the opened server by. Its host may stand for every interface.
func (s *Server) LocalAddr() string {
	if s.inner != nil {
		return s.inner.Addr().String()
	}
	return s.listener.Addr().String()
}
