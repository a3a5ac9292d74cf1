package hosts

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"sync"
	"time"
)

// Proxy is an HTTP proxy on this machine through which git reaches what a
// Guard lets it. Only who knows its URL, which holds a secret, can use it.
type Proxy struct {
	guard    Guard
	secret   string
	listener net.Listener
	server   *http.Server
	served   chan struct{} // closed when serving has ended
	forward  *httputil.ReverseProxy

	mu sync.Mutex // guards tunnels
	// tunnels are the open connections of CONNECT, nil once closed.
	tunnels map[net.Conn]struct{}
}

// OpenProxy listens on a free port.
func OpenProxy(g Guard) (*Proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for git: %w", err)
	}
	p := &Proxy{guard: g, secret: rand.Text(), listener: listener, served: make(chan struct{}), tunnels: map[net.Conn]struct{}{}}
	p.forward = &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.Header.Del("Proxy-Authorization")
			r.Out.Header.Del("Proxy-Connection")
		},
		Transport:     &http.Transport{DialContext: g.Dial, DisableKeepAlives: true},
		FlushInterval: -1,
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, proxyError(err), http.StatusBadGateway)
		},
	}
	p.server = &http.Server{Handler: http.HandlerFunc(p.serve), ReadHeaderTimeout: 10 * time.Second}
	go func() {
		defer close(p.served)
		_ = p.server.Serve(listener) // ends with Close
	}()
	return p, nil
}

// URL is what git takes as its proxy. It holds the secret.
func (p *Proxy) URL() string { return "http://trawl:" + p.secret + "@" + p.listener.Addr().String() }

// Close ends all connections.
func (p *Proxy) Close() error {
	err := p.server.Close()
	p.mu.Lock()
	for c := range p.tunnels {
		_ = c.Close() // its user gets the error
	}
	p.tunnels = nil
	p.mu.Unlock()
	<-p.served
	return err
}

func (p *Proxy) serve(w http.ResponseWriter, r *http.Request) {
	// BasicAuth reads a header of that form whatever its name.
	given := &http.Request{Header: http.Header{"Authorization": r.Header["Proxy-Authorization"]}}
	_, secret, _ := given.BasicAuth()
	if subtle.ConstantTimeCompare([]byte(secret), []byte(p.secret)) != 1 {
		w.Header().Set("Proxy-Authenticate", `Basic realm="trawl"`)
		http.Error(w, "this proxy is for trawl's own git", http.StatusProxyAuthRequired)
		return
	}
	switch {
	case r.Method == http.MethodConnect:
		p.tunnel(w, r)
	case r.URL.Scheme == "http" && r.URL.Host != "":
		p.forward.ServeHTTP(w, r)
	default:
		http.Error(w, "no address to go to", http.StatusBadRequest)
	}
}

// proxyError is the part of an error that git shows; the rest could reveal the
// network.
func proxyError(err error) string {
	if errors.Is(err, ErrAddress) {
		return ErrAddress.Error()
	}
	return "cannot connect"
}

// tunnel connects both sides of a CONNECT.
func (p *Proxy) tunnel(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), dialTimeout)
	defer cancel()
	there, err := p.guard.Dial(ctx, "tcp", r.Host)
	if err != nil {
		status := http.StatusBadGateway
		if errors.Is(err, ErrAddress) {
			status = http.StatusForbidden
		}
		http.Error(w, proxyError(err), status)
		return
	}
	defer there.Close()
	here, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, "cannot connect", http.StatusInternalServerError)
		return
	}
	defer here.Close()
	if !p.keep(here, there) {
		return
	}
	defer p.drop(here, there)
	if _, err := io.WriteString(here, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	back := make(chan struct{})
	go func() {
		defer close(back)
		_, _ = io.Copy(here, there) // either side may end it
		_ = here.Close()
	}()
	_, _ = io.Copy(there, buffered)
	_ = there.Close()
	<-back
}

func (p *Proxy) keep(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		if p.tunnels == nil {
			return false
		}
		p.tunnels[c] = struct{}{}
	}
	return true
}

func (p *Proxy) drop(conns ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		delete(p.tunnels, c)
	}
}
