package hosts

import (
	"net/url"
	"sync"
	"time"

	"github.com/trawlsearch/trawl/httpapi/hosts/codehost"
)

// Clients are those of the code hosts that are asked again and again: each knows the
// limits of its host and what that answered last. They are safe for concurrent use.
type Clients struct {
	Guard Guard

	mu        sync.Mutex // guards byService
	byService map[uint32]keptClient
}

// keptClient is the client of a service, for as long as that asks the same address.
type keptClient struct {
	*codehost.Client
	url  string
	pace time.Duration
}

// of returns the client of a service that asks an address, at a pace.
func (c *Clients) of(service uint32, at *url.URL, pace time.Duration) *codehost.Client {
	c.mu.Lock()
	defer c.mu.Unlock()
	kept, ok := c.byService[service]
	if ok && kept.url == at.String() && kept.pace == pace {
		return kept.Client
	}
	if ok {
		kept.Close()
	}
	if c.byService == nil {
		c.byService = map[uint32]keptClient{}
	}
	kept = keptClient{codehost.NewClient(codehost.ClientOptions{
		Dial: c.Guard.Dial, Pace: pace, CheckAddress: func(address string) error {
			_, err := parseURL(address)
			return err
		},
	}), at.String(), pace}
	c.byService[service] = kept
	return kept.Client
}

// Close ends the connections of all.
func (c *Clients) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, kept := range c.byService {
		kept.Close()
	}
	c.byService = nil
}
