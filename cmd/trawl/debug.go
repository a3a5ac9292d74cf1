package main

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/httpapi/auth"
)

// debugServer serves metrics and profiles to clients on the machine.
type debugServer struct {
	listener net.Listener
	server   *http.Server
	served   chan struct{} // closed when serving has ended
}

// openDebug listens, so that a taken port is an error.
func openDebug(addr string, public bool, page http.Handler, log zerolog.Logger) (*debugServer, error) {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("debug-listen: %w", err)
	}
	handler := debugHandler(page)
	if !public {
		handler = noPages(handler)
	}
	d := &debugServer{
		listener: listener,
		// A profile takes as long as it is asked to, so there is no limit on
		// writing.
		server: &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute},
		served: make(chan struct{}),
	}
	go func() {
		defer close(d.served)
		if err := d.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			log.Error().Err(err).Msg("serve metrics and profiles")
		}
	}()
	log.Info().Str("url", d.url()).Msg("serving metrics and profiles")
	return d, nil
}

func (d *debugServer) url() string { return "http://" + d.listener.Addr().String() }

// close ends it at once: half a profile is of no use.
func (d *debugServer) close() error {
	if d == nil {
		return nil
	}
	err := d.server.Close()
	<-d.served
	return err
}

func debugHandler(page http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET "+metricsPath, page)
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return mux
}

// noPages refuses what a web page may have caused: one whose name leads to this
// machine reaches what only this machine does.
func noPages(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if _, _, err := net.SplitHostPort(host); err != nil {
			host = net.JoinHostPort(host, "80")
		}
		site := r.Header.Get("Sec-Fetch-Site")
		if !auth.LoopbackOnly(host) || r.Header.Get("Origin") != "" || site != "" && site != "none" && site != "same-origin" || auth.Forwarded(r) {
			http.Error(w, "this address answers programs on the same machine, asked for by its own name", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// openDebugServer opens the debug server of the settings, nil if there is to be
// none.
func (h *host) openDebugServer() (*debugServer, error) {
	if h.set.DebugListen == "" {
		return nil, nil
	}
	return openDebug(h.set.DebugListen, h.set.DebugPublic, h.metrics.Handler(), h.log)
}
