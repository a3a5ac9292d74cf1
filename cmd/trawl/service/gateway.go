package service

import (
	"sync"

	"github.com/trawlsearch/trawl/httpapi/hosts"
)

// gateway is how sources that were named over the API are reached.
type gateway struct {
	guard hosts.Guard

	mu    sync.Mutex // guards proxy
	proxy *hosts.Proxy
}

// url opens the proxy when it is first needed.
func (g *gateway) url() (string, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.proxy == nil {
		p, err := hosts.OpenProxy(g.guard)
		if err != nil {
			return "", err
		}
		g.proxy = p
	}
	return g.proxy.URL(), nil
}

func (g *gateway) close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.proxy == nil {
		return nil
	}
	return g.proxy.Close()
}
